"""What the benchmarks share: a server, one timed arm, rounds, and tables ready to paste."""

import asyncio
import os
import re
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import psutil
import typer
from rich.markup import escape
from typer.exceptions import Abort, TyperException

from pipelines.cli.progress import STDERR
from pipelines.data.jsonl import SAMPLES, read
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.judgement import Judgement
from pipelines.evidence.llm import LlmLabeller, Mode
from pipelines.prompts import Prompt
from pipelines.runs.provenance import hardware
from serving.backend import RunningEndpoints
from serving.cache import CompletionCache
from serving.calls import Usage
from serving.client import Client
from serving.connect import DEFAULT_CONCURRENCY, Resolved, Source, backend, resolve
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.home import default_home
from serving.offline import go_offline

Rounds = Annotated[int, typer.Option(min=1, help="How often each arm is measured, in turn.")]
Claims = Annotated[
    int, typer.Option(min=1, help="Claims, each with the 4 or 5 documents of its sample.")
]
Pairs = Annotated[
    Path | None,
    typer.Option(
        help="Labelled pairs to take texts from; nli/train.jsonl.gz in the folder that "
        "CONTESTED_DATA names, if none.",
        show_default=False,
    ),
]


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


@dataclass(frozen=True)
class Server:
    """A model that is being served, as the options named it, and as it was found.

    Attributes:
        concurrency: Requests in flight that a run would allow.
        load: Load of this machine, in the last minute before the start, in busy cores.
    """

    source: Source
    resolved: Resolved
    endpoints: tuple[Endpoint, ...]
    concurrency: int
    load: float

    async def judge(self, cases: Sequence[Case], arm: Arm) -> Measurement:
        """Judge all cases with nothing left over from any request before.

        The cache of completions is a new file. A random line at the head of the prompt keeps the
        server from finding a prefix that an earlier arm or round has read; within the arm all
        requests have the same line, so they share what they share in a run.

        Raises:
            ServingError: The server failed in between, so the time means nothing.
        """
        # Digits, because tokenizers make equally many tokens of equally many digits.
        salt = f"Batch {secrets.randbelow(10**12):012}."
        salted = Prompt(arm.prompt.name, f"{salt}\n\n{arm.prompt.source}")
        with (
            TemporaryDirectory() as folder,
            CompletionCache(Path(folder) / "completions.sqlite") as cache,
        ):
            client = Client(
                self.resolved.identity,
                self.resolved.tokenizer,
                cache,
                RunningEndpoints(self.endpoints),
                concurrency=arm.concurrency or self.concurrency,
            )
            labeller = LlmLabeller(client, arm.mode, salted)
            start = time.perf_counter()
            labelled = await asyncio.gather(
                *(labeller(case.claims, case.documents) for case in cases)
            )
            seconds = time.perf_counter() - start
            await client.close()
        if client.usage.retries:
            raise ServingError("the server failed during a measurement; start the benchmark again")
        judgements = tuple(judgement for each in labelled for judgement in each.judgements)
        return Measurement(seconds, client.usage, judgements)

    async def compare(
        self, arms: Mapping[str, Arm], cases: Sequence[Case], rounds: int
    ) -> list[Round]:
        """Measure the arms in turn.

        Before that each arm judges one claim untimed: a first request pays for what later ones
        find.
        """
        for arm in arms.values():
            await self.judge([Case(cases[0].claims[:1], cases[0].documents[:1])], arm)
        found: list[Round] = [{} for _ in range(rounds)]
        for number, name in turns(arms, rounds):
            found[number - 1][name] = await self.judge(cases, arms[name])
            tell(number, name, found[number - 1][name].seconds)
        return [{name: measured[name] for name in arms} for measured in found]


@asynccontextmanager
async def served(source: Source) -> AsyncIterator[Server]:
    """A server for the source, started where none is there, stopped at the end.

    Raises:
        ServingError: There is no such model, or no server can be had.
    """
    load = psutil.getloadavg()[0]
    resolved = await resolve(source)
    with STDERR.status("") as status:
        options = source.options(resolved.identity.name)
        running = backend(resolved, options, default_home() / "logs", status.update)
        try:
            endpoints = tuple(await running.endpoints())
            places = (options.max_num_seqs or DEFAULT_CONCURRENCY) * len(endpoints)
            yield Server(source, resolved, endpoints, places, load)
        finally:
            await running.close()


def turns(arms: Iterable[str], rounds: int) -> Iterator[tuple[int, str]]:
    """(round from 1, arm); every other round the other way round, against slow drift."""
    for number in range(1, rounds + 1):
        for name in list(arms) if number % 2 else list(arms)[::-1]:
            yield number, name


def tell(number: int, name: str, seconds: float) -> None:
    """Say what has just been measured."""
    STDERR.print(f"[dim]round {number}: {escape(name)}, {seconds:.1f} s[/dim]")


def sample_cases(claims: int) -> list[Case]:
    """So many claims, sentences of the bundled responses, with the documents of their samples.

    Raises:
        InputError: The samples have fewer.
    """
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


def machine_line(load: float) -> str:
    """This machine and its load before the start, as a line of a Markdown list."""
    here = hardware()
    return (
        f"- machine: {here['processor']}, {here['cores']} cores, {here['memory_gib']} GiB, "
        f"{', '.join(here['gpus']) or 'no GPU'}; load {load:.1f} before the start"
    )


def date_line() -> str:
    """Today (UTC), as a line of a Markdown list."""
    return f"- date: {time.strftime('%Y-%m-%d', time.gmtime())}"


def machine(server: Server) -> str:
    """What the numbers were measured on, as a Markdown list."""
    identity = server.resolved.identity
    where = f"profile {server.source.profile.name}"
    if server.source.endpoints:
        where = f"a server that was already there, {server.endpoints[0].url}"
    return (
        f"{machine_line(server.load)}\n"
        f"- engine: {identity.engine}; {where}\n"
        f"- model: {identity.name}, digest {identity.digest}\n"
        f"{date_line()}"
    )


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
    return markdown(heading, rows)


def ratio_table(rounds: Sequence[Round], slow: str, fast: str) -> str:
    """How many times as long the slow arm took, within each round."""
    ratios = [measured[slow].seconds / measured[fast].seconds for measured in rounds]
    return markdown(("time", "min", "median", "max"), [(f"{slow} / {fast}", *spread(ratios))])


def spread(ratios: Sequence[float]) -> tuple[str, ...]:
    """Least, median and largest."""
    return tuple(f"{f(ratios):.1f}" for f in (min, median, max))


def markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = (heading, ["---"] * len(heading), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def released_pairs() -> Path:
    """The sentence pairs in CONTESTED_DATA; InputError where the environment does not have it."""
    folder = os.environ.get("CONTESTED_DATA")
    if not folder:
        raise InputError(
            "no pairs are named; give --data FILE, or in CONTESTED_DATA the folder with "
            "nli/train.jsonl.gz"
        )
    return Path(folder) / "nli" / "train.jsonl.gz"


def run(command: Callable[..., Any]) -> None:
    """Run a script's command; a mistake that the user can mend is one line and exit code 2."""
    go_offline()
    app = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
    )
    app.command()(command)
    try:
        app(standalone_mode=False)
    except (InputError, ServingError) as error:
        STDERR.print(escape(str(error)), soft_wrap=True)
        sys.exit(2)
    except TyperException as error:
        STDERR.print(escape(f"{error.format_message()} (see --help)"), soft_wrap=True)
        sys.exit(2)
    except (KeyboardInterrupt, Abort):
        sys.exit(130)
