"""What the benchmarks share: a server, one timed arm, rounds, and tables ready to paste."""

import asyncio
import os
import re
import secrets
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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
from serving.connect import DEFAULT_CONCURRENCY, RoleModel, Source, backend, resolve
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.home import default_home
from serving.offline import go_offline

Rounds = Annotated[int, typer.Option(min=1, help="How often each arm is measured, in turn.")]


@dataclass(frozen=True)
class Case:
    """Claims that are each judged against each document."""

    claims: tuple[str, ...]
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class Measured:
    """One arm in one round.

    Attributes:
        seconds: From the first request to the last reply.
        usage: Calls and tokens.
        judgements: In the order of the cases.
    """

    seconds: float
    usage: Usage
    judgements: tuple[Judgement, ...]


Arm = Callable[[Sequence[Case]], Awaitable[Measured]]
Round = dict[str, Measured]


@dataclass(frozen=True)
class Server:
    """A model that is being served.

    Attributes:
        source: As the options named it.
        resolved: Identity and tokenizer.
        endpoints: Where it answers.
        concurrency: Requests in flight that a run would allow.
        load: Load of this machine, in the last minute before the start, in busy cores.
    """

    source: Source
    resolved: RoleModel
    endpoints: tuple[Endpoint, ...]
    concurrency: int
    load: float

    async def judge(
        self, cases: Sequence[Case], mode: Mode, prompt: Prompt, concurrency: int | None = None
    ) -> Measured:
        """Judge all cases with nothing left over from any request before.

        The cache of completions is a new file. A random line at the head of the prompt keeps the
        server from finding a prefix that an earlier arm or round has read; within the arm all
        requests have the same line, so they share what they share in a run.

        Raises:
            ServingError: The server failed in between, so the time means nothing.
        """
        # Digits, because tokenizers make equally many tokens of equally many digits.
        salt = f"Batch {secrets.randbelow(10**12):012}."
        salted = Prompt(prompt.name, f"{salt}\n\n{prompt.source}")
        places = concurrency or self.concurrency
        with (
            TemporaryDirectory() as folder,
            CompletionCache(Path(folder) / "completions.sqlite") as cache,
        ):
            found = self.resolved
            line = RunningEndpoints(self.endpoints)
            client = Client(found.identity, found.tokenizer, cache, line, concurrency=places)
            labeller = LlmLabeller(client, mode, salted)
            start = time.perf_counter()
            labelled = await asyncio.gather(
                *(labeller(case.claims, case.documents) for case in cases)
            )
            seconds = time.perf_counter() - start
            await client.close()
        if client.usage.retries:
            raise ServingError("the server failed during a measurement; start the benchmark again")
        judgements = tuple(judgement for each in labelled for judgement in each.judgements)
        return Measured(seconds, client.usage, judgements)


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


async def interleaved(arms: dict[str, Arm], cases: Sequence[Case], rounds: int) -> list[Round]:
    """Measure the arms in turn; every other round the other way round, against slow drift.

    Before that each arm judges one claim untimed: a first request pays for what later ones find.
    """
    first = Case(cases[0].claims[:1], cases[0].documents[:1])
    for arm in arms.values():
        await arm([first])
    measured = []
    for number in range(1, rounds + 1):
        order = list(arms) if number % 2 else list(arms)[::-1]
        found = {}
        for name in order:
            found[name] = await arms[name](cases)
            STDERR.print(f"[dim]round {number}: {escape(name)}, {found[name].seconds:.1f} s[/dim]")
        measured.append({name: found[name] for name in arms})
    return measured


def sample_cases(claims: int) -> list[Case]:
    """So many claims with the documents of their samples.

    The claims are the sentences of the bundled samples' responses.

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


def machine(server: Server) -> str:
    """What the numbers were measured on, as a Markdown list."""
    here = hardware()
    identity = server.resolved.identity
    own = f"profile {server.source.profile.name}"
    where = f"a server that was already there, {server.endpoints[0].url}"
    return "\n".join(
        (
            f"- machine: {here['processor']}, {here['cores']} cores, {here['memory_gib']} GiB, "
            f"{', '.join(here['gpus']) or 'no GPU'}; load {server.load:.1f} before the start",
            f"- engine: {identity.engine}; {where if server.source.endpoints else own}",
            f"- model: {identity.name}, digest {identity.digest}",
            f"- date: {time.strftime('%Y-%m-%d', time.gmtime())}",
        )
    )


def rounds_table(rounds: Sequence[Round]) -> str:
    """One row per round and arm: seconds, calls, tokens."""
    heading = ("round", "arm", "seconds", "calls", "tokens read", "of them cached", "written")
    return markdown(
        heading,
        [
            (
                str(number),
                name,
                f"{arm.seconds:.1f}",
                f"{arm.usage.calls:,}",
                f"{arm.usage.prompt_tokens:,}",
                _share(arm.usage),
                f"{arm.usage.completion_tokens:,}",
            )
            for number, round_ in enumerate(rounds, start=1)
            for name, arm in round_.items()
        ],
    )


def ratio_table(rounds: Sequence[Round], slow: str, fast: str) -> str:
    """How many times as long the slow arm took, within each round."""
    ratios = [round_[slow].seconds / round_[fast].seconds for round_ in rounds]
    row = (f"{slow} / {fast}", *(f"{f(ratios):.1f}" for f in (min, median, max)))
    return markdown(("time", "min", "median", "max"), [row])


def markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = (heading, ["---"] * len(heading), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def released_pairs() -> Path:
    """The sentence pairs among the released data sets.

    Raises:
        InputError: The environment does not say where these are.
    """
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


def _share(usage: Usage) -> str:
    if not usage.prompt_tokens:
        return "–"
    return f"{usage.cached_prefix_tokens / usage.prompt_tokens:.0%}"
