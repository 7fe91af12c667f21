"""Keeps many examples in flight and keeps each result as it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar


class Identified(Protocol):
    """An example."""

    @property
    def id(self) -> str:
        """Its name."""
        ...


ExampleT = TypeVar("ExampleT", bound=Identified)
ResultT = TypeVar("ResultT")


async def run_examples(
    examples: Sequence[ExampleT],
    work: Callable[[ExampleT], Awaitable[ResultT]],
    *,
    in_flight: int,
    on_result: Callable[[ResultT], None],
) -> None:
    """Run a pipeline over examples, started in order, `in_flight` at a time.

    The server batches whatever is in flight, so this is all the batching there is. The first
    exception stops the rest and is raised; results that came before have been handed over.

    Args:
        examples: What to do.
        work: The pipeline of one example.
        in_flight: At most so many at a time, at least 1.
        on_result: Called with each result as it comes, in the order of completion.
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
