"""The processes that hold servers: start, find, list, stop.

A process of its own (`python -m serving.detached JOB`) holds the servers of one model: it restarts
them, and they die with it. What it holds stands on its command line; how far it is, where it
answers and with which key, in `HOME/servers/PID.json`, which its user alone can read. The file is
there from the start on, so that who comes second waits and starts no other.

It runs until it is stopped, or, if it was started for a process, until that process ends in
whatever way; then it serves nobody else.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from serving.endpoint import Endpoint, answers
from serving.errors import ServingError
from serving.home import alone, default_home, opened_to_append, write
from serving.installed import engine_version
from serving.models import Model
from serving.offline import go_offline, module_path
from serving.placement import Seat
from serving.profile import EngineOptions
from serving.server import replicas

_MODULE = "serving.detached"
_STOP_S = 40.0
_LOOK_EVERY_S = 0.5


class Job(BaseModel):
    """What a process holds, as its command line says it; no secrets.

    Attributes:
        engine: The engine it runs; see `installed.engine_version`.
        port: Of the first replica; a free one if None.
        seats: What it holds of which GPUs.
        logs: Folder of the servers' logs.
        owner: The process that it runs for; None if it runs until it is stopped.
    """

    model_config = ConfigDict(frozen=True)

    model: Model
    options: EngineOptions
    engine: str
    home: Path
    logs: Path
    port: int | None = None
    owner: int | None = None
    seats: tuple[Seat, ...] = ()


class Note(BaseModel):
    """What a process says of itself: how far it is, and where it answers once it does."""

    model_config = ConfigDict(frozen=True)

    status: str = ""
    endpoints: tuple[Endpoint, ...] = ()


@dataclass(frozen=True)
class State:
    """A detached server: its process, its job, and what it says of itself."""

    pid: int
    job: Job
    status: str
    endpoints: tuple[Endpoint, ...]

    @property
    def model(self) -> str:
        """The name of its model."""
        return self.job.model.name

    def serves(self, digest: str, options: EngineOptions) -> bool:
        """Whether this process may use it for a model and options: it is nobody's, or our own."""
        job = self.job
        same = job.model.digest == digest and job.options.digest() == options.digest()
        return same and job.engine == engine_version() and job.owner in (None, os.getpid())

    @property
    def abandoned(self) -> bool:
        """Whether the process that it runs for has ended, so that it is about to end, too."""
        return self.job.owner is not None and not lives(self.job.owner)

    @property
    def condition(self) -> str:
        """Why it cannot be used at once, although it is there."""
        if self.abandoned:
            return f"{self.model}: waiting for a server to end with the job it was started for"
        if self.endpoints:
            return f"{self.model}: waiting for a busy server"
        return self.status or f"{self.model}: starting"


