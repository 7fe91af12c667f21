"""What three choices are worth where claims are judged by a served model.

batching       one request at a time, or all in flight: for labels by choice, which are nearly all
               reading, and for JSON replies, which are mostly writing
prompt-order   document before claim, or claim before document: with the document first, the server
               reads it once and takes it from its prefix cache for every further claim
evidence-mode  labels by choice, one token with the probability of every label, or JSON replies that
               copy the passage that decides and give a reason: do labels agree?
"""

import asyncio
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import common
import typer

from pipelines import prompts
from pipelines.cli.flat import flat
from pipelines.data.jsonl import SAMPLES, read
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.llm import LlmLabeller, Mode
from pipelines.experiment.options import EndpointOptions, source_of
from pipelines.metrics.proportion import proportion
from pipelines.prompts import Prompt
from pipelines.report.table import shown
from serving.cache import CompletionCache
from serving.calls import Usage
from serving.connect import Source
from serving.errors import ServingError
from serving.tokens import ChatTokenizer

Choice = Literal["batching", "prompt-order", "evidence-mode"]
CLAIMS: dict[Choice, int] = {"batching": 8, "prompt-order": 32, "evidence-mode": 16}


@dataclass(frozen=True)
class Case:
    """Claims that are each judged against each document."""

    claims: tuple[str, ...]
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class Arm:
    """One way of judging; in flight are as many requests as a run would allow, or fewer."""

    mode: Mode
    prompt: Prompt
    concurrency: int | None = None


@dataclass(frozen=True)
class Measurement:
    """One arm in one round: the time, and its judgements in the order of the cases."""

    seconds: float
    usage: Usage
    judgements: tuple[Judgement, ...]


Round = dict[str, Measurement]


@flat
def main(
    *,
    choice: Annotated[Choice, typer.Argument(help="What is compared.")],
    models: EndpointOptions,
    rounds: common.Rounds = 3,
    claims: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Claims, each with the 4 or 5 documents of its sample, or on one document for "
            "prompt-order.",
            show_default="8, 32 or 16",
        ),
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Length of the one document.", show_default="1000")
    ] = None,
) -> None:
    """Time the same requests in two ways.

    Prints Markdown: the machine, every round, the ratio, and whether labels of both modes agree.

    Example:
        .venv/bin/python scripts/bench/judging.py batching --profile cpu-small --rounds 3
    """
    if tokens and choice != "prompt-order":
        raise InputError(f"--tokens has no effect with {choice}; leave it out")
    count = claims or CLAIMS[choice]
    asyncio.run(measure(choice, source_of(models, "judge"), rounds, count, tokens or 1000))


async def measure(choice: Choice, source: Source, rounds: int, claims: int, tokens: int) -> None:
    """Measure both ways and print the tables."""
    cases = sample_cases(claims)
    pairs = sum(len(case.claims) * len(case.documents) for case in cases)
    about = f"{claims} claims with the documents of their samples, {pairs} pairs"
    label = Arm("choice", prompts.load("evidence/relation", {"document", "claim"}))
    reply = Arm("json", prompts.load("evidence/relation_json", {"document", "claim"}))
    # What is timed -> its two ways, the slower one first.
    kinds: dict[str, dict[str, Arm]]
    async with common.served(source) as server:
        match choice:
            case "batching":
                about += f"; up to {server.concurrency} requests in flight"
                kinds = {
                    kind: {"one at a time": replace(arm, concurrency=1), "all in flight": arm}
                    for kind, arm in (("Labels by choice", label), ("JSON replies", reply))
                }
            case "prompt-order":
                document, length = one_document(tokens, server.resolved.tokenizer)
                about = f"{claims} claims on one document of {length} tokens, one label each"
                cases = [Case(tuple(claim for case in cases for claim in case.claims), (document,))]
                swap = replace(label, prompt=swapped(label.prompt))
                kinds = {"": {"claim first": swap, "document first": label}}
            case "evidence-mode":
                kinds = {"": {"json": reply, "choice": label}}
        measured = {
            kind: await compare(server, arms, cases, rounds) for kind, arms in kinds.items()
        }

    print(f"{about}.\n")
    print(common.machine(server))
    for kind, found in measured.items():
        print(f"\n{kind}:\n" if kind else "")
        print(rounds_table(found), end="\n\n")
        print(ratio_table(found, *kinds[kind]))
    if choice == "evidence-mode":
        print(f"\n{agreement_table(measured[''])}")


