"""Memory that is not there is said in one line, wherever it lacks."""

import os
import subprocess
import sys

import pytest

from pipelines.cli.__main__ import entry

LINE = "contested: there is not enough memory; close other programs, or raise the limit (ulimit)\n"
# Lets the program have so many MiB more than it has when it begins.
LIMITED = """
import resource, sys
from pipelines.cli.__main__ import entry
(pages, *_), more = open("/proc/self/statm").read().split(), int(sys.argv.pop(1))
limit = int(pages) * resource.getpagesize() + more * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
entry()
"""


@pytest.mark.parametrize(
    ("more", "command"), [(0, "--help"), (5, "models list"), (15, "score --help")]
)
def test_a_program_whose_memory_is_limited(command: str, more: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(more), *command.split()],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", LINE)


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("Unable to allocate 3.00 GiB for an array"),
        RuntimeError("can't start new thread"),
        RuntimeError(
            "[enforce fail at x.cpp:1] DefaultCPUAllocator: can't allocate memory: 9 bytes"
        ),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"),
        OSError(12, "Cannot allocate memory"),
        SystemError("<built-in function compile> returned NULL without setting an exception"),
        SystemError("error return without exception set"),
        ImportError("libtorch.so: failed to map segment from shared object"),
        caused(ImportError("numpy cannot be imported"), ImportError("failed to map segment")),
        caused(RuntimeError("a model was not loaded"), MemoryError()),
    ],
    ids=str,
)
def test_whatever_library_says_it(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> int:
        raise error

    monkeypatch.setattr("pipelines.cli.app.main", main)
    with pytest.raises(SystemExit, match="2"):
        entry()
    assert capsys.readouterr().err == LINE


@pytest.mark.parametrize(
    "error", [RuntimeError("a fault"), OSError("odd"), ImportError("", name="nli.x")]
)
def test_other_faults_show_where(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def main() -> int:
        raise error

    monkeypatch.setattr("pipelines.cli.app.main", main)
    with pytest.raises(type(error)):
        entry()
