"""Servers that outlive the command that started them: start, find, list, stop.

A detached server is a process of its own (`python -m serving.detached`) that holds the servers of
one model like any other owner does: it restarts them, and they die with it. What others need to
find it stands in `HOME/servers/*.json`, readable by its user alone, since the key is in it.

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

from serving.command import engine_version
from serving.endpoint import Endpoint, answers
from serving.errors import ServingError
from serving.home import default_home
from serving.models import Model
from serving.offline import go_offline
from serving.placement import Seat
from serving.profile import EngineOptions
from serving.server import start_all

_MODULE = "serving.detached"
_STOP_S = 40.0
_LOOK_EVERY_S = 0.5


class State(BaseModel):
    """What a detached server says of itself.

    Attributes:
        digest, options: Digests of the model it serves and of the engine options.
        pid, started: The process that holds the servers, and when it began, in epoch seconds.
        urls, keys: Base address and key of each replica.
        logs: Folder of their logs.
        owner: The process that it runs for; None if it runs until it is stopped.
        seats: What it holds of which GPUs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    digest: str
    options: str
    engine: str
    pid: int
    started: float
    urls: tuple[str, ...]
    keys: tuple[str, ...]
    logs: Path
    owner: int | None = None
    seats: tuple[Seat, ...] = ()

    def endpoints(self) -> list[Endpoint]:
        """Where it answers."""
        return [Endpoint(*own, self.model) for own in zip(self.urls, self.keys, strict=True)]

    def alive(self) -> bool:
        """Whether its process still is the one that wrote this."""
        try:
            process = psutil.Process(self.pid)
            return (
                process.status() != psutil.STATUS_ZOMBIE
                # The clock may have been set since; the command line settles what is left open.
                and abs(process.create_time() - self.started) < 60
                and _MODULE in process.cmdline()
            )
        except psutil.Error:
            return False


class _Job(BaseModel):
    """What the process is started with, on its command line; no secrets."""

    model: Model
    options: EngineOptions
    port: int | None
    home: Path
    logs: Path
    owner: int | None
    seats: tuple[Seat, ...]


def running(home: Path | None = None) -> list[State]:
    """All detached servers whose process lives, by model name; files of dead ones are removed."""
    found = []
    for file in sorted(_folder(home).glob("*.json")):
        try:
            state = State.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            state = None
        if state is not None and state.alive():
            found.append(state)
        else:
            file.unlink(missing_ok=True)
    return found


def find(digest: str, options: EngineOptions, home: Path | None = None) -> list[Endpoint]:
    """The endpoints, those that answer, of a detached server of exactly this model and options.

    One that runs for another process is passed over: it may end at any time.
    """
    for state in running(home):
        same = (state.digest, state.options) == (digest, options.digest()) and _same_engine(state)
        if not same or state.owner not in (None, os.getpid()):
            continue
        if healthy := [one for one in state.endpoints() if answers(one)]:
            return healthy
    return []


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
    """Starts a detached server, or finds the one that already runs; cancelled, it leaves none.

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
    if already := await asyncio.to_thread(find, model.digest, options, home):
        return already
    process = _spawn(
        _Job(
            model=replace(model, path=model.path.absolute()),
            options=options,
            port=port,
            home=home,
            logs=(logs or home / "logs").absolute(),
            owner=owner,
            seats=tuple(seats),
        )
    )
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
        raise
    finally:
        lines.close()
    process.wait()
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


def log_path(home: Path | None = None) -> Path:
    """Where the processes that hold servers say what went wrong."""
    return (home or default_home()) / "logs" / "detached.log"


def _spawn(job: _Job) -> "subprocess.Popen[str]":
    """Starts the process in a session of its own, so that it survives this one."""
    root = str(Path(__file__).absolute().parent.parent)
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    try:
        folder = _folder(job.home)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        log_path(job.home).parent.mkdir(parents=True, exist_ok=True)
        with log_path(job.home).open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-P", "-m", _MODULE, job.model_dump_json()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
    except OSError as error:
        raise ServingError(
            f"cannot keep a detached server's files in {job.home}: {error.strerror}; "
            "set CONTESTED_HOME to a folder you can write to"
        ) from error


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

    watch = asyncio.create_task(_end_with(job.owner, this)) if job.owner is not None else None
    model = job.model
    servers = await start_all(
        model,
        job.options,
        job.logs,
        seats=job.seats,
        port=job.port,
        on_status=lambda text: tell(status=text),
    )
    file = _folder(job.home) / f"{servers[0].log_path.stem}-{os.getpid()}.json"
    try:
        endpoints = [server.endpoint for server in servers]
        state = State(
            model=model.name,
            digest=model.digest,
            options=job.options.digest(),
            engine=engine_version(),
            pid=os.getpid(),
            started=psutil.Process().create_time(),
            urls=tuple(one.url for one in endpoints),
            keys=tuple(one.key for one in endpoints),
            logs=job.logs,
            owner=job.owner,
            seats=job.seats,
        )
        _write_private(file, state.model_dump_json(indent=2))
        tell(ready=state.model_dump(mode="json"))
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        for failure in await asyncio.gather(*(server.until_given_up() for server in servers)):
            print(f"{time.ctime()}: {failure}", file=sys.stderr, flush=True)
    finally:
        if watch is not None:
            watch.cancel()
        file.unlink(missing_ok=True)
        await asyncio.gather(*(server.stop() for server in servers))


async def _end_with(owner: int, holder: "asyncio.Task[None]") -> None:
    """Cancels the holder once the owner has ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(owner)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_EVERY_S)
    holder.cancel()


def _write_private(file: Path, text: str) -> None:
    """Writes a file that only its user can read, in one step."""
    fresh = file.with_suffix(".tmp")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    fresh.replace(file)


def main() -> NoReturn:
    """Holds the servers that the one argument describes."""
    go_offline()
    try:
        asyncio.run(_hold(_Job.model_validate_json(sys.argv[1])))
    except ServingError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        sys.exit(2)
    except asyncio.CancelledError:
        sys.exit(0)
    sys.exit(1)


if __name__ == "__main__":
    main()
