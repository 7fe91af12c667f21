"""`--help`: quick, with examples that can be parsed."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from pipelines.cli.app import app

ROOT = Path(__file__).parents[2]
HEAVY = {
    *("numpy", "torch", "transformers", "vllm", "openai", "sentence_transformers", "sklearn"),
    *("datasets", "scipy", "matplotlib", "fastapi", "uvicorn"),
}


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*words, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


def name(words: tuple[str, ...]) -> str:
    return " ".join(("contested", *words))


PROGRAM = """
import contextlib, io, json, sys
sys.argv[0] = "contested"
from pipelines.cli.app import main
found = []
for words, heavy in json.load(sys.stdin):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        code = main([*words, "--help"])
    found.append((code, shown.getvalue(), sorted(set(heavy) & set(sys.modules))))
print(json.dumps(found))
"""
"""All commands in one process: what one of them imports is seen at the first that has it."""


@pytest.fixture(scope="module")
def helps() -> dict[tuple[str, ...], tuple[int, str, list[str]]]:
    """Command -> exit code, what it prints, and the heavy modules that are loaded by then."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([(words, sorted(HEAVY)) for words in COMMANDS]),
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "300", "TERMINAL_WIDTH": "300", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(COMMANDS, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("words", COMMANDS, ids=name)
def test_help_of_every_command(
    words: tuple[str, ...], helps: dict[tuple[str, ...], tuple[int, str, list[str]]]
) -> None:
    code, shown, loaded = helps[words]
    assert code == 0
    assert loaded == []
    usage, _, rest = shown.strip().partition("\n")
    assert usage.split()[:2] == ["Usage:", "contested"]
    children = getattr(COMMANDS[words], "commands", {})
    for child in children:
        assert child in rest
    if not children or not words:
        assert name(words) in rest, "it shows no example"


def examples() -> Iterator[str]:
    """What the help of any command shows, in lines and in lists."""
    for command in COMMANDS.values():
        text = command.help or ""
        yield from re.findall(r"^ *(contested .+)$", text, re.MULTILINE)
        for listed in re.findall(r"^\* .*", text, re.MULTILINE):
            yield from re.findall(r"`(contested [^`]+)`", listed)


@pytest.mark.parametrize("line", dict.fromkeys(examples()))
def test_every_example_can_be_parsed(line: str) -> None:
    arguments = shlex.split(line)[1:]
    words: tuple[str, ...] = ()
    while arguments and (*words, arguments[0]) in COMMANDS:
        words = (*words, arguments.pop(0))
    COMMANDS[words].make_context(name(words), arguments)
