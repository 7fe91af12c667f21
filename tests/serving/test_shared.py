"""Servers that a process shares among its clients: who finds them, and when they end.

That a job starts one and leaves none is tried with vLLM itself in
tests/pipelines/cli/test_run_all.py and scripts/fresh_run.sh.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from serving import detached, shared
from serving.command import engine_version
from serving.connect import Source, backend, resolve
from serving.detached import State
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.models import Model
from serving.profile import EngineOptions, load

OPTIONS = EngineOptions()
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def sleeping() -> "subprocess.Popen[bytes]":
    """A process of no interest."""
    return subprocess.Popen(SLEEP)


@pytest.fixture
def holder() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that passes for one that holds servers."""
    process = subprocess.Popen([*SLEEP, "serving.detached"])
    yield process
    process.kill()
    process.wait()


def noted(home: Path, holder: "subprocess.Popen[bytes]", owner: int | None) -> State:
    """The state file of a server that the holder holds."""
    state = State(
        model="m",
        digest="d",
        options=OPTIONS.digest(),
        engine=engine_version(),
        pid=holder.pid,
        started=psutil.Process(holder.pid).create_time(),
        urls=("http://127.0.0.1:9/v1",),
        keys=("k",),
        logs=home,
        owner=owner,
    )
    (home / "servers").mkdir()
    (home / "servers" / "m.json").write_text(state.model_dump_json())
    return state


@pytest.mark.parametrize("owner", [None, os.getpid(), 1], ids=["nobody", "this", "another"])
def test_only_the_process_it_runs_for_finds_a_server(
    owner: int | None,
    tmp_path: Path,
    holder: "subprocess.Popen[bytes]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = noted(tmp_path, holder, owner)
    monkeypatch.setattr(detached, "answers", lambda _: True)
    found = detached.find("d", OPTIONS, tmp_path)
    assert found == ([] if owner == 1 else [Endpoint("http://127.0.0.1:9/v1", "k", "m")])
    assert detached.running(tmp_path) == [state]


def test_what_runs_for_a_process_is_stopped_by_it_alone(
    tmp_path: Path, holder: "subprocess.Popen[bytes]"
) -> None:
    state = noted(tmp_path, holder, 1)
    assert detached.stop(home=tmp_path) == []
    assert detached.stop(home=tmp_path, owner=2) == []
    assert holder.poll() is None
    assert detached.stop(home=tmp_path, owner=1) == [state]
    assert not psutil.pid_exists(holder.pid)


@pytest.mark.parametrize("end", ["terminate", "kill"])
async def test_the_holder_ends_with_its_owner(end: str) -> None:
    owner = sleeping()
    holder = asyncio.create_task(asyncio.sleep(60))
    watch = asyncio.create_task(detached._end_with(owner.pid, holder))
    await asyncio.sleep(0.1)
    assert not holder.done()
    getattr(owner, end)()  # nobody waits for it: it stays a zombie
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(holder, 5)
    await watch
    owner.wait()


async def test_the_holder_of_a_process_that_is_gone_ends_at_once() -> None:
    gone = sleeping()
    gone.kill()
    gone.wait()
    holder = asyncio.create_task(asyncio.sleep(60))
    await detached._end_with(gone.pid, holder)
    with pytest.raises(asyncio.CancelledError):
        await holder


def test_servers_are_shared_only_within_the_block() -> None:
    assert not shared.wanted()
    with shared.servers():
        assert shared.wanted()
        with shared.servers():
            assert shared.wanted()
        assert shared.wanted()
    assert not shared.wanted()


async def test_within_the_block_one_start_serves_all_clients(
    smollm2: Model, models_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[dict[str, object]] = []
    endpoint = Endpoint("http://127.0.0.1:9/v1", "k", smollm2.name)

    def start(model: Model, options: EngineOptions, **how: object) -> list[Endpoint]:
        started.append({"model": model.name, **how})
        return [endpoint]

    monkeypatch.setattr(detached, "start", start)
    source = Source(load("cpu-small"), "judge", models_dir)
    resolved = await resolve(source)
    options = source.options(smollm2.name)
    with shared.servers():
        client = backend(resolved, options, tmp_path, lambda _: None)
        assert started == [], "it starts when the first question is asked"
        assert await client.endpoints() == await client.endpoints() == [endpoint]
        await client.close()
    (only,) = started
    assert (only["model"], only["owner"], only["logs"]) == (smollm2.name, os.getpid(), tmp_path)


async def test_a_start_that_is_interrupted_is_ended(
    smollm2: Model, models_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    waiting = sleeping()

    def start(*_: object, **how: object) -> list[Endpoint]:
        how["on_spawn"](waiting)  # type: ignore[operator]
        waiting.wait()
        raise ServingError("it ended")

    monkeypatch.setattr(detached, "start", start)
    source = Source(load("cpu-small"), "judge", models_dir)
    resolved = await resolve(source)
    with shared.servers():
        client = backend(resolved, source.options(smollm2.name), tmp_path, lambda _: None)
        asked = asyncio.ensure_future(client.endpoints())
        await asyncio.sleep(0.2)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
    assert waiting.wait(5) != 0
