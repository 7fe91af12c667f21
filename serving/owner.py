"""The process that a server runs for: whether it lives, and what ends with it."""

import asyncio
from contextlib import suppress

import psutil

_LOOK_EVERY_S = 0.5


def lives(pid: int) -> bool:
    """Whether there is such a process, and not only its exit code."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def end_with(owner: int, holder: "asyncio.Task[None]") -> None:
    """Cancels the holder once the owner has ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(owner)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_EVERY_S)
    holder.cancel()
