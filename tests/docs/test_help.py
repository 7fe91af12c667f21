"""`--help`: fast, on one screen, with examples that parse."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import command_of
from commands import commands as all_commands

from pipelines import papers
from pipelines.cli.app import main
from pipelines.inspection.task import TASKS

ROOT = Path(__file__).parents[2]
HEAVY = {
    *("numpy", "torch", "transformers", "vllm", "openai", "sentence_transformers", "sklearn"),
    *("datasets", "scipy", "matplotlib", "fastapi", "uvicorn"),
}


LISTS = HEAVY | {"jinja2", "aiohttp", "asyncio", "pipelines.option"}
"""Modules that a list of commands must not load either, to stay fast."""

QUICK = HEAVY | {"jinja2", "aiohttp", "tokenizers"}
"""What the help of an experiment or a task must not load: its options need no pipeline."""

COMMANDS = all_commands()
GROUPS = {words for words, command in COMMANDS.items() if hasattr(command, "commands")}

SCREEN = 50
"""Maximum lines of a help text, at 100 columns."""


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
"""All commands in one process, those that must load least first.

An import shows up at the first command that causes it.
"""


@pytest.fixture(scope="module")
def helps() -> dict[tuple[str, ...], tuple[int, str, list[str]]]:
    """Command -> exit code, output, and the heavy modules loaded so far."""
    quick = {("run", name) for name in papers.EXPERIMENTS} | {(name,) for name in TASKS}
    order = sorted(COMMANDS, key=lambda words: (words not in GROUPS, words not in quick))
    barred = {
        words: LISTS if words in GROUPS else QUICK if words in quick else HEAVY for words in order
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([(words, [*barred[words]]) for words in order]),
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(order, json.loads(done.stdout), strict=True))


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
    assert shown.count("\n") <= SCREEN


def test_help_folds_panels_unless_all_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--help"]) == 0
    folded = capsys.readouterr().out
    assert "Metric: --evidence" in folded
    assert "How a language model is asked" not in folded
    assert main(["score", "--help-all"]) == 0
    assert "How a language model is asked" in capsys.readouterr().out


def test_a_shell_completes_what_is_begun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_CONTESTED_COMPLETE", "complete_bash")
    for line, words in (("contested lab ca", 2), ("contested score --rege", 2)):
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(words))
        with pytest.raises(SystemExit):
            main([])
    assert capsys.readouterr().out.split() == ["calibrate", "--regenerate"]


def examples() -> Iterator[str]:
    """Examples in the help of all commands."""
    for command in COMMANDS.values():
        text = command.help or ""
        yield from re.findall(r"^`(contested [^`]+)`", text, re.MULTILINE)


@pytest.mark.parametrize("line", dict.fromkeys(examples()))
def test_every_example_can_be_parsed(line: str) -> None:
    command, arguments = command_of(shlex.split(line)[1:])
    command.make_context(line, arguments)
