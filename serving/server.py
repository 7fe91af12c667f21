"""Starts, watches, restarts and stops vLLM's OpenAI-compatible server on this machine."""

import asyncio
import contextlib
import fcntl
import secrets
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from serving import guard
from serving.command import HOST, command
from serving.endpoint import Endpoint, answers
from serving.errors import ServingError
from serving.gpus import ORDER
from serving.home import default_home, opened_to_append
from serving.models import Model
from serving.offline import server_environment
from serving.placement import Seat
from serving.processor import threads
from serving.profile import EngineOptions
from serving.startup import Progress, explain

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

    Attributes:
        log_path: File that the server's output is added to; its folder is made.
        port: Port to use; a free one if None.
        environment: Variables for the server on top of `server_environment()`.
        on_status: Called with a few words whenever the start reaches a new stage, and at a crash.
        failure: Why the server was given up; None as long as it was not.
    """

    model: Model
    options: EngineOptions
    log_path: Path
    port: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    on_status: Callable[[str], None] = lambda _: None
    restarts: Restarts = Restarts()

    def __post_init__(self) -> None:
        self.failure: ServingError | None = None
        self._key = secrets.token_urlsafe(32)
        self._reserved: socket.socket | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._log_offset = 0

    @property
    def endpoint(self) -> Endpoint:
        """Where the server answers. Raises ServingError if it was not started."""
        return Endpoint(f"http://{HOST}:{self._port()}/v1", self._key, self.model.name)

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
        self._give_up("was stopped")
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
        await self._end()
        if self._reserved is not None:
            self._reserved.close()
            self._reserved = None

    async def wait_ready(self) -> None:
        """Returns as soon as the server answers. ServingError if it was given up or stopped."""
        while not await answers(self.endpoint):
            if self.failure is not None:
                raise self.failure
            await asyncio.sleep(0.5)

    async def until_given_up(self) -> ServingError:
        """Returns why, once the server crashed too often to be started again, or was stopped."""
        if self._watch is not None:
            await asyncio.wait([self._watch])
        return self.failure or self._error("is not started")

    def _port(self) -> int:
        if self._reserved is None:
            raise self.failure or self._error("is not started")
        return int(self._reserved.getsockname()[1])

    def _error(self, reason: str) -> ServingError:
        return ServingError(f"the server of {self.model.name} {reason}")

    def _give_up(self, reason: str) -> None:
        self.failure = self.failure or self._error(reason)

    async def _launch(self) -> asyncio.subprocess.Process:
        """Starts the process under its guard and waits for the first answer."""
        line = command(self.model, self.options, self._port())
        with opened_to_append(self.log_path) as log:
            self._log_offset = log.tell()
            # By path, isolated and without site: the guard starts in no time, whatever the working
            # directory and the environment hold.
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-ISs", guard.__file__, str(_GRACE_S)),
                *line,
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=asyncio.subprocess.STDOUT,
                env={**variables(self.options, self._key), **self.environment},
                start_new_session=True,
            )
        await self._until_healthy(self._process)
        return self._process

    async def _until_healthy(self, process: asyncio.subprocess.Process) -> None:
        """Waits until the server takes our key and names our model."""
        progress = Progress(self.log_path, self._log_offset)
        self.on_status("starting")
        limit = self.options.start_timeout_s
        deadline = time.monotonic() + limit
        while True:
            ready = await answers(self.endpoint)
            # After asking: what came before the answer is not left out.
            for stage in progress.news():
                self.on_status(stage)
            if ready:
                self.on_status("ready")
                return
            code = process.returncode
            if code is not None or time.monotonic() > deadline:
                late = f"did not answer within {limit:g} s (start_timeout_s in the profile); "
                said = explain(self.log_path, self._log_offset, code)
                raise self._error((late if code is None else "did not start: ") + said)
            await asyncio.sleep(0.2)

    async def _keep_running(self, process: asyncio.subprocess.Process | None) -> None:
        """Restarts the server after each crash until it fails too often."""
        rules, failures, reason, code = self.restarts, 0, "", 0
        while True:
            if process is not None:
                healthy_since = time.monotonic()
                code = await process.wait()
                if time.monotonic() - healthy_since > rules.quick_s:
                    failures = 0
                reason = explain(self.log_path, self._log_offset, code)
            failures += 1
            if failures >= rules.most:
                self._give_up(f"failed {failures} times in a row and is given up: {reason}")
                return
            pause = min(rules.first_s * 2 ** (failures - 1), rules.longest_s)
            self.on_status(f"crashed (exit code {code}), restarting in {pause:g} s")
            await asyncio.sleep(pause)
            try:
                process = await self._launch()
            except (ServingError, OSError) as error:
                await self._end()
                process, reason = None, str(error)

    async def _end(self) -> None:
        """Ends the process tree; the guard does the work."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(asyncio.shield(process.wait()), _GRACE_S + 12)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


ON_GPUS: Mapping[str, str] = {
    # FlashInfer compiles both with nvcc at first use, and vLLM's warm-up uses the sampler; a
    # machine with a driver has no nvcc. No request of ours filters by top-p or top-k.
    "VLLM_USE_FLASHINFER_SAMPLER": "0",
    "VLLM_ALLREDUCE_USE_FLASHINFER": "0",
    **ORDER,
}
"""Set in servers on GPUs, unless the profile's `environment` says otherwise."""


def variables(options: EngineOptions, key: str) -> dict[str, str]:
    """The environment of a model's server: nothing that leads elsewhere, its key and its tuning."""
    return server_environment() | {
        "VLLM_API_KEY": key,
        **(ON_GPUS if options.on_gpus else threads(options.cpu_threads)),
        # Even eager vLLM compiles a function of its sampler at the first label request, which
        # takes 15 s on a small CPU and needs a C++ compiler.
        **({"TORCH_COMPILE_DISABLE": "1"} if options.enforce_eager else {}),
        **({"VLLM_BATCH_INVARIANT": "1"} if options.batch_invariant else {}),
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
    count = len(seats) or options.least_replicas
    for n in range(count):
        if seats:
            place = options.model_copy(update={"gpu_memory_share": seats[n].share})
            environment = {"CUDA_VISIBLE_DEVICES": ",".join(seats[n].gpus)}
        else:
            place = options
            environment = threads(options.cpu_threads, replica=n, replicas=count)
        suffix = f"-{n + 1}" if count > 1 else ""
        servers.append(
            LocalServer(
                model,
                place,
                log_dir / f"{stem}{suffix}.log",
                port=None if port is None else port + n,
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


@contextlib.asynccontextmanager
async def turn(file: Path, on_wait: Callable[[], None]) -> AsyncIterator[None]:
    """Waits until no other process is within the same file's turn; `on_wait` is told of a wait.

    The kernel ends the turn of a process that dies. The file and its folder are made.
    """
    with opened_to_append(file) as lock:
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    on_wait()
                told = True
            await asyncio.sleep(0.2)
        yield


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
