"""The event loop of a job that has many requests in flight."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

COLLECTED_AFTER = 10_000
"""New objects between collections of garbage, 700 by default. A thousand requests in flight are
many live objects, and to go through them takes a third of what the client needs of a request."""


def run(job: Coroutine[Any, Any, Result]) -> Result:
    """`asyncio.run`, by a faster loop and with fewer collections of garbage."""
    import uvloop

    usual = gc.get_threshold()
    gc.set_threshold(COLLECTED_AFTER, *usual[1:])
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(job)
    finally:
        gc.set_threshold(*usual)
