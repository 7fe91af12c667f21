"""What the benchmarks share: a server, rounds in turn, and tables ready to paste."""

import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import psutil
import typer
from rich.markup import escape
from typer.exceptions import Abort, TyperException

from nli.errors import TaggerError
from pipelines.cli.progress import STDERR
from pipelines.errors import InputError
from pipelines.runs.provenance import hardware
from serving.backend import RunningEndpoints
from serving.cache import CompletionCache
from serving.client import Client
from serving.connect import DEFAULT_CONCURRENCY, RoleModel, Source, backend, resolve
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.home import default_home
from serving.offline import go_offline

Rounds = Annotated[int, typer.Option(min=1, help="How often each arm is measured, in turn.")]
Pairs = Annotated[
    Path | None,
    typer.Option(
        help="Labelled pairs to take texts from; nli/train.jsonl.gz in the folder that "
        "CONTESTED_DATA names, if none.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Server:
    """A model that is being served, as the options named it, and as it was found.

    Attributes:
        concurrency: Requests in flight that a run would allow.
        load: Load of this machine, in the last minute before the start, in busy cores.
    """

    source: Source
    resolved: RoleModel
    endpoints: tuple[Endpoint, ...]
    concurrency: int
    load: float

    def client(self, cache: CompletionCache, concurrency: int | None = None) -> Client:
        """What asks it, with so many requests in flight at most; else with `concurrency`."""
        return Client(
            self.resolved.identity,
            self.resolved.tokenizer,
            cache,
            RunningEndpoints(self.endpoints),
            concurrency=concurrency or self.concurrency,
        )


@asynccontextmanager
async def served(source: Source) -> AsyncIterator[Server]:
    """A server for the source, started where none is there, stopped at the end."""
    load = psutil.getloadavg()[0]
    resolved = await resolve(source)
    with STDERR.status("") as status:
        options = source.options(resolved.identity.name)
        running = backend(resolved, source, default_home() / "logs", status.update)
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
    except (InputError, ServingError, TaggerError) as error:
        STDERR.print(escape(str(error)), soft_wrap=True)
        sys.exit(2)
    except TyperException as error:
        STDERR.print(escape(f"{error.format_message()} (see --help)"), soft_wrap=True)
        sys.exit(2)
    except (KeyboardInterrupt, Abort):
        sys.exit(130)
