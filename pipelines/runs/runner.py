"""Keeps many examples in flight and keeps each result as it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

from pipelines.evidence.labeller import PairError
from pipelines.runs.folder import ResultLog
from serving.errors import RequestError

IN_FLIGHT = 16
"""Enough to keep a server busy while few documents compete for its prefix cache."""

IN_FLIGHT_UNSERVED = 64
"""Where no server is asked: the pairs of so many examples are tagged in common batches."""


UNDONE = frozenset({"failed", "incomplete"})
"""What a result's status says where it is to be tried again."""


class Item(Protocol):
    """What something is done to: an example with an id."""

    @property
    def id(self) -> str:
        """Its name."""


ExampleT = TypeVar("ExampleT", bound=Item)
AnyResultT = TypeVar("AnyResultT")
ResultT = TypeVar("ResultT", bound=BaseModel)


async def resume_examples(
    examples: Sequence[ExampleT],
    work: Callable[[ExampleT], Awaitable[ResultT]],
    log: ResultLog[ResultT],
    *,
    failed: Callable[[ExampleT, str], ResultT],
    on_failure: Literal["stop", "skip"],
    in_flight: int,
    refusals: tuple[type[Exception], ...] = (RequestError, PairError),
    on_start: Callable[[int], None],
    on_result: Callable[[ResultT], None],
) -> list[ResultT]:
    """Run a pipeline over the examples that a log has no result of yet, or one that failed.

    Results are kept as they come, so a run that is killed is resumed.

    Args:
        examples: All of them.
        work: The pipeline of one example.
        log: What is done, and where results go.
        failed: The result of an example that cannot be done; told the reason.
        on_failure: Whether an example that cannot be done (too long for the model, refused) stops
            the run or gets the result `failed`.
        in_flight: At most so many at a time, at least 1.
        refusals: What `work` raises where one example cannot be done.
        on_start: Told how many examples were done by an earlier run.
        on_result: Told of each result.

    Returns:
        All results, in the order of the examples.

    Raises:
        RequestError, PairError: An example cannot be done (`stop`).
        ServingError: No server can be had.
        InputError: A line of the log is damaged.
    """
    log.mend()
    done = {name for name, result in log.read().items() if result.status not in UNDONE}  # type: ignore[attr-defined]
    on_start(sum(example.id in done for example in examples))

    async def attempt(example: ExampleT) -> ResultT:
        try:
            return await work(example)
        except refusals as error:
            if on_failure == "stop":
                raise type(error)(f"'{example.id}': {error}") from error
            return failed(example, str(error))

    def keep(result: ResultT) -> None:
        log.append(result)
        on_result(result)

    missing = [example for example in examples if example.id not in done]
    await run_examples(missing, attempt, in_flight=in_flight, on_result=keep)
    return log.settle([example.id for example in examples])


async def run_examples(
    examples: Sequence[ExampleT],
    work: Callable[[ExampleT], Awaitable[AnyResultT]],
    *,
    in_flight: int,
    on_result: Callable[[AnyResultT], None],
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
