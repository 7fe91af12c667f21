"""The `contested` command, run in this process, and the files it writes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted

from pipelines.cli.app import app, main
from pipelines.cli.command import Group, Listed
from serving.offline import module_path


@dataclass(frozen=True)
class Outcome:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Contested:
    """The command.

    Attributes:
        capsys: Captures its output.
    """

    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object) -> Outcome:
        self.capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        printed = self.capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    def done(self, *arguments: object) -> Outcome:
        """The outcome of a command that must succeed."""
        outcome = self(*arguments)
        assert outcome.code == 0, outcome.err
        return outcome

    def refused(self, *arguments: object, says: Sequence[str] = ()) -> str:
        """The message of a command that must fail: one line with these parts, and exit code 2."""
        message = the_line(self(*arguments))
        for part in says:
            assert part in message
        return message


def the_line(outcome: Outcome) -> str:
    """The single line of an error message, without the program's name.

    A command that started its work first prints which judge it uses.
    """
    assert outcome.code == 2, outcome.err
    first, _, rest = outcome.err.partition("\n")
    line = rest if first.startswith("judge: ") else outcome.err
    assert line.count("\n") == 1, outcome.err
    name, _, message = line.rstrip("\n").partition(": ")
    assert name == "contested"
    assert outcome.out == ""
    return message


@cache
def commands() -> dict[tuple[str, ...], Any]:
    """Groups and commands, imported, by their words."""
    return dict(_loaded(app))


def _loaded(group: Group, *before: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield before, group
    for name, command in group.commands.items():
        if isinstance(command, Group):
            yield from _loaded(command, *before, name)
        elif isinstance(command, Listed):
            yield (*before, name), command.load()


def command_of(line: Sequence[str]) -> tuple[Any, list[str]]:
    """The command, or group, that a line's first words name, and the remaining words."""
    words = list(line)
    place = 0
    while place < len(words) and tuple(words[: place + 1]) in commands():
        place += 1
    return commands()[tuple(words[:place])], words[place:]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, including hidden ones, except the empty lock file."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def records(path: Path | str) -> list[dict[str, Any]]:
    """The records of a JSON Lines file; every line must be whole."""
    lines = Path(path).read_bytes().split(b"\n")
    assert lines.pop() == b"", "the last line is not whole"
    return [json.loads(line) for line in lines]


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The results in a run folder, by id."""
    return {result["id"]: result for result in records(folder / "conflictscore.jsonl")}


def entries(folder: Path | str) -> dict[str, Any]:
    """The entries of `run.json` in a run folder, by name."""
    found: dict[str, Any] = json.loads(Path(folder, "run.json").read_bytes())["pipelines"]
    return found


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table in a run folder."""
    rows: list[dict[str, Any]] = json.loads((folder / f"tables/{name}.json").read_text())["rows"]
    return rows


def write(name: Path | str, *records: object) -> None:
    """Write a JSON Lines file."""
    Path(name).write_text("".join(json.dumps(each) + "\n" for each in records))


def at(endpoint: Scripted) -> list[str]:
    return ["--endpoint", endpoint.url]


def ours(name: str, **chosen: object) -> list[dict[str, Any]]:
    """Rows of a table in `out` that belong to this run and have the given cells."""
    return [
        row
        for row in table(Path("out"), name)
        if row.get("figures", "this run") == "this run"
        and all(row[column] == cell for column, cell in chosen.items())
    ]


HEAVY = {"torch", "transformers", "sentence_transformers", "sklearn", "vllm", "openai"}


def loading(*arguments: object) -> tuple[str, str, set[str]]:
    """Run a command in a separate process.

    Returns:
        Its output, its lines on standard error, and the heavy packages that it imported.
    """
    program = (
        "import json, sys\n"
        "from pipelines.cli.app import main\n"
        f"code = main({[*map(str, arguments)]!r})\n"
        f"print(json.dumps([*{HEAVY!r} & set(sys.modules)]), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    *said, loaded = done.stderr.strip().splitlines()
    return done.stdout, "\n".join(said), set(json.loads(loaded))


def kill_midway(command: Sequence[str], midway: Callable[[], bool]) -> None:
    """Start a command in a separate process, and kill it as soon as `midway` holds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", *command],
        env=os.environ | module_path(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not midway():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "nothing happened in time"
        time.sleep(0.01)
    process.kill()
    process.communicate()
