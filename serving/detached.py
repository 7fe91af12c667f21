"""Servers that outlive the command that started them: start, find, list, stop.

A detached server is a process of its own (`python -m serving.detached`) that holds the servers of
one model like any other owner does: it restarts them, and they die with it. What others need to
find it stands in `HOME/servers/*.json`, readable by its user alone, since the key is in it; there
it stands from the start on, so that who comes second waits and starts no other.

It runs until it is stopped, or, if it was started for a process, until that process ends in
whatever way; then it serves nobody else.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NoReturn, cast

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from serving.endpoint import Endpoint, answers
from serving.errors import ServingError
from serving.home import default_home
from serving.installed import engine_version
from serving.models import Model
from serving.offline import go_offline, module_path
from serving.owner import end_with, lives
from serving.placement import Seat
from serving.private import alone, opened_to_append, write
from serving.profile import EngineOptions
from serving.server import LocalServer, start_all

_MODULE = "serving.detached"
_STOP_S = 40.0
_LOOK_EVERY_S = 0.5


class State(BaseModel):
    """What a detached server says of itself.

    Attributes:
        digest, options: Digests of the model it serves and of the engine options.
        pid: The process that holds the servers.
        urls, keys: Base address and key of each replica; none while it is starting or ending.
        logs: Folder of their logs.
        owner: The process that it runs for; None if it runs until it is stopped.
        seats: What it holds of which GPUs.
    """

    model_config = ConfigDict(frozen=True)

    model: str
    digest: str
    options: str
    engine: str
    pid: int
    urls: tuple[str, ...]
    keys: tuple[str, ...]
    logs: Path
    owner: int | None = None
    seats: tuple[Seat, ...] = ()

    def endpoints(self) -> list[Endpoint]:
        """Where it answers."""
        return [Endpoint(*own, self.model) for own in zip(self.urls, self.keys, strict=True)]

    def serves(self, digest: str, options: EngineOptions) -> bool:
        """Whether this process may use it for a model and options: it is nobody's, or our own."""
        same = (self.digest, self.options) == (digest, options.digest()) and _same_engine(self)
        return same and self.owner in (None, os.getpid())

    def abandoned(self) -> bool:
        """Whether the process that it runs for has ended, so that it is about to end, too."""
        return self.owner is not None and not lives(self.owner)


class _Job(BaseModel):
    """What the process is started with, on its command line; no secrets."""

    model: Model
    options: EngineOptions
    port: int | None
    home: Path
    logs: Path
    owner: int | None
    seats: tuple[Seat, ...] = ()


def running(home: Path | None = None) -> list[State]:
    """All detached servers whose process lives, by model name; files of dead ones are removed.

    Among them are those that are starting or ending.
    """
    states = []
    for file in sorted(_folder(home).glob("*.json")):
        job = _job_of(file.stem, home or default_home())
        if job is None:
            file.unlink(missing_ok=True)
            continue
        try:
            states.append(State.model_validate_json(file.read_bytes()))
        except (OSError, ValidationError):  # damaged, or of another version
            with suppress(ValidationError):
                states.append(_state(_Job.model_validate(job), int(file.stem), "unknown"))
    return sorted(states, key=lambda state: state.model)


def _job_of(pid: str, home: Path) -> dict[str, Any] | None:
    """The job of a process that holds servers for this home; None of any other process.

    Its command line tells. When it began does not: the clock that tells that may have been set.
    """
    try:
        process = psutil.Process(int(pid))
        *_, module, line = process.cmdline()
        if module != _MODULE or process.uids().real != os.getuid():
            return None
        job: dict[str, Any] = json.loads(line)
        return job if home.samefile(job["home"]) else None
    except (psutil.Error, FileNotFoundError, ValueError, LookupError, TypeError):
        return None


