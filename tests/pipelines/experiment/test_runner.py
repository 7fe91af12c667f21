"""The runner: order, bounds, and what an error leaves behind."""

import asyncio
from dataclasses import dataclass

import pytest

from pipelines.experiment.execute import run_examples


@dataclass(frozen=True)
class Named:
    id: str


NAMES = [Named(str(number)) for number in range(10)]


async def test_examples_start_in_order_and_few_at_a_time() -> None:
    started: list[str] = []
    finished: list[str] = []
    most = 0

    async def work(example: Named) -> str:
        nonlocal most
        started.append(example.id)
        most = max(most, len(started) - len(finished))
        await asyncio.sleep(0.001 * (10 - int(example.id)))
        return example.id

    await run_examples(NAMES, work, in_flight=3, on_result=finished.append)
    assert started == [name.id for name in NAMES]
    assert sorted(finished) == started
    assert most == 3


async def test_the_first_error_stops_the_rest_and_keeps_what_came() -> None:
    finished: list[str] = []
    cancelled: list[str] = []

    async def work(example: Named) -> str:
        if example.id == "4":
            await asyncio.sleep(0.02)
            raise ValueError("four")
        try:
            await asyncio.sleep(0 if int(example.id) < 4 else 10)
        except asyncio.CancelledError:
            cancelled.append(example.id)
            raise
        return example.id

    with pytest.raises(ValueError, match="four"):
        await run_examples(NAMES, work, in_flight=2, on_result=finished.append)
    assert finished == ["0", "1", "2", "3"]
    assert cancelled == ["5"]


async def test_an_example_is_started_when_there_is_room() -> None:
    running = most = 0
    free = asyncio.Event()

    async def room() -> None:
        while running >= 2:
            free.clear()
            await free.wait()

    async def work(example: Named) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1
        free.set()
        return example.id

    finished: list[str] = []
    await run_examples(NAMES, work, in_flight=8, room=room, on_result=finished.append)
    assert sorted(finished) == [name.id for name in NAMES]
    assert most == 2
