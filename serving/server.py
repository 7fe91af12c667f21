"""Starts, watches, restarts and stops vLLM's OpenAI-compatible server on this machine."""

import asyncio
import contextlib
import secrets
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Self

from serving import guard
from serving.command import HOST, command
from serving.cores import threads
from serving.endpoint import Endpoint, answers
from serving.errors import ServingError
from serving.gpus import ORDER
from serving.home import default_home, opened_to_append
from serving.models import Model
from serving.offline import server_environment
from serving.placement import Seat
from serving.profile import EngineOptions
from serving.startup import Progress, explain
from serving.turns import turn

_GRACE_S = 8.0
"""Seconds between TERM and KILL: vLLM takes up to 5 to stop its engine."""


@dataclass(frozen=True)
class Restarts:
    """When a crashed server is started again, and when it is given up.

    Attributes:
        first_s: Seconds before the first restart; doubled with every further quick failure.
        longest_s: The longest such pause.
        quick_s: A server that ran for fewer seconds failed quickly.
        most: Quick failures in a row after which the server is given up.
    """

    first_s: float = 1.0
    longest_s: float = 30.0
    quick_s: float = 120.0
    most: int = 4


@dataclass(eq=False)
class LocalServer:
    """One vLLM server that this process owns, on the loopback address and behind a random key.

    Once started it is watched: if it crashes it is started again on the same port with the same
    key. It ends with `stop()`, and also when this process dies in whatever way.

    Example:
        async with LocalServer(model, options, Path("logs/judge.log")) as server:
            print(server.endpoint.url)

    Attributes:
        log_path: File that the server's output is added to; its folder is made.
        port: Port to use; a free one if None.
        environment: Variables for the server on top of `server_environment()`.
        on_status: Called with a few words whenever the start reaches a new stage, and at a crash.
        program: Makes the command for a port, in place of vLLM's.
        failure: Why the server was given up; None as long as it was not.
    """

    model: Model
    options: EngineOptions
    log_path: Path
    _: KW_ONLY
    port: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    on_status: Callable[[str], None] = lambda _: None
    restarts: Restarts = Restarts()
    program: Callable[[int], Sequence[str]] | None = None

    def __post_init__(self) -> None:
        self.failure: ServingError | None = None
        self._key = secrets.token_urlsafe(32)
        self._reserved: socket.socket | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._over = asyncio.Event()
        self._log_offset = 0
        self._healthy_since = 0.0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def endpoint(self) -> Endpoint:
        """Where the server answers. Raises ServingError if it was not started."""
        return Endpoint(f"http://{HOST}:{self._bound_port()}/v1", self._key, self.model.name)

    @property
    def pid(self) -> int | None:
        """Id of the guard process above the server; None while there is none."""
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Starts the server and returns when it answers; a ServingError says why not."""
        self._reserved = _reserve(self.port)
        try:
            process = await self._launch()
        except BaseException:
            await self.stop()
            raise
        self._watch = asyncio.create_task(self._keep_running(process))

    async def stop(self) -> None:
        """Stops the server and all its processes; does nothing if it does not run."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
            self._watch = None
        await self._end()
        if self._reserved is not None:
            self._reserved.close()
            self._reserved = None
        self._give_up("was stopped")

    async def wait_ready(self) -> None:
        """Returns as soon as the server answers. ServingError if it was given up or stopped."""
        while True:
            await self._settled.wait()
            if self.failure is not None:
                raise self.failure
            # A crash may not have been noticed yet: vLLM outlives its engine by some seconds.
            if await self._answers():
                return
            await asyncio.sleep(0.5)

    async def until_given_up(self) -> ServingError:
        """Returns why, once the server crashed too often to be started again, or was stopped."""
        await self._over.wait()
        return self.failure or ServingError(f"the server of {self.model.name} is over")

    def _bound_port(self) -> int:
        if self._reserved is None:
            raise ServingError(f"the server of {self.model.name} is not started")
        return int(self._reserved.getsockname()[1])

    def _give_up(self, reason: str) -> None:
        self.failure = self.failure or ServingError(f"the server of {self.model.name} {reason}")
        self._over.set()
        self._settled.set()

    async def _launch(self) -> asyncio.subprocess.Process:
        """Starts the process under its guard and waits for the first answer."""
        port = self._bound_port()
        line = self.program(port) if self.program else command(self.model, self.options, port)
        environment = {**variables(self.options, self._key), **self.environment}
        try:
            with opened_to_append(self.log_path) as log:
                self._log_offset = log.tell()
                # By path, isolated and without site: the guard starts in no time, whatever the
                # working directory and the environment hold.
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-ISs", guard.__file__, "--grace", str(_GRACE_S), "--"),
                    *line,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=log,
                    stderr=asyncio.subprocess.STDOUT,
                    env=environment,
                    start_new_session=True,
                )
        except OSError as error:
            raise ServingError(f"no server with log {self.log_path}: {error.strerror}") from error
        await self._until_healthy(self._process)
        return self._process

    async def _until_healthy(self, process: asyncio.subprocess.Process) -> None:
        progress = Progress(self.log_path, self._log_offset)
        self.on_status("starting")
        deadline = time.monotonic() + self.options.start_timeout_s
        while True:
            ready = await self._answers()
            # After asking: what came before the answer is not left out.
            for stage in progress.news():
                self.on_status(stage)
            if ready:
                break
            if process.returncode is not None:
                raise ServingError(
                    f"the server of {self.model.name} did not start: "
                    f"{explain(self.log_path, self._log_offset, process.returncode)}"
                )
            if time.monotonic() > deadline:
                raise ServingError(
                    f"the server of {self.model.name} did not answer within "
                    f"{self.options.start_timeout_s:g} s (start_timeout_s in the profile); "
                    f"{explain(self.log_path, self._log_offset, None)}"
                )
            await asyncio.sleep(0.2)
        self._healthy_since = time.monotonic()
        self._settled.set()
        self.on_status("ready")

    async def _answers(self) -> bool:
        """Whether the server is healthy and ours: it takes our key and names our model."""
        return await answers(self.endpoint)

    async def _keep_running(self, process: asyncio.subprocess.Process) -> None:
        """Restarts the server after each crash until it fails too often."""
        rules, failures = self.restarts, 0
        while True:
            code = await process.wait()
            self._settled.clear()
            if time.monotonic() - self._healthy_since > rules.quick_s:
                failures = 0
            reason = explain(self.log_path, self._log_offset, code)
            while True:
                failures += 1
                if failures >= rules.most:
                    self._give_up(f"failed {failures} times in a row and is given up: {reason}")
                    return
                pause = min(rules.first_s * 2 ** (failures - 1), rules.longest_s)
                self.on_status(f"crashed (exit code {code}), restarting in {pause:g} s")
                await asyncio.sleep(pause)
                try:
                    process = await self._launch()
                    break
                except ServingError as error:
                    await self._end()
                    reason = str(error)

    async def _end(self) -> None:
        """Ends the process tree; the guard does the work."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(asyncio.shield(process.wait()), _GRACE_S + 12)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def variables(options: EngineOptions, key: str) -> dict[str, str]:
    """The environment of a model's server: nothing that leads elsewhere, its key and its tuning."""
    return server_environment() | {
        "VLLM_API_KEY": key,
        **({} if options.on_gpus else threads(options.cpu_threads)),
        # Even eager vLLM compiles a function of its sampler at the first label request, which
        # takes 15 s on a small CPU and needs a C++ compiler.
        **({"TORCH_COMPILE_DISABLE": "1"} if options.enforce_eager else {}),
        "VLLM_ENGINE_READY_TIMEOUT_S": str(int(options.start_timeout_s) + 1),
        **options.environment,
    }