async def find(
    digest: str,
    options: EngineOptions,
    home: Path | None = None,
    *,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[Endpoint]:
    """The endpoints, those that answer, of a detached server of exactly this model and options.

    One that is starting, busy or ending is waited for: a second one might not fit beside it. One
    that runs for another process is passed over, as it may end at any time.

    Raises:
        ServingError: It was waited for as long as a start may take.
    """
    told, since = "", time.monotonic()
    while True:
        states = running(home)
        wanted = [state for state in states if state.serves(digest, options)]
        for state in wanted:
            if healthy := await answering(state):
                return healthy
        awaited = next((state for state in states if state in wanted or state.abandoned()), None)
        if awaited is None:
            return []
        reason = _reason(awaited)
        if reason != told:
            told, since = reason, time.monotonic()
            on_status(f"waiting for the server of {awaited.model}, which {reason}")
        if time.monotonic() - since > options.start_timeout_s:
            raise ServingError(
                f"waited {options.start_timeout_s:g} s for the server of {awaited.model}, which "
                f"{reason}; end it with: kill {awaited.pid}"
            )
        await asyncio.sleep(_LOOK_EVERY_S)


async def answering(state: State) -> list[Endpoint]:
    """Those of its endpoints that answer now."""
    endpoints = state.endpoints()
    asked = await asyncio.gather(*map(answers, endpoints))
    return [one for one, answered in zip(endpoints, asked, strict=True) if answered]


def _reason(state: State) -> str:
    """Why a server that is there cannot be used at once."""
    if state.abandoned():
        return "ends with the job that it was started for"
    return "is busy or being restarted" if state.urls else "is just being started or stopped"


async def start(
    model: Model,
    options: EngineOptions,
    *,
    seats: Sequence[Seat] = (),
    port: int | None = None,
    home: Path | None = None,
    logs: Path | None = None,
    owner: int | None = None,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[Endpoint]:
    """Starts a detached server, or finds the one that is there; cancelled, it leaves none.

    Args:
        model: What to serve.
        options: How to run it.
        seats: As in `server.start_all`.
        port: Port of the first replica; a free one if None.
        home: Where state files are kept; `default_home()` if None.
        logs: Folder of the servers' logs; `home`/logs if None.
        owner: The process it ends with; None for a server that runs until it is stopped.
        on_status: Called with a few words whenever the start reaches a new stage.

    Raises:
        ServingError: It cannot be started.
    """
    home = home or default_home()
    job = _Job(
        model=replace(model, path=model.path.absolute()),
        options=options,
        port=port,
        home=home,
        logs=(logs or home / "logs").absolute(),
        owner=owner,
        seats=tuple(seats),
    )
    process = None
    while process is None:
        if already := await find(model.digest, options, home, on_status=on_status):
            return already
        process = _spawn_the_only_one(job)
    lines = cast("IO[str]", process.stdout)
    said: dict[str, Any] = {}
    try:
        # Read in a thread: who waits may be cancelled, which ends the process and so the thread.
        while line := await asyncio.to_thread(lines.readline):
            said = json.loads(line)
            if "status" in said:
                on_status(said["status"])
            if "ready" in said:
                return State.model_validate(said["ready"]).endpoints()
    except BaseException:
        process.terminate()
        await asyncio.to_thread(process.wait)
        running(home)  # removes the file of one that could not do it itself
        raise
    finally:
        lines.close()
    process.wait()
    running(home)
    raise ServingError(said.get("error") or f"it ended at once; see {log_path(home)}")


def stop(
    model: str | None = None, home: Path | None = None, *, owner: int | None = None
) -> list[State]:
    """Stops detached servers (of a model, or all), waits for their end, and says which they were.

    They are those that run for the process `owner`, or those that run for none.
    """
    chosen = [
        state
        for state in running(home)
        if state.owner == owner and (model is None or state.model == model)
    ]
    processes = []
    for state in chosen:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(state.pid)
            process.terminate()
            processes.append(process)
    _, stubborn = psutil.wait_procs(processes, timeout=_STOP_S)
    for process in stubborn:
        process.kill()
    psutil.wait_procs(stubborn, timeout=10)
    running(home)  # removes the files of those that were killed
    return chosen


def _same_engine(state: State) -> bool:
    try:
        return state.engine == engine_version()
    except ServingError:
        return False


def _folder(home: Path | None) -> Path:
    return (home or default_home()) / "servers"


def _file(home: Path, pid: int) -> Path:
    return _folder(home) / f"{pid}.json"


def log_path(home: Path | None = None) -> Path:
    """Where the processes that hold servers say what went wrong."""
    return (home or default_home()) / "logs" / "detached.log"


def _spawn_the_only_one(job: _Job) -> "subprocess.Popen[str] | None":
    """Starts the process, and notes that; None if another command was quicker by a moment."""
    try:
        with alone(_folder(job.home)):
            if any(state.serves(job.model.digest, job.options) for state in running(job.home)):
                return None
            process = _spawn(job)
            try:
                _note(job, process.pid, [])
            except BaseException:
                process.terminate()
                raise
            return process
    except OSError as error:
        raise ServingError(
            f"cannot keep a detached server's files in {job.home}: {error.strerror}; "
            "set CONTESTED_HOME to a folder you can write to"
        ) from error


def _spawn(job: _Job) -> "subprocess.Popen[str]":
    """Starts the process in a session of its own, so that it survives this one."""
    with opened_to_append(log_path(job.home)) as log:
        return subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-m", _MODULE, job.model_dump_json()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=_folder(job.home),
            env={**os.environ, **module_path()},
            start_new_session=True,
        )


def _note(job: _Job, pid: int, endpoints: Sequence[Endpoint]) -> State:
    """Writes what others need to know of the process that does the job."""
    state = _state(job, pid, engine_version(), endpoints)
    write(_file(job.home, pid), state.model_dump_json(indent=2))
    return state


def _state(job: _Job, pid: int, engine: str, endpoints: Sequence[Endpoint] = ()) -> State:
    return State(
        model=job.model.name,
        digest=job.model.digest,
        options=job.options.digest(),
        engine=engine,
        pid=pid,
        urls=tuple(one.url for one in endpoints),
        keys=tuple(one.key for one in endpoints),
        logs=job.logs,
        owner=job.owner,
        seats=job.seats,
    )


async def _hold(job: _Job) -> None:
    """Starts the servers, says where they are, and holds them until told to end or given up."""
    this = asyncio.current_task()
    if this is None:
        return
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, this.cancel)

    def tell(**message: Any) -> None:
        try:
            print(json.dumps(message), flush=True)
        except OSError:
            # Whoever asked for the server is gone before it was ready: nobody knows of it.
            this.cancel()

    watch = asyncio.create_task(end_with(job.owner, this)) if job.owner is not None else None
    servers: list[LocalServer] = []
    try:
        servers = await start_all(
            *(job.model, job.options, job.logs),
            seats=job.seats,
            port=job.port,
            on_status=lambda text: tell(status=text),
        )
        with alone(_folder(job.home)):
            state = _note(job, os.getpid(), [server.endpoint for server in servers])
        tell(ready=state.model_dump(mode="json"))
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        for failure in await asyncio.gather(*(server.until_given_up() for server in servers)):
            print(f"{time.ctime()}: {failure}", file=sys.stderr, flush=True)
    finally:
        if watch is not None:
            watch.cancel()
        # Nobody is to ask a server that ends, nor to start another before it has ended.
        with suppress(OSError, ServingError):
            _note(job, os.getpid(), [])
        await asyncio.gather(*(server.stop() for server in servers))
        _file(job.home, os.getpid()).unlink(missing_ok=True)


def main() -> NoReturn:
    """Holds the servers that the one argument describes."""
    go_offline()
    try:
        asyncio.run(_hold(_Job.model_validate_json(sys.argv[1])))
    except (ServingError, OSError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        sys.exit(2)
    except asyncio.CancelledError:
        with suppress(OSError):
            print(json.dumps({"error": "the start was stopped"}), flush=True)
        sys.exit(0)
    sys.exit(1)


if __name__ == "__main__":
    main()
