"""A local server: its start, its failures, its restarts, and that nothing of it is left.

The fast tests put a small HTTP server in vLLM's place; those marked `real_server` run vLLM.
"""

import asyncio
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from serving import server as module
from serving.detached import lives
from serving.endpoint import Endpoint, PassingError, answers, open_session, page
from serving.errors import ServingError
from serving.installed import DRIVER
from serving.models import Model
from serving.placement import Seat
from serving.profile import EngineOptions
from serving.server import HINTS, LocalServer, explain, replicas, stage

# Answers like vLLM where it matters: /health for all, /v1/models for those who have the key. It has
# a process beside it, which it leaves behind; told "deaf", both ignore TERM.
STAND_IN = """
import http.server, json, os, signal, subprocess, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        authorized = self.headers.get("Authorization") == "Bearer " + os.environ["VLLM_API_KEY"]
        if self.path == "/die":
            os._exit(1)
        self.send_response(200 if self.path == "/health" or authorized else 401)
        self.end_headers()
        if authorized:
            self.wfile.write(json.dumps({"data": [{"id": "m"}]}).encode())

    def log_message(self, *_):
        pass

if __name__ == "__main__":
    if sys.argv[2:] == ["deaf"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "60"])
    print("INFO 01-01 00:00:00 [x.py:1] Starting to load model /models/m...", flush=True)
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

Make = Callable[..., LocalServer]
"""Made in a running event loop."""

OPTIONS = EngineOptions(start_timeout_s=20)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return Model(name="m", path=tmp_path / "m", digest="0" * 64)


@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[[int], list[str]]:
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)
    return lambda port: [sys.executable, str(script), str(port)]


@pytest.fixture
def make(
    model: Model,
    stand_in: Callable[[int], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Make:
    """Makes a server of the stand-in, unless told of another program."""

    def made(
        options: EngineOptions = OPTIONS,
        log: str = "m.log",
        program: Callable[[int], list[str]] = stand_in,
        **how: Any,
    ) -> LocalServer:
        monkeypatch.setattr("serving.server.command", lambda _model, _options, port: program(port))
        return LocalServer(model, options, tmp_path / log, **how)

    return made


@asynccontextmanager
async def running(server: LocalServer) -> AsyncIterator["asyncio.Task[None]"]:
    """The server from its start to its end."""
    run = asyncio.create_task(server.run())
    try:
        await asyncio.wait([run, server.ready], return_when=asyncio.FIRST_COMPLETED)
        await server.ready
        yield run
    finally:
        run.cancel()
        await asyncio.wait([run])


def saying(text: str, code: int = 1) -> Callable[[int], list[str]]:
    """A program that prints a log and ends."""
    script = f"import sys; print({text!r}); sys.exit({code})"
    return lambda _: [sys.executable, "-c", script]


def family() -> list[psutil.Process]:
    """What this process started and what that started, in processes that run."""
    return [one for one in psutil.Process().children(recursive=True) if lives(one.pid)]


async def crash(server: LocalServer) -> None:
    """Makes the stand-in end in the middle of a request."""
    async with open_session(server.endpoint) as session:
        with pytest.raises(PassingError):
            await page(session, f"{server.endpoint.root}/die")


async def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.02)


# --- start and stop ----------------------------------------------------------------------------


async def test_it_starts_answers_and_leaves_nothing(make: Make, tmp_path: Path) -> None:
    said: list[str] = []
    server = make(log="logs/m.log", on_status=said.append)
    async with running(server):
        endpoint = server.endpoint
        processes = family()
        assert len(processes) == 2
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", endpoint.url)
        assert len(endpoint.key) >= 32
        assert await answers(endpoint)
        assert not await answers(Endpoint(endpoint.url, "wrong", "m"))
        assert all(endpoint.key not in " ".join(one.cmdline()) for one in processes)
    assert not any(lives(one.pid) for one in processes)
    assert said == ["starting", "loading weights", "ready"]
    assert "Starting to load" in (tmp_path / "logs" / "m.log").read_text()


async def test_what_ignores_a_term_is_killed(
    make: Make, stand_in: Callable[[int], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_S", 0.2)
    monkeypatch.setattr(module, "LEFT_S", 0.2)
    async with running(make(program=lambda port: [*stand_in(port), "deaf"])):
        processes = family()
        assert len(processes) == 2
    assert not any(lives(one.pid) for one in processes)


async def test_a_port_that_is_taken_is_named_before_anything_starts(
    make: Make, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ServingError, match=f"port {port} on 127.0.0.1 .* with --port"):
            await make(port=port).run()
    assert not (tmp_path / "m.log").exists()


async def test_somebody_elses_server_is_not_taken_for_ours(make: Make, tmp_path: Path) -> None:
    """A healthy server on our port that does not know our key does not count."""
    script = tmp_path / "other.py"
    script.write_text(STAND_IN.replace('os.environ["VLLM_API_KEY"]', '"another key"'))
    program = lambda port: [sys.executable, str(script), str(port)]  # noqa: E731
    server = make(EngineOptions(start_timeout_s=1), program=program)
    with pytest.raises(ServingError, match=r"did not answer within 1 s \(start_timeout_s"):
        await server.run()
    assert family() == []


async def test_a_start_that_is_cancelled_leaves_nothing(make: Make) -> None:
    start = asyncio.create_task(make(program=lambda _: ["sleep", "60"]).run())
    await until(lambda: any("sleep" in one.cmdline() for one in family()))
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert family() == []


async def test_replicas_have_ports_logs_names_and_gpus_of_their_own(
    model: Model, tmp_path: Path
) -> None:
    said: list[str] = []
    seats = [Seat(gpus=(f"GPU-{n}",), gib=20, share=0.8 + n / 10) for n in range(2)]
    servers = replicas(model, OPTIONS, tmp_path, seats=seats, port=8000, on_status=said.append)
    assert [
        (
            *(server.port, server.log_path.name, server.options.gpu_memory_share),
            *server.gpus,
        )
        for server in servers
    ] == [(8000, "m-1.log", 0.8, "GPU-0"), (8001, "m-2.log", 0.9, "GPU-1")]
    servers[1].on_status("ready")
    assert said == ["m-2: ready"]


# --- crashes -----------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(module, "MOST_FAILURES", 3)


@pytest.mark.usefixtures("quick")
async def test_a_crashed_server_comes_back_at_the_same_address(make: Make) -> None:
    said: list[str] = []
    server = make(on_status=said.append)
    async with running(server):
        before = server.endpoint
        for times in (2, 3):
            await crash(server)
            await until(lambda: said.count("ready") == times)  # noqa: B023 - waited for at once
            assert server.endpoint == before
            assert await answers(before)
            assert len(family()) == 2, "what a crash left behind is ended"
    assert "crashed, restarting in 0.05 s" in said
    assert "crashed, restarting in 0.1 s" in said


@pytest.mark.usefixtures("quick")
async def test_a_server_that_keeps_crashing_is_given_up_with_the_reason(
    make: Make, stand_in: Callable[[int], list[str]], tmp_path: Path
) -> None:
    flag = tmp_path / "broken"

    def program(port: int) -> list[str]:
        return saying("RuntimeError: CUDA out of memory")(port) if flag.exists() else stand_in(port)

    server = make(program=program)
    async with running(server) as run:
        flag.touch()
        await crash(server)
        with pytest.raises(
            ServingError, match=r"failed 3 times in a row and is given up: .*not enough GPU memory"
        ):
            await asyncio.wait_for(run, 10)


async def test_a_stop_during_a_restart_is_final(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 30)
    said: list[str] = []
    server = make(on_status=said.append)
    async with asyncio.timeout(15), running(server):
        await crash(server)
        await until(lambda: said[-1].startswith("crashed"))
    assert family() == []


# --- what a failed start says ------------------------------------------------------------------

# What vLLM 0.32, torch, triton and FlashInfer write, shortened; log -> (part of the remedy, part of
# the log shown).
FAILURES = {
    "(EngineCore pid=9) ERROR 01-01 10:00:00 [core.py:9] torch.OutOfMemoryError: CUDA out of "
    "memory. Tried to allocate 20.00 MiB.\n"
    "RuntimeError: Engine core initialization failed. See root cause above.": (
        "not enough GPU memory",
        "the log says: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.;",
    ),
    "ValueError: To serve at least one request with the models's max seq len (131072), (16.0 "
    "GiB KV cache is needed, which is larger than the available KV cache memory (3.1 GiB).": (
        "lower max_model_len or raise kv_cache_gib",
        "131072",
    ),
    "ValueError: Available memory on node 0 (1.2/8.0 GiB) on kv cache allocation is less than "
    "requested memory for kv (4.0 GiB).": ("lower kv_cache_gib", "1.2/8.0"),
    "RuntimeError: The NVIDIA driver on your system is too old (found version 12090). Please "
    "update your GPU driver": (f"update it to {DRIVER} or later", "12090"),
    "/tmp/x/cuda_utils.c:7:10: fatal error: Python.h: No such file or directory\n"
    "subprocess.CalledProcessError: Command '['/usr/bin/gcc', 'x.c']' returned non-zero": (
        "install gcc and python3.",
        "Python.h: No such file",
    ),
    "RuntimeError: Failed to find C compiler. Please specify via CC environment variable": (
        "install gcc and python3.",
        "C compiler",
    ),
    "RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist": (
        "install the toolkit of CUDA 13.0",
        "/usr/local/cuda",
    ),
    "FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'": (
        "install the toolkit of CUDA 13.0",
        "bin/nvcc",
    ),
    "  Value error, torch.float32 is not supported for quantization method quark. Supported "
    "dtypes: [torch.float16, torch.bfloat16] [type=value_error, input_value=1]": (
        "the log says: torch.float32 is not supported",
        "[torch.float16, torch.bfloat16]; whole log",
    ),
    "ValueError: Available memory on node 0 is too low\n"
    "RuntimeError: Worker failed with error 'Available memory on node 0 is too low'": (
        "not enough memory",
        "the log says: ValueError: Available memory on node 0 is too low; whole log",
    ),
    "first\nsecond\nthird\nfourth": ("the log says: second | third | fourth", "fourth"),
}


@pytest.mark.parametrize(("log", "told"), FAILURES.items())
async def test_a_failed_start_says_why_and_what_to_do(
    log: str, told: tuple[str, str], make: Make, tmp_path: Path
) -> None:
    path = tmp_path / "m.log"
    path.write_text("RuntimeError: CUDA out of memory of an earlier start\n")
    with pytest.raises(ServingError) as failed:
        await make(program=saying(log)).run()
    line = str(failed.value)
    assert line.startswith("the server of m did not start: ")
    assert all(part in line for part in told), line
    assert "earlier start" not in line
    assert "\n" not in line
    assert line.endswith(f"whole log: {path}")


async def test_a_start_that_the_kernel_kills_wanted_memory(make: Make) -> None:
    script = f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})"
    with pytest.raises(ServingError, match=r"did not start: .* for want of memory"):
        await make(program=lambda _: [sys.executable, "-c", script]).run()


def test_every_hint_is_reached_by_a_log_we_know() -> None:
    reached = {
        next((HINTS[pattern] for pattern in HINTS if re.search(pattern, log, re.IGNORECASE)), None)
        for log in FAILURES
    }
    assert {*HINTS.values()} <= reached


def test_a_long_line_is_cut_and_a_missing_log_is_borne(tmp_path: Path) -> None:
    path = tmp_path / "m.log"
    assert explain(path, 0, 1) == f"whole log: {path}"
    path.write_text("ValueError: " + "x" * 5000)
    assert len(explain(path, 0, 1)) < 500


def test_the_stage_of_a_start_is_the_last_that_its_log_shows() -> None:
    assert stage("INFO 01-01 10:00:00 [x.py:1] hello\n") is None
    log = "Starting to load model m\nLoading safetensors checkpoint shards:  50% Completed | 1/2\r"
    assert stage(log) == "loading weights, 50 %"
    assert stage(f"{log}\nStarting vLLM server on http://127.0.0.1:1\n") == "opening the port"
