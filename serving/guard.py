"""Runs a command and lets nothing of it outlive the process that asked for it.

`python -m serving.guard -- COMMAND...` is the thin process between this program and a vLLM
server. It ends the whole tree of COMMAND (TERM, then KILL)

- when its standard input reaches end of file, or its parent is gone: the parent died, however it
  died;
- when it is sent TERM, INT or HUP itself;
- when COMMAND ends and leaves processes behind (an API server that crashed, its engine still
  running).

It exits with COMMAND's code, or 128 plus the number of the signal that ended COMMAND. Should the
guard itself be killed, the kernel sends COMMAND a TERM. Linux only; standard library only, and
it imports nothing of this package, so that it starts in a few hundredths of a second.
"""

import argparse
import contextlib
import ctypes
import os
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_UNKILLABLE_S = 10.0
# A socket's path may have 107 characters; vLLM's add 37 and our folder 19.
_LONGEST_TMPDIR = 50


class _Signals:
    """Remembers whether the guard was asked to end, and wakes a waiting select()."""

    def __init__(self) -> None:
        self.end = False
        self.wake, write = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _ASKED:
            signal.signal(number, self._note)

    def _note(self, *_: object) -> None:
        self.end = True

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self.wake, 512):
                pass


def run(command: list[str], grace_s: float) -> int:
    """Runs the command until it ends or the guard is to end it; gives the exit code, 0 to 255.

    Between TERM and KILL it is given `grace_s` seconds.
    """
    parent = os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    # Orphans of the command become the guard's children, so the tree stays one tree.
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signals = _Signals()
    # Sockets and lock files of the command live here and go with it, even after a KILL.
    base = tempfile.gettempdir()
    if len(base) > _LONGEST_TMPDIR:
        base = "/tmp"  # noqa: S108 - only a fresh folder in it is used
    with tempfile.TemporaryDirectory(
        prefix="contested-", dir=base, ignore_cleanup_errors=True
    ) as scratch:
        child = _spawn(command, libc, scratch)
        code: int | None = None
        while code is None and not signals.end and os.getppid() == parent:
            # The timeout is for a parent whose pipe was inherited by a process that lives on.
            ready, _, _ = select.select([0, signals.wake], [], [], 1.0)
            signals.drain()
            code = _reap(child)
            if 0 in ready and _at_end_of_input():
                break
        code = _end(child, code, grace_s)
    return 128 + signal.SIGKILL if code is None else code


def _spawn(command: list[str], libc: ctypes.CDLL, scratch: str) -> int:
    """Starts the command in its own session, with an empty standard input."""
    guard = os.getpid()
    # Until the command runs, a signal sent to it would be noted here and lost with this program.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ASKED)
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKED)
        return child
    try:
        for number in _ASKED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKED)
        os.setsid()
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != guard:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ["TMPDIR"] = scratch
        os.execvp(command[0], command)  # noqa: S606 - the caller's own argv, no shell
    except OSError as error:
        print(f"guard: cannot run {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
    os._exit(127)


def _at_end_of_input() -> bool:
    try:
        return os.read(0, 4096) == b""
    except OSError:
        return True


def _reap(child: int) -> int | None:
    """Collects every process that ended; returns the child's exit code if it is among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            if ended[0] == child:
                code = os.waitstatus_to_exitcode(ended[1])
    return 128 - code if code is not None and code < 0 else code


def _end(child: int, code: int | None, grace_s: float) -> int | None:
    """Ends what is left of the tree: the child first, then whom it leaves behind, then by KILL."""
    began = time.monotonic()
    asked: set[int] = set()
    if code is None:
        _send(signal.SIGTERM, {child})
        asked.add(child)
    while left := _descendants(os.getpid()):
        waited = time.monotonic() - began
        if waited > grace_s + _UNKILLABLE_S:
            break
        if waited > grace_s:
            _send(signal.SIGKILL, left)
        elif code is not None or waited > grace_s / 2:
            _send(signal.SIGTERM, left - asked)
            asked |= left
        time.sleep(0.03)
        ended = _reap(child)
        code = ended if code is None else code
    return code if code is not None else _reap(child)


def _send(number: signal.Signals, processes: set[int]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _descendants(root: int) -> set[int]:
    """Ids of all processes below `root`, the ones that only wait to be collected included."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may itself hold spaces and parentheses.
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found: set[int] = set()
    below = {root}
    while below:
        below = {pid for pid, parent in parents.items() if parent in below}
        found |= below
    return found


def main() -> None:
    """Reads the command line and exits with the command's code."""
    parser = argparse.ArgumentParser(prog="guard", description="Run COMMAND; leave no orphan.")
    parser.add_argument("--grace", type=float, default=5.0, help="seconds between TERM and KILL")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    asked = parser.parse_args()
    sys.exit(run(asked.command, asked.grace))


if __name__ == "__main__":
    main()