async def start_all(
    model: Model,
    options: EngineOptions,
    log_dir: Path,
    *,
    seats: Sequence[Seat] = (),
    port: int | None = None,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[LocalServer]:
    """Starts all replicas of a model at the same time, each on its share of the machine.

    Args:
        model: What to serve.
        options: How to run it; on a CPU, `replicas` says how many.
        seats: On GPUs, the place of each replica; see `serving.placement`.
        log_dir: Folder of the logs, one `MODEL.log` or `MODEL-N.log` each.
        port: Port of the first; the others count up from it. Free ones if None.
        on_status: As in `LocalServer`.

    Raises:
        ServingError: One of them did not start; the others are stopped.
    """
    stem = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in model.name)
    servers = []
    places = _places(options, seats)
    for number, (own, environment) in enumerate(places):
        suffix = f"-{number + 1}" if len(places) > 1 else ""
        servers.append(
            LocalServer(
                model,
                own,
                log_dir / f"{stem}{suffix}.log",
                port=None if port is None else port + number,
                environment=environment,
                on_status=lambda text, name=f"{model.name}{suffix}": on_status(f"{name}: {text}"),  # type: ignore[misc]
            )
        )
    try:
        async with asyncio.TaskGroup() as starts:
            for number, server in enumerate(servers):
                starts.create_task(_start(server, seats[number].gpus if seats else ()))
    except BaseException as error:
        await asyncio.gather(*(server.stop() for server in servers))
        raise error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error from None
    return servers


async def _start(server: LocalServer, gpus: Sequence[str]) -> None:
    """Starts a server when no other starts on its GPUs.

    vLLM measures what memory is left while it starts, and takes another's for its own.
    """
    async with contextlib.AsyncExitStack() as turns:
        for gpu in sorted(gpus):  # all in one order, so that no two wait for each other
            lock = default_home() / "servers" / f"{gpu.replace('/', '-')}.lock"
            await turns.enter_async_context(
                turn(lock, lambda: server.on_status("another server starts on its GPU; waiting"))
            )
        await server.start()


def _places(
    options: EngineOptions, seats: Sequence[Seat]
) -> list[tuple[EngineOptions, dict[str, str]]]:
    """The part of the machine that each replica gets, as options and environment."""
    if options.on_gpus:
        return [
            (
                options.model_copy(update={"gpu_memory_share": seat.share}),
                {**ORDER, "CUDA_VISIBLE_DEVICES": ",".join(seat.gpus)},
            )
            for seat in seats
        ]
    count = options.least_replicas
    shares = [threads(options.cpu_threads, replica=n, replicas=count) for n in range(count)]
    return [(options, share) for share in shares]


def _reserve(port: int | None) -> socket.socket:
    """Binds a port without listening, so that nobody else is given it while the server is away.

    The server can bind it all the same, as both allow the reuse of an address that no one listens
    on.
    """
    reserved = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        reserved.bind((HOST, port or 0))
    except OSError as error:
        reserved.close()
        raise ServingError(
            f"port {port} on {HOST} cannot be used ({error.strerror}); choose another with --port, "
            "or leave --port out"
        ) from error
    return reserved
