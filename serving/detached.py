"""The processes that hold servers: start, find, list, stop.

Each server has its own process (`python -m serving.detached JOB`), which restarts it and stops
it on exit. Its job is on its command line; its progress, address and key are in
`HOME/servers/PID.json`, which only its user can read. The file exists from the start, so that
others wait instead of starting another server.

A server runs until it is stopped. One that was started for a process serves only that process, and
ends with it however it ends.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

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
from serving.server import Job, serve

ENDING = (signal.SIGTERM, signal.SIGINT)
"""Signals that tell a process that holds a server to end."""

_MODULE = "serving.detached"
_STOP_S = 40.0
_LOOK_EVERY_S = 0.5
_NAMELESS_S = 1.0


class Note(BaseModel):
    """A process's report on itself: its progress, and its address once it answers."""

    model_config = ConfigDict(frozen=True)

    status: str = ""
    endpoints: tuple[Endpoint, ...] = ()


@dataclass(frozen=True)
class State:
    """A detached server: its process, its job, and its report."""

    pid: int
    job: Job
    status: str
    endpoints: tuple[Endpoint, ...]

    @property
    def model(self) -> str:
        """The name of its model."""
        return self.job.model.name

    def serves(self, digest: str, options: EngineOptions) -> bool:
        """Whether this process may use it for a model and options: it has no owner, or is ours."""
        job, wanted = self.job, (digest, options, engine_version())
        same = (job.model.digest, job.options, job.engine) == wanted
        return same and job.owner in (None, os.getpid())

    @property
    def abandoned(self) -> bool:
        """Whether the process that it runs for has ended, so that it will end too."""
        return self.job.owner is not None and not lives(self.job.owner)

    @property
    def condition(self) -> str:
        """Why it cannot be used yet."""
        if self.abandoned:
            return f"{self.model}: waiting for the server of a finished job to end"
        if self.endpoints:
            return f"{self.model}: waiting for a busy server"
        return self.status or f"{self.model}: starting"


def lives(pid: int) -> bool:
    """Whether a process is alive; a zombie is not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def running() -> list[State]:
    """All detached servers with a living process, sorted by model; files of dead ones are removed.

    This includes servers that are starting or ending.
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
    """The job of a process that holds servers for this home; None for any other process.

    It is recognised by its command line, not its start time: the clock may have been set since.
    """
    try:
        process = psutil.Process(int(pid))
        *_, module, line = _command_line(process)
        if module != _MODULE or process.uids().real != os.getuid():
            return None
        job = Job.model_validate_json(line)
        return job if default_home().samefile(job.home) else None
    except (psutil.Error, FileNotFoundError, ValueError):
        return None


def _command_line(process: psutil.Process) -> list[str]:
    """Its command line, awaited: a process that was just started has none for a moment."""
    until = time.monotonic() + _NAMELESS_S
    while not (line := process.cmdline()) and time.monotonic() < until:
        time.sleep(0.001)
    return line


