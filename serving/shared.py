"""One server per model for all that a process does: started by the first who needs it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from serving import detached

_wanted: ContextVar[bool] = ContextVar("servers are shared", default=False)


def wanted() -> bool:
    """Whether a server that is started now is to be left for those who ask next."""
    return _wanted.get()


@contextmanager
def servers() -> Iterator[None]:
    """Share servers among all clients within the block, and stop them at its end.

    They end with this process too, however it ends: a killed job leaves no server behind. The
    block counts for the current context (`contextvars`); within another it changes nothing.
    """
    if wanted():
        yield
        return
    before = _wanted.set(True)
    try:
        yield
    finally:
        _wanted.reset(before)
        stop()


def stop() -> None:
    """Stop the servers that this process shares; who asks next starts another."""
    detached.stop(owner=os.getpid())
