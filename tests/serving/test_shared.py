"""Servers that a process shares among its clients: who finds them, and when they end.

What becomes of processes is tried in test_detached.py and tests/pipelines/test_main_job_killed.py,
and with vLLM itself in test_server.py and scripts/fresh_run.sh.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from commands import Contested

from serving import detached
from serving.connect import OnDemand, Source, backend, resolve, shared_servers
from serving.detached import Note, State
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.installed import engine_version
from serving.models import Model
from serving.profile import EngineOptions, load
from serving.server import Job

OPTIONS = EngineOptions()
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def job(home: Path, owner: int | None = None) -> Job:
    """What a process holds."""
    model = Model(name="m", path=home, digest="d")
    engine = engine_version()
    return Job(model=model, options=OPTIONS, engine=engine, home=home, logs=home, owner=owner)


@contextmanager
def holding(job: Job) -> Iterator["tuple[subprocess.Popen[bytes], State]"]:
    """A process that passes for one that holds servers, and what is known of it."""
    with subprocess.Popen([*SLEEP, "serving.detached", job.model_dump_json()]) as process:
        yield process, noted(job, process.pid)
        process.kill()


@pytest.fixture
def holder(home: Path) -> Iterator["tuple[subprocess.Popen[bytes], State]"]:
    """One that runs until it is stopped."""
    with holding(job(home)) as held:
        yield held


def noted(job: Job, pid: int) -> State:
    """The state file of a server that a process holds, and what stands in it."""
    note = Note(status="ready", endpoints=(Endpoint("http://127.0.0.1:9/v1", "k", "m"),))
    (job.home / "servers").mkdir(exist_ok=True)
    (job.home / "servers" / f"{pid}.json").write_text(note.model_dump_json())
    return State(pid, job, note.status, note.endpoints)


@pytest.mark.parametrize("content", ["", "[]", '{"version": 2, "servers": []}'])
def test_a_damaged_file_loses_no_server(content: str, home: Path) -> None:
    with holding(job(home, os.getpid())) as (holder, state):
        (home / "servers" / f"{holder.pid}.json").write_text(content)
        assert detached.stop() == [], "it runs for this process"
        (stopped,) = detached.stop(owner=os.getpid())
    assert (stopped.job, stopped.pid, stopped.endpoints) == (state.job, holder.pid, ())
    assert list((home / "servers").iterdir()) == []


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
    """The number of a dead process may be another's by now."""
    known = {"JOB": job(home).model_dump_json(), "ELSEWHERE": job(tmp_path).model_dump_json()}
    with subprocess.Popen([*SLEEP, *(known.get(part, part) for part in line)]) as other:
        noted(job(home), other.pid)
        assert detached.running() == asyncio.run(detached.find("d", OPTIONS)) == []
        other.kill()
    noted(job(home), other.pid)
    assert detached.running() == []
    assert list((home / "servers").iterdir()) == []


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


@pytest.mark.usefixtures("holder")
def test_a_server_is_ready_once_it_answers(
    monkeypatch: pytest.MonkeyPatch, contested: Contested
) -> None:
    assert "  not answering  " in contested.done("serve", "--status").out
    monkeypatch.setattr(detached, "answers", AsyncMock(return_value=True))
    assert "  ready  " in contested.done("serve", "--status").out


async def test_within_the_block_one_start_serves_all_clients_and_stops_at_its_end(
    smollm2: Model, models_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started, stopped = [], []
    endpoint = Endpoint("http://127.0.0.1:9/v1", "k", smollm2.name)

    async def start(model: Model, options: EngineOptions, **how: object) -> list[Endpoint]:
        started.append((model.name, how["owner"], how["logs"]))
        return [endpoint]

    monkeypatch.setattr(detached, "start", start)
    monkeypatch.setattr(detached, "stop", lambda *, owner: stopped.append(owner))
    source = Source(load("cpu-small"), "judge", models_dir)
    resolved = await resolve(source)
    with shared_servers():
        with shared_servers():
            client = backend(resolved, source, tmp_path, lambda _: None)
            assert started == [], "it starts when the first question is asked"
            assert await client.endpoints() == await client.endpoints() == [endpoint]
            await client.close()
        assert stopped == [], "the inner block changes nothing"
    assert started == [(smollm2.name, os.getpid(), tmp_path)]
    assert stopped == [os.getpid()]


@pytest.mark.parametrize("early", [True, False])
async def test_a_start_that_is_interrupted_leaves_no_process(
    early: bool, smollm2: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it came to start one, or was still looking for one that runs."""
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

    servers = OnDemand(lambda: detached.start(smollm2, OPTIONS))
    asked = asyncio.ensure_future(servers.endpoints())
    await asyncio.to_thread(begun.wait, 10)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await servers.close()
    assert [process.poll() for process in spawned] == ([] if early else [-signal.SIGTERM])


async def test_a_start_that_fails_is_not_tried_by_each_who_waits() -> None:
    starts: list[int] = []

    async def start() -> list[Endpoint]:
        starts.append(1)
        raise ServingError("no memory")

    servers = OnDemand(start)
    outcomes = await asyncio.gather(
        *(servers.endpoints() for _ in range(5)), return_exceptions=True
    )
    assert [str(each) for each in outcomes] == ["no memory"] * 5
    assert len(starts) == 1


async def test_a_start_ahead_fails_only_whoever_needs_it_and_ends_with_its_client() -> None:
    async def fail() -> list[Endpoint]:
        raise ServingError("no memory")

    async def start() -> list[Endpoint]:
        return []

    async def hang() -> list[Endpoint]:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        raise AssertionError

    begun, ended = asyncio.Event(), asyncio.Event()
    together: list[OnDemand] = []
    needed, failing, hanging = (OnDemand(each, together) for each in (start, fail, hang))
    assert await needed.endpoints() == []
    await begun.wait()
    await hanging.close()
    assert ended.is_set()
    with pytest.raises(ServingError, match="no memory"):
        await failing.endpoints()


async def test_a_server_that_was_given_up_is_said_at_once(
    holder: "tuple[subprocess.Popen[bytes], State]",
) -> None:
    process, state = holder
    servers = OnDemand(lambda: detached.find("d", OPTIONS))
    await servers.recover(state.endpoints[0])  # it is being restarted
    process.kill()
    process.wait()
    with pytest.raises(
        ServingError, match=r"m was stopped, or given up as .*detached\.log says; the same command"
    ):
        await servers.recover(state.endpoints[0])
