"""A failed import names the missing module and what needs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {module!r}:
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)

sys.meta_path.insert(0, Hidden())
"""


def without(module: str, where: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run `contested` in a folder, in a process that lacks a module."""
    program = "from pipelines.cli.__main__ import entry; entry()"
    return subprocess.run(
        [sys.executable, "-c", HIDE.format(module=module) + program, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=where,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


@pytest.mark.parametrize(
    ("module", "command"),
    [
        # One behind transformers' error, one that a command needs, one without which nothing
        # starts.
        ("narwhals", ["models", "add", "m.gguf", "--name", "m"]),
        ("bm25s", ["index", "build", "a.txt", "--out", "index"]),
        ("pydantic", ["index", "build", "a.txt", "--out", "index"]),
    ],
)
def test_the_command_names_the_module(module: str, command: list[str], tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")  # loading fails before the file is read
    (tmp_path / "a.txt").write_text("The mill was built in 1902.")
    done = without(module, tmp_path, *command)
    assert done.returncode == 2, done.stderr
    *_, line = done.stderr.splitlines()
    assert f"the module {module}" in line
    assert " is not installed in " in line
    assert "Traceback" not in done.stderr