def lives(pid: int) -> bool:
    """Whether there is such a process, and not only its exit code."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def running() -> list[State]:
    """All detached servers whose process lives, by model name; files of dead ones are removed.

    Among them are those that are starting or ending.
    """
    states = []
    for file in (default_home() / "servers").glob("*.json"):
        if (job := _job_of(file.stem)) is None:
            file.unlink(missing_ok=True)
            continue
        note = Note()
        with suppress(OSError, ValidationError):
            note = Note.model_validate_json(file.read_bytes())
        states.append(State(int(file.stem), job, note.status, note.endpoints))
    return sorted(states, key=lambda state: (state.model, state.pid))


def _job_of(pid: str) -> Job | None:
    """The job of a process that holds servers for this home; None of any other process.

    Its command line tells. When it began does not: the clock that tells that may have been set.
    """
    try:
        process = psutil.Process(int(pid))
        *_, module, line = process.cmdline()
        if module != _MODULE or process.uids().real != os.getuid():
            return None
        job = Job.model_validate_json(line)
        return job if default_home().samefile(job.home) else None
    except (psutil.Error, FileNotFoundError, ValueError):
        return None


async def find(
    digest: str,
    options: EngineOptions,
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
        states = running()
        wanted = [state for state in states if state.serves(digest, options)]
        for state in wanted:
            if healthy := await answering(state):
                return healthy
        awaited = next((state for state in states if state in wanted or state.abandoned), None)
        if awaited is None:
            return []
        if awaited.condition != told:
            told, since = awaited.condition, time.monotonic()
            on_status(told)
        if time.monotonic() - since > options.start_timeout_s:
            raise ServingError(
                f"waited {options.start_timeout_s:g} s for a server ({told}); end it with: "
                f"kill {awaited.pid}"
            )
        await asyncio.sleep(_LOOK_EVERY_S)


async def answering(state: State) -> list[Endpoint]:
    """Those of its endpoints that answer now."""
    asked = await asyncio.gather(*map(answers, state.endpoints))
    return [one for one, answered in zip(state.endpoints, asked, strict=True) if answered]


async def start(
    model: Model,
    options: EngineOptions,
    *,
    seats: Sequence[Seat] = (),
    port: int | None = None,
    logs: Path | None = None,
    owner: int | None = None,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[Endpoint]:
    """Starts a detached server, or finds the one that is there; cancelled, it leaves none.

    Args:
        model: What to serve.
        options: How to run it.
        seats: As in `server.replicas`.
        port: Port of the first replica; a free one if None.
        logs: Folder of the servers' logs; that of `default_home()` if None.
        owner: The process it ends with; None for a server that runs until it is stopped.
        on_status: Called with a few words whenever the start reaches a new stage.

    Raises:
        ServingError: It cannot be started.
    """
    home = default_home()
    job = Job(
        model=replace(model, path=model.path.absolute()),
        options=options,
        engine=engine_version(),
        home=home,
        logs=(logs or home / "logs").absolute(),
        port=port,
        owner=owner,
        seats=tuple(seats),
    )
    process = None
    try:
        while True:
            if endpoints := await find(model.digest, options, on_status=on_status):
                return endpoints
            if process is None:
                process = _spawn_the_only_one(job)
            elif process.poll() is not None:
                said, _ = process.communicate()
                raise ServingError(said or f"it was stopped, or ended at once: {log_path()}")
            await asyncio.sleep(0.05)
    except BaseException:
        if process is not None:
            process.terminate()
            await asyncio.to_thread(process.wait)
            running()  # removes the file of one that could not do it itself
        raise
    finally:
        if process is not None and process.stdout is not None:
            process.stdout.close()


def stop(model: str | None = None, *, owner: int | None = None) -> list[State]:
    """Stops detached servers (of a model, or all), waits for their end, and says which they were.

    They are those that run for the process `owner`, or those that run for none.
    """
    chosen = [
        state
        for state in running()
        if state.job.owner == owner and (model is None or state.model == model)
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
    running()  # removes the files of those that were killed
    return chosen


def log_path() -> Path:
    """Where the processes that hold servers say what went wrong."""
    return default_home() / "logs" / "detached.log"


def _file(job: Job, pid: int) -> Path:
    return job.home / "servers" / f"{pid}.json"


def _tell(job: Job, note: Note) -> None:
    """Says how far this process is, after the first note, of whoever started it."""
    with alone(job.home / "servers.lock"):
        write(_file(job, os.getpid()), note.model_dump_json(indent=2))


def _spawn_the_only_one(job: Job) -> "subprocess.Popen[str] | None":
    """Starts the process, and notes that; None if another command was quicker by a moment."""
    try:
        with alone(job.home / "servers.lock"):
            if any(state.serves(job.model.digest, job.options) for state in running()):
                return None
            (job.home / "servers").mkdir(exist_ok=True)
            process = _spawn(job)
            try:
                write(_file(job, process.pid), Note().model_dump_json())
            except BaseException:
                process.terminate()
                raise
            return process
    except OSError as error:
        raise ServingError(
            f"cannot keep a detached server's files in {job.home}: {error.strerror}; "
            "set CONTESTED_HOME to a folder you can write to"
        ) from error


def _spawn(job: Job) -> "subprocess.Popen[str]":
    """Starts the process in a session of its own, so that it survives this one."""
    with opened_to_append(log_path()) as log:
        return subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-m", _MODULE, job.model_dump_json()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=job.home / "servers",
            env={**os.environ, **module_path()},
            start_new_session=True,
        )


async def end_with(owner: int, holder: "asyncio.Task[None]") -> None:
    """Cancels the holder once the process `owner` has ended."""
    while lives(owner):  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_EVERY_S)
    holder.cancel()


async def _hold(job: Job, on_started: Callable[[], None]) -> None:
    """Starts the servers, says where they are, and holds them until told to end or given up."""
    this = cast("asyncio.Task[None]", asyncio.current_task())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, this.cancel)

    endpoints: list[Endpoint] = []

    def tell(status: str) -> None:
        _tell(job, Note(status=status, endpoints=tuple(endpoints)))

    servers = replicas(
        *(job.model, job.options, job.logs), seats=job.seats, port=job.port, on_status=tell
    )
    runs = [asyncio.create_task(server.run()) for server in servers]
    watch = asyncio.create_task(end_with(job.owner, this)) if job.owner is not None else None
    try:
        await asyncio.gather(*(server.ready for server in servers))
        on_started()
        endpoints += [server.endpoint for server in servers]
        tell(f"{job.model.name}: ready")
        await asyncio.wait(runs)
        for run in runs:
            print(f"{time.ctime()}: {run.exception()}", file=sys.stderr, flush=True)
    finally:
        if watch is not None:
            watch.cancel()
        # Nobody is to ask a server that ends, nor to start another before it has ended.
        endpoints.clear()
        with suppress(OSError):
            tell(f"{job.model.name}: stopping")
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)
        _file(job, os.getpid()).unlink(missing_ok=True)


def turns(job: Job) -> ExitStack:
    """Waits until no other server starts on its GPUs; closed, others may.

    vLLM measures what memory is left while it starts, and takes another's for its own.
    """
    held = ExitStack()
    for gpu in sorted(gpu for seat in job.seats for gpu in seat.gpus):  # all in one order
        status = f"{job.model.name}: another server starts on its GPU; waiting"
        lock = job.home / "servers" / f"{gpu.replace('/', '-')}.lock"
        held.enter_context(alone(lock, lambda: _tell(job, Note(status=status))))  # noqa: B023
    return held


def main() -> None:
    """Holds the servers that the one argument describes; says why it ends to who waits for them."""
    go_offline()
    job, failure = Job.model_validate_json(sys.argv[1]), "the start was stopped"
    with suppress(asyncio.CancelledError):
        try:
            with turns(job) as held:
                asyncio.run(_hold(job, held.close))
        except (ServingError, OSError) as error:
            failure = str(error)
    with suppress(OSError):  # nobody waits any more
        os.write(sys.stdout.fileno(), failure.encode())


if __name__ == "__main__":
    main()
