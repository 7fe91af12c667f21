"""Servers that a process shares among its clients: who finds them, and when they end.

What becomes of processes is tried in test_detached.py and tests/pipelines/test_main_job_killed.py,
and with vLLM itself in test_server.py and scripts/fresh_run.sh.
"""

import asyncio
import os
import shutil
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


@pytest.mark.parametrize("fault", ["dead", "another process"])
def test_stale_state_files_are_removed(home: Path, fault: str) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    # "another process": this very process lives, but it is no detached server.
    state = noted(job(home), gone.pid if fault == "dead" else os.getpid())
    assert asyncio.run(detached.find("d", OPTIONS)) == []
    assert not (home / "servers" / f"{state.pid}.json").exists()


@pytest.mark.parametrize(
    "content",
    ["", "[]", "\0", '{"version": 2, "servers": []}'],
    ids=["empty", "a list", "zeros", "another format"],
)
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
        ["serving.detached", '{"home": "/"}'],
        ["serving.other", "JOB"],
        ["serving.detached", "JOB", "more"],
    ],
    ids=" ".join,
)
def test_another_process_under_the_number_of_a_dead_one_is_not_taken_for_it(
    line: list[str], home: Path
) -> None:
    line = [job(home).model_dump_json() if part == "JOB" else part for part in line]
    with subprocess.Popen([*SLEEP, *line]) as other:
        noted(job(home), other.pid)
        assert detached.running() == []
        other.kill()
    assert list((home / "servers").iterdir()) == []


def test_a_home_under_two_names_is_one(
    home: Path,
    tmp_path: Path,
    holder: "tuple[subprocess.Popen[bytes], State]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "link"))
    assert detached.running() == [holder[1]]
    (tmp_path / "other/servers").mkdir(parents=True)
    shutil.copytree(home / "servers", tmp_path / "other/servers", dirs_exist_ok=True)
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "other"))
    assert detached.running() == []


@pytest.mark.parametrize("owner", [None, os.getpid(), 1], ids=["nobody", "this", "another"])
async def test_only_the_process_it_runs_for_finds_a_server(
    owner: int | None, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detached, "answers", AsyncMock(return_value=True))
    with holding(job(home, owner)) as (_, state):
        found = await detached.find("d", OPTIONS)
        assert found == ([] if owner == 1 else [Endpoint("http://127.0.0.1:9/v1", "k", "m")])
        assert detached.running() == [state]


@pytest.mark.usefixtures("holder")
def test_a_server_is_ready_once_it_answers(
    monkeypatch: pytest.MonkeyPatch, contested: Contested
) -> None:
    assert "  not answering  " in contested.done("serve", "--status").out
    monkeypatch.setattr(detached, "answers", AsyncMock(return_value=True))
    assert "  ready  " in contested.done("serve", "--status").out


def test_what_runs_for_a_process_is_stopped_by_it_alone(home: Path) -> None:
    with holding(job(home, 1)) as (holder, state):
        assert detached.stop() == []
        assert detached.stop(owner=2) == []
        assert holder.poll() is None
        assert detached.stop(owner=1) == [state]


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Whose servers were stopped."""
    found: list[object] = []
    monkeypatch.setattr(detached, "stop", lambda *, owner: found.append(owner))
    return found


def test_servers_are_shared_within_the_block_and_stopped_at_its_end(stops: list[object]) -> None:
    with shared_servers():
        with shared_servers():
            pass
        assert stops == [], "the inner block changes nothing"
    assert stops == [os.getpid()]


async def test_within_the_block_one_start_serves_all_clients(
    smollm2: Model, models_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[dict[str, object]] = []
    endpoint = Endpoint("http://127.0.0.1:9/v1", "k", smollm2.name)

    async def start(model: Model, options: EngineOptions, **how: object) -> list[Endpoint]:
        started.append({"model": model.name, **how})
        return [endpoint]

    monkeypatch.setattr(detached, "start", start)
    source = Source(load("cpu-small"), "judge", models_dir)
    resolved = await resolve(source)
    with shared_servers():
        client = backend(resolved, source, tmp_path, lambda _: None)
        assert started == [], "it starts when the first question is asked"
        assert await client.endpoints() == await client.endpoints() == [endpoint]
        await client.close()
    (only,) = started
    assert (only["model"], only["owner"], only["logs"]) == (smollm2.name, os.getpid(), tmp_path)


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
