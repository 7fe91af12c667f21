"""A debate by transformers, one reply after the other, and by our server with all in flight.

Both hold the very same debate, that of MADAM-RAG's `--as-released`, with the
same weights on the same machine; only who writes the replies differs. Then batching, the prefix
cache and the early stop are taken away from ours, one at a time.
"""

import asyncio
import gc
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Annotated, Any, cast

import common
import psutil
import typer
from rich.markup import escape

from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR
from pipelines.errors import InputError
from pipelines.experiment.options import EndpointOptions, source_of
from pipelines.madam_rag.datasets import SAMPLES, read
from pipelines.madam_rag.debate import Panel, debate, panel
from pipelines.madam_rag.question import Question
from pipelines.madam_rag.settings import DebateOptions, DebateSettings
from pipelines.madam_rag.transcript import Debate
from pipelines.prompts import Prompt
from serving.cache import CompletionCache
from serving.calls import Completion, Sampling, Usage
from serving.client import Client
from serving.connect import Source, resolve
from serving.errors import ServingError
from serving.templates import TEMPLATE_ARGUMENTS
from serving.tokens import Message

PEER, OURS = "transformers", "ours"
NO_BATCHING, NO_PREFIX, NO_STOP = "no batching", "no prefix cache", "no early stop"
AIM = 5

EVERY_REQUEST_ITS_OWN = (
    'Batch {{ "%06d%06d" | format(range(100000) | random, range(100000) | random) }}.'
)


@dataclass(frozen=True)
class Measurement:
    """All debates by one arm in one round of measuring, from the first request to the last."""

    seconds: float
    usage: Usage
    debates: tuple[Debate, ...]

    @property
    def per_token(self) -> float:
        """Seconds per token written."""
        return self.seconds / self.usage.completion_tokens


Round = Mapping[str, Measurement]
"""What was measured by each arm."""


@dataclass(frozen=True)
class Arm:
    """One way of holding the debates at our server; its prompts begin with a line of its own."""

    settings: DebateSettings
    line: str
    concurrency: int | None = None  # None for as many as the profile allows


@flat
def main(
    *,
    models: EndpointOptions,
    rounds: common.Rounds = 1,
    questions: Annotated[int, typer.Option(min=1, help="So many of the first questions.")] = 6,
    tokens: Annotated[int, typer.Option(min=1, help="Most tokens of a reply.")] = 128,
    data: Annotated[
        Path | None,
        typer.Option(help="Questions in the format of RAMDocs.", show_default="bundled samples"),
    ] = None,
    peer: Annotated[
        bool, typer.Option(help="Whether transformers is measured too, which takes longest.")
    ] = True,
) -> None:
    """Time the same debates by transformers, by ours, and by ours without each of three savings.

    Prints Markdown: the machine, every round, and the ratios.

    Example:
        .venv/bin/python scripts/bench/madam.py --profile cpu-small
    """
    path = data or SAMPLES
    found = read("ramdocs", path).questions
    if questions > len(found):
        raise InputError(f"--questions {questions}: {path} has {len(found)}; ask for less")
    source = source_of(models, "generator")
    released = DebateOptions(as_released=True).debate
    settings = released.model_copy(update={"agent_tokens": tokens, "conclusion_tokens": tokens})
    asked = found[:questions]
    measured, facts = asyncio.run(measure(source, asked, settings, rounds, peer=peer))
    documents = sum(len(each.documents) for each in asked)
    print(
        f"{questions} questions of {path.name} with {documents} documents; up to {settings.rounds} "
        f"rounds, replies of up to {tokens} tokens.\n"
    )
    print(facts, rounds_table(measured), ratio_table(measured), sep="\n\n")
    if peer:
        print(f"\nThe aim is at least {AIM} times as fast as {PEER}.")


async def measure(
    source: Source,
    questions: Sequence[Question],
    settings: DebateSettings,
    rounds: int,
    *,
    peer: bool,
) -> tuple[list[Round], str]:
    """Measure transformers alone on the machine, then our arms in turn; say on what machine."""
    load = psutil.getloadavg()[0]
    lines = [batch_line() for _ in range(rounds)]
    by_peer = await by_transformers(source, questions, settings, lines) if peer else []
    measured: list[Round] = []
    async with common.served(source) as started:
        server = replace(started, load=load)
        warm_up = settings.model_copy(
            update={"rounds": 1, "agent_tokens": 8, "conclusion_tokens": 8}
        )
        await by_server(server, questions[:1], Arm(warm_up, batch_line()))
        for number, line in enumerate(lines, start=1):
            arms = {
                # The line that transformers had: both are given the same prompts.
                OURS: Arm(settings, line),
                NO_BATCHING: Arm(settings, batch_line(), concurrency=1),
                NO_PREFIX: Arm(settings, EVERY_REQUEST_ITS_OWN),
                NO_STOP: Arm(
                    settings.model_copy(update={"agreement": "never", "closing": "last"}),
                    batch_line(),
                ),
            }
            found = {}
            for name in list(arms) if number % 2 else list(arms)[::-1]:
                found[name] = await by_server(server, questions, arms[name])
                tell(number, name, found[name])
            first = {PEER: by_peer[number - 1]} if peer else {}
            measured.append(first | {name: found[name] for name in arms})
    machine = common.machine(server)
    return measured, f"{machine}\n- {transformers_versions()}" if peer else machine


