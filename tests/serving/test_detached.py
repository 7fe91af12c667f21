"""Detached servers as processes: who waits for whom, and that no model is started twice.

A small program stands in vLLM's place.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest
from stand_in_vllm import MODULE, install, processes

from serving import detached
from serving.detached import State
from serving.endpoint import Endpoint, answers
from serving.errors import ServingError
from serving.models import Model
from serving.profile import EngineOptions

OPTIONS = EngineOptions(start_timeout_s=60)
MODEL = Model(name="m", path=Path("m"), digest="d")

Say = Callable[[str], None]


@pytest.fixture
def stand_in(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Puts the stand-in in vLLM's place, and ends what a test leaves of it."""
    monkeypatch.chdir(tmp_path)
    install(tmp_path / "stand-in", monkeypatch)
    MODEL.path.mkdir()
    (MODEL.path / "config.json").write_text("{}")
    monkeypatch.setattr(detached, "answers", partial(answers, timeout_s=0.5))
    yield tmp_path / "stand-in"
    for owner in {state.owner for state in detached.running(home)}:
        detached.stop(home=home, owner=owner)
    assert programs(tmp_path / "stand-in") == []


def programs(stand_in: Path) -> list[psutil.Process]:
    """The servers that run."""
    return processes(stand_in, MODULE)


def starts(home: Path) -> int:
    """How often a server of the model was started."""
    return (home / "logs" / "m.log").read_text().count("Starting to load model")


def start(
    on_status: Say = lambda _: None, owner: int | None = None
) -> asyncio.Task[list[Endpoint]]:
    return asyncio.create_task(detached.start(MODEL, OPTIONS, owner=owner, on_status=on_status))


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def the_state() -> State:
    (state,) = detached.running()
    return state


async def test_a_busy_server_is_waited_for_and_not_doubled(stand_in: Path, home: Path) -> None:
    first = await start()
    (program,) = programs(stand_in)
    program.suspend()
    said: list[str] = []
    second, found = (
        start(said.append),
        asyncio.create_task(detached.find("d", OPTIONS, on_status=said.append)),
    )
    await until(lambda: len(said) == 2)
    assert set(said) == {"waiting for the server of m, which is busy or being restarted"}
    program.resume()
    assert await second == await found == first
    assert starts(home) == 1


async def test_a_busy_server_is_waited_for_no_longer_than_a_start(stand_in: Path) -> None:
    await start()
    (program,) = programs(stand_in)
    program.suspend()
    short = OPTIONS.model_copy(update={"start_timeout_s": 1})
    state = the_state()
    # Patience is no part of what makes an answer, but of what a server is known by.
    detached._note(job_of(state, short), state.pid, state.endpoints())
    with pytest.raises(ServingError, match=f"waited 1 s .* busy .* end it with: kill {state.pid}"):
        await detached.find("d", short)
    program.kill()


def job_of(state: State, options: EngineOptions) -> detached._Job:
    from serving.home import default_home

    return detached._Job(
        model=MODEL,
        options=options,
        port=None,
        home=default_home(),
        logs=state.logs,
        owner=state.owner,
    )


@pytest.mark.parametrize("owned", [True, False])
async def test_of_those_who_start_together_one_starts_and_all_get_it(
    owned: bool, stand_in: Path, home: Path
) -> None:
    said: list[str] = []
    owner = os.getpid() if owned else None
    one, *others = await asyncio.gather(*(start(said.append, owner) for _ in range(3)))
    assert others == [one, one]
    assert len(programs(stand_in)) == starts(home) == 1
    waiting = "waiting for the server of m, which is just being started or stopped"
    assert said.count(waiting) == 2
    assert said.count("m: ready") == 1


async def test_whoever_waited_for_a_start_that_fails_starts_it_itself(
    stand_in: Path, home: Path
) -> None:
    (stand_in / "broken").touch()
    said: list[str] = []
    first = start()
    await until(detached.running)
    second = start(said.append)
    with pytest.raises(ServingError, match="m did not start: not enough GPU memory"):
        await first
    assert [one.model for one in await second] == ["m"]
    assert said[0].startswith("waiting for the server of m")
    assert starts(home) == 2


async def test_a_start_may_be_stopped(stand_in: Path, home: Path) -> None:
    said: list[str] = []
    started = start(said.append)
    await until(lambda: said)
    assert [state.urls for state in detached.stop("m")] == [()]
    with pytest.raises(ServingError, match="was stopped"):
        await started
    assert list((home / "servers").iterdir()) == []


async def test_a_killed_holder_leaves_neither_server_nor_note(stand_in: Path, home: Path) -> None:
    await start()
    os.kill(the_state().pid, signal.SIGKILL)
    await until(lambda: programs(stand_in) == [])
    assert detached.running() == []
    assert list((home / "servers").iterdir()) == []


async def test_the_server_of_a_job_that_ended_is_gone_before_another_starts(
    stand_in: Path, home: Path
) -> None:
    job = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])  # noqa: ASYNC220
    await start(owner=job.pid)
    (program,) = programs(stand_in)
    program.suspend()  # so that it does not end at once
    job.kill()
    job.wait()
    said: list[str] = []
    second = start(said.append)
    await until(lambda: said)
    assert said == ["waiting for the server of m, which ends with the job that it was started for"]
    assert programs(stand_in) == [program]
    program.resume()
    await second
    assert len(programs(stand_in)) == 1
    assert not program.is_running()
