"""vLLM beside llama.cpp's server on the same prompts: how fast each reads, judges and writes.

Claims are judged by `choice` on their documents, which several prompts share and each engine may
take from its prefix cache; then each writes replies, several requests in flight. vLLM computes with
the registered weights, llama.cpp with the quantised file that they were unpacked from, or another.
"""

import asyncio
import secrets
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import common
import llama_process
import typer
from judging import Arm, Case, judge, sample_cases

from pipelines import prompts
from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.evidence.judgement import Judgement
from pipelines.experiment.options import EndpointOptions, source_of
from pipelines.metrics.proportion import proportion
from pipelines.report.table import shown
from serving import cores
from serving.cache import CompletionCache
from serving.calls import Sampling, Usage
from serving.connect import Source
from serving.errors import ServingError

VLLM, LLAMA = "vLLM", "llama.cpp"
HOW = (
    "name a GGUF file of the same model and a Python that has llama.cpp's server (pip install "
    "xllamacpp), --gguf FILE --xllamacpp PYTHON; or a server that runs, --llama URL"
)


@dataclass(frozen=True)
class Work:
    """What each engine is given: cases to judge, and replies to write of so many tokens at most."""

    cases: Sequence[Case]
    replies: int
    tokens: int


@dataclass(frozen=True)
class Measurement:
    """One engine in one round: seconds and tokens of judging and of writing, and the judgements."""

    judging_s: float
    judging: Usage
    judgements: tuple[Judgement, ...]
    writing_s: float
    writing: Usage

    @property
    def speeds(self) -> tuple[float, float, float]:
        """Prompt tokens/s with those from the prefix cache, judgements/s, written tokens/s."""
        return (
            self.judging.prompt_tokens / self.judging_s,
            len(self.judgements) / self.judging_s,
            self.writing.completion_tokens / self.writing_s,
        )


Round = dict[str, Measurement]


@flat
def main(
    *,
    models: EndpointOptions,
    gguf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What llama.cpp is to serve.")
    ] = None,
    xllamacpp: Annotated[
        Path | None,
        typer.Option(
            metavar="PYTHON",
            help="A Python interpreter that has xllamacpp, as in a virtual environment of its own.",
        ),
    ] = None,
    llama: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A llama.cpp server that is already there, in place of --gguf and --xllamacpp.",
        ),
    ] = None,
    slots: Annotated[
        int, typer.Option(min=1, help="Requests that llama.cpp computes together.")
    ] = 4,
    rounds: common.Rounds = 3,
    claims: Annotated[
        int, typer.Option(min=1, help="Claims, each with the 4 or 5 documents of its sample.")
    ] = 8,
    replies: Annotated[int, typer.Option(min=1, help="Replies to write, all in flight.")] = 8,
    tokens: Annotated[int, typer.Option(min=1, help="Length of a reply at most.")] = 64,
) -> None:
    """Time the same requests by both engines in turn.

    Prints Markdown: machine and engines, every round, the ratios, and whether labels agree.

    Example:
        .venv/bin/python scripts/bench/engines.py --gguf q4.gguf --xllamacpp llama/bin/python
    """
    if (llama is None) == (gguf is None or xllamacpp is None):
        raise InputError(HOW)
    source = source_of(models, "judge")
    with ExitStack() as stack:
        if gguf is not None and xllamacpp is not None:
            if not gguf.is_file():
                raise InputError(f"there is no file {gguf}; {HOW}")
            try:
                server = llama_process.started(
                    *(xllamacpp, gguf, source.model or source.profiled),
                    slots=slots,
                    threads=len(cores.physical_cores()),
                    openmp=cores.threads("auto"),  # as vLLM's server has it
                )
                llama = stack.enter_context(server)
            except llama_process.LlamaError as error:
                raise InputError(str(error)) from error
        assert llama is not None
        other = replace(source, endpoints=(llama,), model=None)
        work = Work(sample_cases(claims), replies, tokens)
        asyncio.run(measure(source, other, slots, rounds, work))