async def by_server(server: common.Server, questions: Sequence[Question], arm: Arm) -> Measurement:
    """Hold all debates at once, with nothing left over from any request before.

    Raises:
        ServingError: The server failed in between, so the time means nothing.
    """
    with (
        TemporaryDirectory() as folder,
        CompletionCache(Path(folder) / "completions.sqlite") as cache,
    ):
        client = server.client(cache, arm.concurrency)
        members = beginning_with(arm.line, panel(client))
        start = time.perf_counter()
        debates = await asyncio.gather(*(hold(each, members, arm.settings) for each in questions))
        seconds = time.perf_counter() - start
        await client.close()
    if client.usage.retries:
        raise ServingError("the server failed during a measurement; start the benchmark again")
    return Measurement(seconds, client.usage, tuple(debates))


async def by_transformers(
    source: Source, questions: Sequence[Question], settings: DebateSettings, lines: Sequence[str]
) -> list[Measurement]:
    """Hold the debates question by question, reply by reply; once per line.

    Raises:
        InputError: The model's folder is not on this machine.
    """
    folder = (await resolve(source)).folder
    if folder is None:
        raise InputError(
            "the folder of the model at --endpoint is not on this machine, so transformers cannot "
            "load it; leave transformers out with --no-peer"
        )
    writer = OneByOne(folder.path)
    await writer.chat([{"role": "user", "content": "Say something."}], Sampling(max_tokens=8))
    measured = []
    for number, line in enumerate(lines, start=1):
        writer.usage = Usage()
        members = beginning_with(line, panel(cast(Client, writer)))
        start = time.perf_counter()
        debates = [await hold(each, members, settings) for each in questions]
        measured.append(Measurement(time.perf_counter() - start, writer.usage, tuple(debates)))
        tell(number, PEER, measured[-1])
    del writer, members
    gc.collect()  # the server is to have the memory
    return measured


class OneByOne:
    """What a debate asks of a `Client`, by transformers in bf16: no batch, and no cache."""

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.usage = Usage()
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        loaded: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
        self._model = loaded.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    async def chat(
        self, messages: Sequence[Message], sampling: Sampling, *, affinity: str = ""
    ) -> Completion:
        """Write a reply, greedily. Nothing is awaited, so each call ends before the next begins."""
        prompt = self._tokenizer.apply_chat_template(
            list(messages),
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
            **TEMPLATE_ARGUMENTS,
        ).to(self._model.device)
        written = self._model.generate(
            **prompt,
            max_new_tokens=sampling.max_tokens,
            do_sample=False,
            pad_token_id=self._tokenizer.eos_token_id,
        )[0]
        read_tokens = prompt["input_ids"].shape[1]
        reply = written[read_tokens:]
        self.usage.calls += 1
        self.usage.prompt_tokens += read_tokens
        self.usage.completion_tokens += len(reply)
        text = self._tokenizer.decode(reply, skip_special_tokens=True)
        why = "stop" if len(reply) < sampling.max_tokens else "length"
        return Completion(text, why, None, read_tokens, len(reply))


async def hold(question: Question, members: Panel, settings: DebateSettings) -> Debate:
    """The debate of one question."""
    documents = [each.document for each in question.documents]
    return await debate(question.question, documents, members, settings)


def beginning_with(line: str, members: Panel) -> Panel:
    """The same panel with a line at the head of its prompts; all else stays as it is."""

    def begun(prompt: Prompt) -> Prompt:
        return Prompt(prompt.name, f"{line}\n\n{prompt.source}")

    return replace(members, prompts={name: begun(each) for name, each in members.prompts.items()})


def batch_line() -> str:
    """A line that no earlier prompt begins with."""
    # Digits, because tokenizers make equally many tokens of equally many digits.
    return f"Batch {secrets.randbelow(10**12):012}."


def transformers_versions() -> str:
    """What transformers ran with."""
    import torch

    where = "a GPU" if torch.cuda.is_available() else f"{torch.get_num_threads()} threads"
    return (
        f"transformers: {version('transformers')} with torch {version('torch')}, bfloat16, {where}"
    )


def tell(number: int, name: str, held: Measurement) -> None:
    """Say what has just been measured."""
    STDERR.print(f"[dim]round {number}: {escape(name)}, {held.seconds:.1f} s[/dim]")


def rounds_table(measured: Sequence[Round]) -> str:
    """One row per round of measuring and arm: seconds, calls, tokens, rounds of debate."""
    heading = (
        "round|arm|seconds|calls|saved|tokens read|of them cached|written|ms per written|"
        "rounds of a debate|agreed"
    )
    return common.markdown(
        heading.split("|"),
        [
            (
                str(number),
                name,
                f"{held.seconds:.1f}",
                f"{held.usage.calls:,}",
                f"{held.usage.saved_calls:,}",
                f"{held.usage.prompt_tokens:,}",
                f"{held.usage.cached_prefix_tokens / held.usage.prompt_tokens:.0%}",
                f"{held.usage.completion_tokens:,}",
                f"{1000 * held.per_token:.1f}",
                f"{mean(len(each.rounds) for each in held.debates):.1f}",
                f"{sum(each.agreed for each in held.debates)}",
            )
            for number, arms in enumerate(measured, start=1)
            for name, held in arms.items()
        ],
    )


def ratio_table(measured: Sequence[Round]) -> str:
    """How many times as long as ours each other arm took, in all and per token written."""
    rows = []
    for name in (name for name in measured[0] if name != OURS):
        times = [arms[name].seconds / arms[OURS].seconds for arms in measured]
        tokens = [arms[name].per_token / arms[OURS].per_token for arms in measured]
        shown = (min(times), median(times), max(times), median(tokens))
        rows.append((f"{name} / {OURS}", *(f"{each:.1f}" for each in shown)))
    return common.markdown(("time", "min", "median", "max", "per token written, median"), rows)


if __name__ == "__main__":
    common.run(main)
