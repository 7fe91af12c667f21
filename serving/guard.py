"""Runs a command and lets nothing of it outlive the process that asked for it.

`python guard.py SECONDS COMMAND...` is the thin process between this program and a vLLM server. It
ends the whole tree of COMMAND (TERM, and KILL after SECONDS)

- when its standard input ends, or its parent is gone: the parent died, however it died;
- when it is sent TERM, INT or HUP itself;
- when COMMAND ends and leaves processes behind (an API server that crashed, its engine still
  running).

It exits with COMMAND's code, or 128 plus the number of the signal that ended COMMAND. Should the
guard itself be killed, the kernel sends COMMAND a TERM. Linux only; standard library only, and
it imports nothing of this package, so that it starts in a few hundredths of a second.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_EVERY_S = 0.1
_UNKILLABLE_S = 10.0
# A socket's path may have 107 characters; vLLM's add 37 and our folder 19.
_LONGEST_TMPDIR = 50


def run(command: list[str], grace_s: float) -> int:
    """Runs the command until it ends or the guard is to end it; gives the exit code, 0 to 255.

    Between TERM and KILL it is given `grace_s` seconds.
    """
    parent = os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    # Orphans of the command become the guard's children, so the tree stays one tree.
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: asked.append(number))
    # Sockets and lock files of the command live here and go with it, even after a KILL.
    base = tempfile.gettempdir()
    if len(base) > _LONGEST_TMPDIR:
        base = "/tmp"  # noqa: S108 - only a fresh folder in it is used
    with tempfile.TemporaryDirectory(
        prefix="contested-", dir=base, ignore_cleanup_errors=True
    ) as scratch:
        try:
            child = _spawn(command, libc, scratch)
        except OSError as error:
            print(f"guard: cannot run {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
            return 127
        code: int | None = None
        # The parent is looked for, too: its pipe may live on in a process that inherited it.
        while code is None and not asked and os.getppid() == parent:
            ended, _, _ = select.select([0], [], [], _LOOK_EVERY_S)
            code = _reap(child)
            if ended:
                break
        code = _end(child, code, grace_s)
    return 128 + signal.SIGKILL if code is None else code


def _spawn(command: list[str], libc: ctypes.CDLL, scratch: str) -> int:
    """Starts the command in its own session, with an empty standard input."""
    guard = os.getpid()

    def die_with_the_guard() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != guard:
            os._exit(1)

    return subprocess.Popen(  # noqa: S603 - the caller's own command, no shell
        command,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": scratch},
        start_new_session=True,
        preexec_fn=die_with_the_guard,  # noqa: PLW1509 - this process has one thread
    ).pid


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


if __name__ == "__main__":
    sys.exit(run(sys.argv[2:], float(sys.argv[1])))
