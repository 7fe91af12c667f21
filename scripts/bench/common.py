"""Shared by the benchmarks: interleaved rounds, other interpreters, and Markdown tables."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.exceptions import Abort, TyperException

from nli.errors import TaggerError
from pipelines.errors import InputError
from pipelines.report.progress import STDERR
from pipelines.runs.provenance import hardware
from serving.errors import ServingError
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


def turns(arms: Iterable[str], rounds: int) -> Iterator[tuple[int, str]]:
    """(round from 1, arm); every other round in reverse order, against slow drift."""
    for number in range(1, rounds + 1):
        for name in list(arms) if number % 2 else list(arms)[::-1]:
            yield number, name


def tell(number: int, name: str, seconds: float) -> None:
    """Report the latest measurement."""
    STDERR.print(f"[dim]round {number}: {escape(name)}, {seconds:.1f} s[/dim]")


class PeerError(Exception):
    """A library in another environment cannot be asked."""


@contextmanager
def peer(
    python: Path, script: str, library: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[int, Callable[[dict[str, Any]], Any]]]:
    """The id of a process that runs a script in an interpreter with a library, and how to ask it.

    It is sent lines of JSON, and answers each with a line of JSON. `environment` is added to ours.

    Raises:
        PeerError: The interpreter does not exist, or the process ended.
    """
    with tempfile.TemporaryFile() as errors:
        try:
            # -I: ignore this folder's modules and PYTHONPATH.
            process = Popen(
                [str(python), "-I", script],
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                text=True,
                env=os.environ | (environment or {}),
            )
        except OSError as error:
            raise PeerError(f"{python} cannot be run ({error.strerror})") from error

        def ask(task: dict[str, Any]) -> Any:
            assert process.stdout is not None
            try:
                print(json.dumps(task), file=process.stdin, flush=True)
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            if not line:
                errors.seek(0)
                said = errors.read().decode(errors="replace").split("\n")
                last = next((text for text in map(str.strip, said[::-1]) if text), "without a word")
                raise PeerError(f"{library}'s process ended: {last[:300]}")
            return json.loads(line)

        with process:
            try:
                yield process.pid, ask
            finally:
                process.kill()


def machine_line(load: float) -> str:
    """This machine and its load before the start, as a Markdown list item."""
    here = hardware()
    return (
        f"- machine: {here['processor']}, {here['cores']} cores, {here['memory_gib']} GiB, "
        f"{', '.join(here['gpus']) or 'no GPU'}; load {load:.1f} before the start"
    )


def date_line() -> str:
    """Today (UTC), as a Markdown list item."""
    return f"- date: {time.strftime('%Y-%m-%d', time.gmtime())}"


def spread(ratios: Sequence[float]) -> tuple[str, ...]:
    """Minimum, median and maximum."""
    return tuple(f"{f(ratios):.1f}" for f in (min, median, max))


def markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = (heading, ["---"] * len(heading), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def released_pairs() -> Path:
    """The sentence pairs in CONTESTED_DATA; InputError if the variable is not set."""
    folder = os.environ.get("CONTESTED_DATA")
    if not folder:
        raise InputError(
            "no pairs are named; give --data FILE, or in CONTESTED_DATA the folder with "
            "nli/train.jsonl.gz"
        )
    return Path(folder) / "nli" / "train.jsonl.gz"


def run(command: Callable[..., Any]) -> None:
    """Run a script's command; a user error is one line and exit code 2."""
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
