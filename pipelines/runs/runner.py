"""Keeps many examples in flight and keeps each result as it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

IN_FLIGHT = 16
"""Enough to keep a server busy while few documents compete for its prefix cache."""

IN_FLIGHT_UNSERVED = 64
"""Where no server is asked: the pairs of so many examples are tagged in common batches."""


ExampleT = TypeVar("ExampleT")
ResultT = TypeVar("ResultT")


async def run_examples(
    examples: Sequence[ExampleT],
    work: Callable[[ExampleT], Awaitable[ResultT]],
    *,
    in_flight: int,
    on_result: Callable[[ResultT], None],
) -> None:
    """Run a pipeline over examples, started in order, `in_flight` at a time.

    The server batches whatever is in flight, so this is all the batching there is. `on_result` is
    told of each result as it comes. The first exception stops the rest and is raised.
    """
    waiting = iter(examples)

    async def worker() -> None:
        for example in waiting:
            on_result(await work(example))

    workers = [asyncio.create_task(worker()) for _ in range(min(in_flight, len(examples)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