async def judge(server: common.Server, cases: Sequence[Case], arm: Arm) -> Measurement:
    """Judge all cases with nothing left over from any request before.

    The cache of completions is a new file. A random line at the head of the prompt keeps the
    server from finding a prefix that an earlier arm or round has read; within the arm all
    requests have the same line, so they share what they share in a run. Where the server failed in
    between, the time means nothing: that is a ServingError.
    """
    # Digits, because tokenizers make equally many tokens of equally many digits.
    salt = f"Batch {secrets.randbelow(10**12):012}."
    salted = Prompt(arm.prompt.name, f"{salt}\n\n{arm.prompt.source}")
    with (
        TemporaryDirectory() as folder,
        CompletionCache(Path(folder) / "completions.sqlite") as cache,
    ):
        client = server.client(cache, arm.concurrency)
        labeller = LlmLabeller(client, arm.mode, salted)
        start = time.perf_counter()
        labelled = await asyncio.gather(*(labeller(case.claims, case.documents) for case in cases))
        seconds = time.perf_counter() - start
        await client.close()
    if client.usage.retries:
        raise ServingError("the server failed during a measurement; start the benchmark again")
    judgements = tuple(judgement for each in labelled for judgement in each.judgements)
    return Measurement(seconds, client.usage, judgements)


async def compare(
    server: common.Server, arms: Mapping[str, Arm], cases: Sequence[Case], rounds: int
) -> list[Round]:
    """Measure the arms in turn.

    Before that each arm judges one claim untimed: a first request pays for what later ones
    find.
    """
    for arm in arms.values():
        await judge(server, [Case(cases[0].claims[:1], cases[0].documents[:1])], arm)
    found: list[Round] = [{} for _ in range(rounds)]
    for number, name in common.turns(arms, rounds):
        found[number - 1][name] = await judge(server, cases, arms[name])
        common.tell(number, name, found[number - 1][name].seconds)
    return [{name: measured[name] for name in arms} for measured in found]


def sample_cases(claims: int) -> list[Case]:
    """So many claims, sentences of the bundled responses, with the documents of their samples."""
    documents: dict[str, tuple[Document, ...]] = {}
    sentences: dict[str, list[str]] = {}
    for example in read(SAMPLES).examples:
        documents[example.group] = example.documents
        known = sentences.setdefault(example.group, [])
        known += [s for s in re.split(r"(?<=[.!?])\s+", example.response) if s not in known]
    if claims > (most := sum(map(len, sentences.values()))):
        raise InputError(f"--claims {claims}: the bundled samples make {most} claims; ask for less")
    cases = []
    for group, all_of_group in sentences.items():
        taken = tuple(all_of_group[:claims])
        claims -= len(taken)
        if taken:
            cases.append(Case(taken, documents[group]))
    return cases


def swapped(prompt: Prompt) -> Prompt:
    """The same prompt with document and claim in each other's place, and nothing else changed."""
    document, claim = '{{ document | fenced("DOCUMENT") }}', '{{ claim | fenced("CLAIM") }}'
    head, rest = prompt.source.split(document)
    between, tail = rest.split(claim)
    return Prompt("bench/claim_first", head + claim + between + document + tail)


def one_document(tokens: int, tokenizer: ChatTokenizer | None) -> tuple[Document, str]:
    """The samples' documents joined and cut to a length, and what that length is."""
    samples = {example.group: example.documents for example in read(SAMPLES).examples}
    whole = "\n\n".join(each.as_read() for documents in samples.values() for each in documents)
    if tokenizer is None:
        return Document(id="samples", text=whole[: 4 * tokens]), f"about {tokens:,}"
    document = Document(id="samples", text=tokenizer.cut(whole, tokens))
    return document, f"{len(tokenizer.encode(document.text)):,}"


def rounds_table(rounds: Sequence[Round]) -> str:
    """One row per round and arm: seconds, calls, tokens."""
    heading = ("round", "arm", "seconds", "calls", "tokens read", "of them cached", "written")
    rows = []
    for number, measured in enumerate(rounds, start=1):
        for name, arm in measured.items():
            read, cached = arm.usage.prompt_tokens, arm.usage.cached_prefix_tokens
            counts = (f"{read:,}", f"{cached / read:.0%}" if read else "–")
            written = f"{arm.usage.completion_tokens:,}"
            seconds = f"{arm.seconds:.1f}"
            rows.append((str(number), name, seconds, f"{arm.usage.calls:,}", *counts, written))
    return common.markdown(heading, rows)


def ratio_table(rounds: Sequence[Round], slow: str, fast: str) -> str:
    """How many times as long the slow arm took, within each round."""
    ratios = [measured[slow].seconds / measured[fast].seconds for measured in rounds]
    return common.markdown(
        ("time", "min", "median", "max"), [(f"{slow} / {fast}", *common.spread(ratios))]
    )


def agreement_table(rounds: list[Round]) -> str:
    """How many pairs got the same label both ways; unreadable replies agree with nothing."""
    rows = []
    for number, round_ in enumerate(rounds, start=1):
        by_choice = [judgement.relation for judgement in round_["choice"].judgements]
        by_json = [judgement.relation for judgement in round_["json"].judgements]
        same = sum(a is b for a, b in zip(by_choice, by_json, strict=True))
        unreadable = by_json.count(Relation.INVALID)
        share = shown(proportion(same, len(by_choice)))
        rows.append((str(number), str(len(by_choice)), str(same), share, str(unreadable)))
    heading = ("round", "pairs", "same label", "share [95 % interval]", "unreadable JSON")
    return common.markdown(heading, rows)


if __name__ == "__main__":
    common.run(main)
