"""Detached servers as processes: who waits for whom, and that no model is started twice.

A small program replaces vLLM.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import AsyncMock

import psutil
import pytest
from stand_in_vllm import MODULE, install, processes

from serving import detached
from serving.connect import OnDemand
from serving.detached import Note, State
from serving.endpoint import Endpoint, answers
from serving.installed import engine_version
from serving.models import Model
from serving.placement import Seat
from serving.profile import EngineOptions
from serving.server import Job

OPTIONS = EngineOptions(start_timeout_s=60)
MODEL = Model(name="m", path=Path("m"), digest="d")

Say = Callable[[str], None]


@pytest.fixture
def stand_in(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Replace vLLM by the stand-in, and stop what a test leaves running."""
    monkeypatch.chdir(tmp_path)
    install(tmp_path / "stand-in", monkeypatch)
    MODEL.path.mkdir()
    (MODEL.path / "config.json").write_text("{}")
    monkeypatch.setattr(detached, "answers", partial(answers, timeout_s=0.5))
    yield tmp_path / "stand-in"
    for owner in {state.job.owner for state in detached.running()}:
        detached.stop(owner=owner)
    assert programs(tmp_path / "stand-in") == []


def programs(stand_in: Path) -> list[psutil.Process]:
    """The running servers."""
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
    assert set(said) == {"m: waiting for a busy server"}
    program.resume()
    assert await second == await found == first
    assert starts(home) == 1


@pytest.mark.parametrize("owned", [True, False])
async def test_of_those_who_start_together_one_starts_and_all_get_it(
    owned: bool, stand_in: Path, home: Path
) -> None:
    said: list[str] = []
    owner = os.getpid() if owned else None
    one, *others = await asyncio.gather(*(start(said.append, owner) for _ in range(3)))
    assert others == [one, one]
    assert len(programs(stand_in)) == starts(home) == 1
    assert len(said) >= 3, "all are told how far it is"
    assert set(said) <= {"m: starting", "m: loading weights", "m: ready"}


async def test_replicas_have_ports_logs_names_and_gpus_of_their_own(
    stand_in: Path, home: Path
) -> None:
    options = OPTIONS.model_copy(update={"gpu_memory_gib": 18.0})
    seats = [Seat(gpus=(f"GPU-{n}",), gib=20, share=0.5) for n in range(2)]
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1] + 1
    found = await detached.start(MODEL, options, seats=seats, port=port)
    assert [endpoint.url for endpoint in found] == [
        f"http://127.0.0.1:{port}/v1",
        f"http://127.0.0.1:{port + 1}/v1",
    ]
    assert sorted(program.environ()["CUDA_VISIBLE_DEVICES"] for program in programs(stand_in)) == [
        "GPU-0",
        "GPU-1",
    ]
    assert [state.status for state in detached.running()] == ["m-1: ready", "m-2: ready"]
    assert {file.name for file in (home / "logs").iterdir()} >= {"m-1.log", "m-2.log"}


JOB = """
import asyncio, os, sys, time
from pathlib import Path
from serving import detached
from serving.models import Model
from serving.profile import EngineOptions
model = Model(name="m", path=Path("m"), digest="d")
options = EngineOptions.model_validate_json(sys.argv[1])
owner = os.getpid() if sys.argv[2:] else None
print(asyncio.run(detached.start(model, options, owner=owner))[0].url)
time.sleep(60 if owner else 0)
"""


async def test_the_server_of_a_job_that_ended_is_gone_before_another_starts(
    stand_in: Path, home: Path
) -> None:
    line = [sys.executable, "-c", JOB, OPTIONS.model_dump_json(), "owned"]
    job = subprocess.Popen(line)  # noqa: ASYNC220
    await until(lambda: any(state.endpoints for state in detached.running()))
    (program,) = programs(stand_in)
    program.suspend()  # so that it does not end at once
    job.kill()
    job.wait()
    said: list[str] = []
    second = start(said.append)
    await until(lambda: said)
    assert said == ["m: waiting for the server of a finished job to end"]
    assert programs(stand_in) == [program]
    program.resume()
    await second
    assert len(programs(stand_in)) == 1
    assert not program.is_running()