async def measure(source: Source, other: Source, slots: int, rounds: int, work: Work) -> None:
    """Measure both and print the tables."""
    cases = work.cases
    first = [Case(cases[0].claims[:1], cases[0].documents[:1])]
    claims = sum(len(case.claims) for case in cases)
    pairs = sum(len(case.claims) * len(case.documents) for case in cases)
    found: list[Round] = [{} for _ in range(rounds)]
    async with common.served(source) as vllm, common.served(other) as llama:
        # More would wait in its queue.
        engines = {VLLM: vllm, LLAMA: replace(llama, concurrency=slots)}
        for engine in engines.values():
            await both(engine, Work(first, 1, 2))  # a first request pays for what later ones find
        for number, name in common.turns(engines, rounds):
            one = await both(engines[name], work)
            found[number - 1][name] = one
            common.tell(number, name, one.judging_s + one.writing_s)

    print(
        f"{claims} claims with the documents of their samples, {pairs} pairs, one label each; then "
        f"{work.replies} replies of up to {work.tokens} tokens. Most requests in flight: "
        f"{VLLM} {vllm.concurrency}, {LLAMA} {slots}.\n"
    )
    for name, engine in engines.items():
        print(f"{name}:\n\n{common.machine(engine)}\n")
    print(rounds_table(found), end="\n\n")
    print(ratio_table(found), end="\n\n")
    print(agreement_table(found))


async def both(server: common.Server, work: Work) -> Measurement:
    """Judge, then write; no request finds what an earlier round left."""
    arm = Arm("choice", prompts.load("evidence/relation", {"document", "claim"}))
    judged = await judge(server, work.cases, arm)
    seconds, usage = await write(server, work)
    return Measurement(judged.seconds, judged.usage, judged.judgements, seconds, usage)


async def write(server: common.Server, work: Work) -> tuple[float, Usage]:
    """Have the replies written, each about a claim and a document; seconds and tokens."""
    salt = f"Batch {secrets.randbelow(10**12):012}."
    texts = [
        f"{salt}\n\n{document.as_read()}\n\nWhat does this text say of the following, and why?\n"
        f"{claim}"
        for case in work.cases
        for claim in case.claims
        for document in case.documents
    ]
    with (
        TemporaryDirectory() as folder,
        CompletionCache(Path(folder) / "completions.sqlite") as cache,
    ):
        client = server.client(cache)
        asked = [[{"role": "user", "content": text}] for text in texts[: work.replies]]
        start = time.perf_counter()
        await asyncio.gather(*(client.chat(each, Sampling(work.tokens)) for each in asked))
        seconds = time.perf_counter() - start
        await client.close()
    if client.usage.retries:
        raise ServingError("the server failed during a measurement; start the benchmark again")
    return seconds, client.usage


def rounds_table(rounds: Sequence[Round]) -> str:
    """One row per round and engine: seconds and speeds."""
    heading = (
        *("round", "engine", "judging, s", "prompt tokens/s", "of them cached", "judgements/s"),
        *("writing, s", "written tokens/s"),
    )
    rows = []
    for number, measured in enumerate(rounds, start=1):
        for name in (VLLM, LLAMA):
            one = measured[name]
            prompt, judgements, written = one.speeds
            read, cached = one.judging.prompt_tokens, one.judging.cached_prefix_tokens
            share = f"{cached / read:.0%}" if read else "–"
            judging = (f"{one.judging_s:.1f}", f"{prompt:.0f}", share, f"{judgements:.2f}")
            rows.append((str(number), name, *judging, f"{one.writing_s:.1f}", f"{written:.1f}"))
    return common.markdown(heading, rows)


def ratio_table(rounds: Sequence[Round]) -> str:
    """How many times as fast llama.cpp is, within each round."""
    rows = []
    for place, what in enumerate(("prompt tokens/s", "judgements/s", "written tokens/s")):
        ratios = [one[LLAMA].speeds[place] / one[VLLM].speeds[place] for one in rounds]
        rows.append((what, *(f"{f(ratios):.2f}" for f in (min, median, max))))
    return common.markdown((f"speed, {LLAMA} / {VLLM}", "min", "median", "max"), rows)


def agreement_table(rounds: Sequence[Round]) -> str:
    """How many pairs got the same label from both."""
    rows = []
    for number, measured in enumerate(rounds, start=1):
        by_vllm, by_llama = (measured[name].judgements for name in (VLLM, LLAMA))
        same = sum(a.relation is b.relation for a, b in zip(by_vllm, by_llama, strict=True))
        share = shown(proportion(same, len(by_vllm)))
        rows.append((str(number), str(len(by_vllm)), str(same), share))
    return common.markdown(("round", "pairs", "same label", "share [95 % interval]"), rows)


if __name__ == "__main__":
    common.run(main)
