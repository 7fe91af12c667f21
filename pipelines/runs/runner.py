"""Keeps many examples in flight and keeps each result as it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

IN_FLIGHT = 64
"""Examples at a time where no server asks for more: their pairs are tagged in common batches."""


ExampleT = TypeVar("ExampleT")
ResultT = TypeVar("ResultT")


async def unlimited() -> None:
    """There is always room."""


async def run_examples(
    examples: Sequence[ExampleT],
    work: Callable[[ExampleT], Awaitable[ResultT]],
    *,
    in_flight: int,
    room: Callable[[], Awaitable[None]] = unlimited,
    on_result: Callable[[ResultT], None],
) -> None:
    """Run a pipeline over examples, started in order, `in_flight` at a time.

    The server batches whatever is in flight, so this is all the batching there is. An example is
    started when `room` returns. `on_result` is told of each result as it comes. The first exception
    stops the rest and is raised.
    """
    waiting = iter(examples)
    turn = asyncio.Lock()

    async def worker() -> None:
        while True:
            async with turn:
                await room()
                example = next(waiting, None)
            if example is None:
                return
            on_result(await work(example))

    workers = [asyncio.create_task(worker()) for _ in range(min(in_flight, len(examples)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