async def test_a_detached_server_outlives_its_starter_is_found_and_stopped(
    stand_in: Path, home: Path
) -> None:
    line = [sys.executable, "-c", JOB, OPTIONS.model_dump_json()]
    first, second = (
        subprocess.run(line, capture_output=True, text=True, check=True)  # noqa: ASYNC221
        for _ in range(2)
    )
    (endpoint,) = await detached.find("d", OPTIONS)
    assert first.stdout == second.stdout == f"{endpoint.url}\n"
    (file,) = (home / "servers").glob("*.json")
    assert file.stat().st_mode & 0o777 == 0o600
    assert endpoint.key not in first.stdout + first.stderr
    assert await detached.find("another digest", OPTIONS) == []
    assert await detached.find("d", OPTIONS.model_copy(update={"dtype": "float16"})) == []
    assert [state.model for state in detached.stop("m")] == ["m"]
    assert programs(stand_in) == []
    assert list((home / "servers").iterdir()) == []


# --- state of processes that hold servers ------------------------------------------------------

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def job(home: Path, owner: int | None = None) -> Job:
    """The job of a process that holds servers."""
    model = Model(name="m", path=home, digest="d")
    engine = engine_version()
    return Job(model=model, options=OPTIONS, engine=engine, home=home, logs=home, owner=owner)


@contextmanager
def holding(job: Job) -> Iterator["tuple[subprocess.Popen[bytes], State]"]:
    """A process posing as a holder of servers, and its state."""
    with subprocess.Popen([*SLEEP, "serving.detached", job.model_dump_json()]) as process:
        try:
            yield process, noted(job, process.pid)
        finally:
            process.kill()


def noted(job: Job, pid: int) -> State:
    """The state file of a server held by a process, and its contents."""
    note = Note(status="ready", endpoints=(Endpoint("http://127.0.0.1:9/v1", "k", "m"),))
    (job.home / "servers").mkdir(exist_ok=True)
    (job.home / "servers" / f"{pid}.json").write_text(note.model_dump_json())
    return State(pid, job, note.status, note.endpoints)


@pytest.mark.parametrize(
    "line",
    [
        ["serving.detached"],
        ["serving.detached", "{"],
        ["serving.detached", "ELSEWHERE"],
        ["serving.other", "JOB"],
        ["serving.detached", "JOB", "more"],
    ],
    ids=" ".join,
)
def test_files_of_dead_and_other_processes_are_removed(
    line: list[str], home: Path, tmp_path: Path
) -> None:
    """A dead process's id may have been reused."""
    known = {"JOB": job(home).model_dump_json(), "ELSEWHERE": job(tmp_path).model_dump_json()}
    with subprocess.Popen([*SLEEP, *(known.get(part, part) for part in line)]) as other:
        noted(job(home), other.pid)
        assert detached.running() == []
        assert asyncio.run(detached.find("d", OPTIONS)) == []
        other.kill()
    noted(job(home), other.pid)
    assert detached.running() == []
    assert list((home / "servers").iterdir()) == []


def test_a_process_without_a_command_line_yet_keeps_its_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux shows none between the start of a process and the end of its exec."""
    with holding(job(home)) as (_, state):
        lines = iter([[], [], [*SLEEP, "serving.detached", job(home).model_dump_json()]])
        monkeypatch.setattr(psutil.Process, "cmdline", lambda _: next(lines))
        assert detached.running() == [state]


@pytest.mark.parametrize("owner", [None, os.getpid(), 1], ids=["nobody", "this", "another"])
async def test_only_the_process_it_runs_for_finds_and_stops_a_server(
    owner: int | None, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detached, "answers", AsyncMock(return_value=True))
    with holding(job(home, owner)) as (holder, state):
        found = await detached.find("d", OPTIONS)
        assert found == ([] if owner == 1 else list(state.endpoints))
        for other in {None, os.getpid(), 1} - {owner}:
            assert detached.stop(owner=other) == []
        assert holder.poll() is None
        assert detached.stop(owner=owner) == [state]


@pytest.mark.parametrize("early", [True, False])
async def test_a_start_that_is_interrupted_leaves_no_process(
    early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it was already starting a server or still looking for a running one."""
    spawned: list[subprocess.Popen[str]] = []
    begun = threading.Event()

    def spawn(_: object) -> "list[subprocess.Popen[str]]":
        spawned.append(subprocess.Popen(SLEEP, stdout=subprocess.PIPE, text=True))
        begun.set()
        return spawned

    async def find(*_: object, **__: object) -> list[Endpoint]:
        if early:
            begun.set()
            await asyncio.sleep(0.2)
        return []

    monkeypatch.setattr(detached, "_spawn_the_only_ones", spawn)
    monkeypatch.setattr(detached, "find", find)

    servers = OnDemand(lambda: detached.start(MODEL, OPTIONS))
    asked = asyncio.ensure_future(servers.endpoints())
    await asyncio.to_thread(begun.wait, 10)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await servers.close()
    assert [process.poll() for process in spawned] == ([] if early else [-signal.SIGTERM])
