"""The guard with real processes: nothing outlives whoever asked for it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from serving import guard
from serving.detached import lives

GUARD = [sys.executable, "-ISs", guard.__file__, "1"]

# A process that starts a child that starts a grandchild in a session of its own, all of which
# ignore TERM if asked to; each writes its id.
TREE = """
import os, signal, subprocess, sys, time
folder, depth, deaf = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "deaf"
if deaf:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if depth:
    subprocess.Popen([sys.executable, __file__, folder, str(depth - 1), sys.argv[3]],
                     start_new_session=depth == 1)
with open(f"{folder}/pid-{depth}.tmp", "w") as file:
    file.write(str(os.getpid()))
os.rename(f"{folder}/pid-{depth}.tmp", f"{folder}/pid-{depth}")
time.sleep(60)
"""

# A parent that starts the guard as a server's owner does, and then lives on.
PARENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, start_new_session=True)
print(child.pid, flush=True)
time.sleep(60)
"""


class Tree:
    """The command under the guard, and the processes it became."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = folder / "tree.py"
        self.script.write_text(TREE)

    def line(self, temper: str = "meek") -> list[str]:
        return [*GUARD, sys.executable, str(self.script), str(self.folder), "2", temper]

    def processes(self) -> list[psutil.Process]:
        """All three processes, once they run."""
        files = [self.folder / f"pid-{depth}" for depth in range(3)]
        until(lambda: all(file.exists() for file in files))
        return [psutil.Process(int(file.read_text())) for file in files]


def until(condition: Callable[[], bool], seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def gone(processes: list[psutil.Process]) -> bool:
    return not any(lives(process.pid) for process in processes)


@pytest.fixture(autouse=True)
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short folder for temporary files: a guard that is killed cannot clear its own away."""
    folder = Path(tempfile.mkdtemp(prefix="guard-"))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    tree = Tree(tmp_path)
    yield tree
    for file in tmp_path.glob("pid-?"):
        try:
            os.kill(int(file.read_text()), signal.SIGKILL)
        except ProcessLookupError:
            continue


@pytest.mark.parametrize(
    ("script", "code"),
    [("raise SystemExit(0)", 0), ("raise SystemExit(7)", 7), ("import os; os.abort()", 134)],
)
def test_the_exit_code_is_the_commands(script: str, code: int) -> None:
    line = [*GUARD, sys.executable, "-c", script]
    with subprocess.Popen(line, stdin=subprocess.PIPE) as process:
        assert process.wait(10) == code


@pytest.mark.parametrize("temper", ["meek", "deaf"])
def test_killing_the_parent_ends_the_whole_tree(tree: Tree, temper: str) -> None:
    line = [sys.executable, "-c", PARENT, *tree.line(temper)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as parent:
        processes = tree.processes()
        assert parent.stdout is not None
        processes.append(psutil.Process(int(parent.stdout.readline())))
        assert not gone(processes)
        parent.kill()
    until(lambda: gone(processes), 5)


def test_killing_the_parent_counts_even_where_its_pipe_lives_on(tree: Tree) -> None:
    read, write = os.pipe()
    try:
        hold = f"""
import os, subprocess, sys, time
subprocess.Popen(sys.argv[1:], stdin={read}, start_new_session=True)
time.sleep(60)
"""
        line = [sys.executable, "-c", hold, *tree.line()]
        with subprocess.Popen(line, pass_fds=[read]) as parent:
            processes = tree.processes()
            parent.kill()
        until(lambda: gone(processes), 6)
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_guard_ends_the_tree(tree: Tree, number: signal.Signals) -> None:
    with subprocess.Popen(tree.line(), stdin=subprocess.PIPE) as process:
        processes = tree.processes()
        process.send_signal(number)
        assert process.wait(5) == 128 + signal.SIGTERM
    assert gone(processes)


def test_what_a_crashed_command_leaves_behind_is_ended_too(tree: Tree) -> None:
    with subprocess.Popen(tree.line(), stdin=subprocess.PIPE) as process:
        grandchild, child, top = tree.processes()
        top.kill()
        assert process.wait(5) == 128 + signal.SIGKILL
    assert gone([grandchild, child])


def test_a_killed_guard_takes_its_command_with_it(tree: Tree) -> None:
    with subprocess.Popen(tree.line(), stdin=subprocess.PIPE) as process:
        top = tree.processes()[2]
        process.kill()
        until(lambda: gone([top]), 3)


def temporary_file_of_a_command() -> Path:
    """Where a command under the guard put a file; by now the command has ended."""
    script = (
        "import tempfile, time; file = tempfile.NamedTemporaryFile(delete=False);"
        "print(file.name, flush=True); time.sleep(60)"
    )
    line = [*GUARD, sys.executable, "-c", script]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        assert left.exists()
        process.terminate()
        process.wait(5)
    return left


def test_temporary_files_of_the_command_go_with_it(scratch: Path) -> None:
    assert temporary_file_of_a_command().is_relative_to(scratch)
    assert list(scratch.iterdir()) == []


def test_a_temporary_folder_too_long_for_sockets_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    left = temporary_file_of_a_command()
    assert len(str(left.parent)) < 70
    assert not left.parent.exists()


def test_a_command_that_has_hardly_begun_ends_by_term() -> None:
    for _ in range(3):
        ended = subprocess.run([*GUARD, "sleep", "60"], stdin=subprocess.DEVNULL)
        assert ended.returncode == 128 + signal.SIGTERM, "it was killed after the grace"