async def find(
    digest: str,
    options: EngineOptions,
    *,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[Endpoint]:
    """The responding endpoints of detached servers with exactly this model and these options.

    Waits while one is starting, or all are busy or ending: another might not fit beside them.
    Skips servers that run for another process, as they may end at any time.

    Raises:
        ServingError: The wait exceeded `start_timeout_s`.
    """
    reported, since = "", time.monotonic()
    while True:
        states = running()
        wanted = [state for state in states if state.serves(digest, options)]
        starting = [state for state in wanted if not state.endpoints]
        if not starting and (healthy := await answering(*wanted)):
            return healthy
        abandoned = [state for state in states if state.abandoned]
        awaited = next(iter([*starting, *wanted, *abandoned]), None)
        if awaited is None:
            return []
        if awaited.condition != reported:
            reported, since = awaited.condition, time.monotonic()
            on_status(reported)
        if time.monotonic() - since > options.start_timeout_s:
            raise ServingError(
                f"waited {options.start_timeout_s:g} s for a server ({reported}); end it with: "
                f"kill {awaited.pid}"
            )
        await asyncio.sleep(_LOOK_EVERY_S)


async def answering(*states: State) -> list[Endpoint]:
    """The endpoints of these servers that answer now."""
    endpoints = [endpoint for state in states for endpoint in state.endpoints]
    return list(compress(endpoints, await asyncio.gather(*map(answers, endpoints))))


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
    """Start detached servers, or find running ones; if cancelled, stop those it started.

    Args:
        model: The model to serve.
        options: How to run it.
        seats: On GPUs, the place of each server, see `serving.placement`; on a CPU there is one.
        port: Port of the first; the others count up from it. Free ports if None.
        logs: Folder of the servers' logs, `MODEL.log` or `MODEL-N.log`; that of `default_home()` if
            None.
        owner: The process they end with; None for servers that run until they are stopped.
        on_status: Called with a few words whenever the start reaches a new stage.

    Raises:
        ServingError: One cannot be started.
    """
    home = default_home()
    jobs = [
        Job(
            model=replace(model, path=model.path.absolute()),
            options=options,
            engine=engine_version(),
            home=home,
            logs=(logs or home / "logs").absolute(),
            port=None if port is None else port + n,
            owner=owner,
            seat=seat,
            replica=n + 1 if len(seats) > 1 else 0,
        )
        for n, seat in enumerate(seats or [None])
    ]
    holders: list[subprocess.Popen[str]] = []
    try:
        while True:
            endpoints = await find(model.digest, options, on_status=on_status)
            if ended := [holder for holder in holders if holder.poll() is not None]:
                said, _ = ended[0].communicate()
                raise ServingError(said or f"the server was stopped or ended at once: {log_path()}")
            if endpoints:
                return endpoints
            if not holders:
                holders = _spawn_the_only_ones(jobs)
            await asyncio.sleep(0.05)
    except BaseException:
        for holder in holders:
            holder.terminate()
        for holder in holders:
            await asyncio.to_thread(holder.wait)
        running()  # removes files that the processes could not remove themselves
        raise
    finally:
        for holder in holders:
            if holder.stdout is not None:
                holder.stdout.close()


def stop(model: str | None = None, *, owner: int | None = None) -> list[State]:
    """Stop detached servers (of a model, or all), wait for their end, and return them.

    Only servers of the process `owner`, or, if it is None, servers without an owner.
    """
    chosen = [
        state
        for state in running()
        if state.job.owner == owner and (model is None or state.model == model)
    ]
    processes = []
    for state in chosen:
        with suppress(psutil.NoSuchProcess):
            processes.append(psutil.Process(state.pid))
            processes[-1].terminate()
    _, stubborn = psutil.wait_procs(processes, timeout=_STOP_S)
    for process in stubborn:
        process.kill()
    psutil.wait_procs(stubborn, timeout=10)
    running()  # removes the files of killed processes
    return chosen


def log_path() -> Path:
    """Log of the processes that hold servers, for errors."""
    return default_home() / "logs" / "detached.log"


def _file(job: Job, pid: int) -> Path:
    return job.home / "servers" / f"{pid}.json"


def _spawn_the_only_ones(jobs: Sequence[Job]) -> "list[subprocess.Popen[str]]":
    """Start the processes and create their files; none if another command was first."""
    first = jobs[0]
    holders: list[subprocess.Popen[str]] = []
    try:
        with alone(first.home / "servers.lock"), opened_to_append(log_path()) as log:
            if any(state.serves(first.model.digest, first.options) for state in running()):
                return []
            (first.home / "servers").mkdir(exist_ok=True)
            for job in jobs:
                holder = subprocess.Popen(  # noqa: S603 - our own module
                    [sys.executable, "-P", "-m", _MODULE, job.model_dump_json()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    cwd=job.home / "servers",
                    env={**os.environ, **module_path()},
                    start_new_session=True,  # so that it survives this one
                )
                holders.append(holder)
                _file(job, holder.pid).touch(0o600)
            return holders
    except OSError as error:
        for holder in holders:
            holder.terminate()
        raise ServingError(
            f"cannot keep a detached server's files in {first.home}: {error.strerror}; "
            "set CONTESTED_HOME to a folder you can write to"
        ) from error


def turn(job: Job, on_wait: Callable[[], object]) -> ExitStack:
    """Wait until no other server is starting on its GPUs; closing the result lets others start.

    vLLM measures free memory at startup, and would count another server's as its own.
    """
    held = ExitStack()
    for gpu in sorted(job.seat.gpus) if job.seat else ():  # always in the same order
        lock = job.home / "servers" / f"{gpu.replace('/', '-')}.lock"
        held.enter_context(alone(lock, on_wait))
    return held


def hold(job: Job) -> None:
    """Hold a server until it is stopped, its owner has ended, or it is given up.

    Raises:
        ServingError: It did not start, or failed too often in a row.
        OSError: The machine cannot start a process, or the job's files cannot be written.
        SystemExit: It was stopped, or its owner has ended.
    """
    reported = Note()

    def tell(status: str, endpoints: tuple[Endpoint, ...] = ()) -> None:
        nonlocal reported
        note = Note(status=f"{job.name}: {status}", endpoints=endpoints)
        if note != reported:
            reported = note
            write(_file(job, os.getpid()), note.model_dump_json(indent=2))

    def end(*_: object) -> None:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
        # No one may query a stopping server, or start another until it is gone.
        with suppress(OSError):
            tell("stopping")
        sys.exit()

    for number in ENDING:
        signal.signal(number, end)
    server, waiting = serve(job), "another server is starting on its GPU; waiting"
    with closing(server), turn(job, lambda: tell(waiting)) as held:
        for status, endpoint in server:
            tell(status, (endpoint,) if endpoint else ())
            if endpoint:
                held.close()
            if job.owner is not None and not lives(job.owner):
                end()


def main() -> None:
    """Hold the server that the only argument describes; tell the waiting process why it ends."""
    go_offline()
    job, failure = Job.model_validate_json(sys.argv[1]), "the start was stopped"
    try:
        hold(job)
    except (ServingError, OSError) as error:
        # The file stays until the process is gone, so that a failed replica is not forgotten.
        failure = str(error)
        print(f"{time.ctime()}: {failure}", file=sys.stderr, flush=True)
    except SystemExit:
        _file(job, os.getpid()).unlink(missing_ok=True)
    with suppress(OSError):  # nobody waits any more
        os.write(sys.stdout.fileno(), failure.encode())


if __name__ == "__main__":
    main()
