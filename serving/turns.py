"""One at a time, over all processes of a machine: a lock that goes with whoever holds it."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from serving.errors import ServingError

_LOOK_EVERY_S = 0.2


@asynccontextmanager
async def turn(file: Path, on_wait: Callable[[], None]) -> AsyncIterator[None]:
    """Wait until nobody else is within the same file's turn; `on_wait` is told if that takes time.

    The kernel ends the turn of a process that dies. Raises ServingError if the file, whose folder
    is made, cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ServingError(
            f"{file} cannot be written: {error.strerror}; set CONTESTED_HOME to a folder you can "
            "write to"
        ) from error
    try:
        told = False
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    on_wait()
                    told = True
                await asyncio.sleep(_LOOK_EVERY_S)
        yield
    finally:
        os.close(descriptor)
