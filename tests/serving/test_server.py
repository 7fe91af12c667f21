"""A server started by this process: its start, failures and restarts, and that nothing is left.

A small HTTP server replaces vLLM.
"""

import asyncio
import re
import socket
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil
import pytest

from serving import server as module
from serving.detached import lives
from serving.endpoint import Endpoint, answers
from serving.errors import ServingError
from serving.installed import DRIVER
from serving.models import Model
from serving.profile import EngineOptions
from serving.server import HINTS, Job, explain, serve

# Answers like vLLM where it matters: /health for everyone, /v1/models with the key. It starts a
# process that it leaves behind; with "deaf", both ignore TERM.
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
    if os.path.exists(__file__ + ".broken"):
        sys.exit("RuntimeError: CUDA out of memory")
    if sys.argv[2:] == ["deaf"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "60"])
    print("INFO 01-01 00:00:00 [x.py:1] Starting to load model /models/m...", flush=True)
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

OPTIONS = EngineOptions(start_timeout_s=20)

Program = Callable[[int], list[str]]
"""Port -> command."""

Family = Callable[[], list[psutil.Process]]

Served = Generator[tuple[str, Endpoint | None], None, None]


@pytest.fixture
def stand_in(tmp_path: Path) -> Program:
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)
    return lambda port: [sys.executable, str(script), str(port)]


@pytest.fixture
def family() -> Family:
    """Programs started during the test by this process and its children, in live processes."""
    me = psutil.Process()
    before = set(me.children(recursive=True))
    return lambda: [one for one in set(me.children(recursive=True)) - before if lives(one.pid)]


@pytest.fixture
def make(
    stand_in: Program, family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Served]]:
    """Create servers of the stand-in, or of another program; none is left afterwards."""
    made: list[Served] = []

    def served(options: EngineOptions = OPTIONS, program: Program = stand_in, **how: Any) -> Served:
        monkeypatch.setattr(module, "command", lambda _model, _options, port: program(port))
        model = Model(name="m", path=tmp_path / "m", digest="0" * 64)
        how |= {"engine": "e", "home": tmp_path, "logs": tmp_path}
        made.append(serve(Job(model=model, options=options, **how)))
        return made[-1]

    yield served
    for server in made:
        server.close()
    assert family() == []


def until(server: Served, wanted: str) -> tuple[list[str], Endpoint]:
    """A server's messages up to the wanted one, and its endpoint."""
    said: list[str] = []
    for status, endpoint in server:
        if status not in said[-1:]:
            said.append(status)
        if status.startswith(wanted) and endpoint is not None:
            return said, endpoint
    raise AssertionError(said)


def answering(endpoint: Endpoint) -> bool:
    return asyncio.run(answers(endpoint))


def crash(endpoint: Endpoint) -> None:
    """Make the stand-in exit in the middle of a request."""
    with pytest.raises(ConnectionError):
        urlopen(f"{endpoint.root}/die", timeout=10)


# --- start and stop ----------------------------------------------------------------------------


def test_it_starts_and_answers_who_has_the_key(
    make: Callable[..., Served], family: Family, tmp_path: Path
) -> None:
    said, endpoint = until(make(), "ready")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", endpoint.url)
    assert len(endpoint.key) >= 32
    assert answering(endpoint)
    assert not answering(Endpoint(endpoint.url, "wrong", "m"))
    processes = family()
    assert len(processes) == 2
    assert all(endpoint.key not in " ".join(one.cmdline()) for one in processes)
    assert said in (["starting", "ready"], ["starting", "loading weights", "ready"])
    assert "Starting to load" in (tmp_path / "m.log").read_text()


def test_what_ignores_a_term_is_killed(
    make: Callable[..., Served], family: Family, stand_in: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_S", 0.2)
    monkeypatch.setattr(module, "LEFT_S", 0.2)
    until(make(program=lambda port: [*stand_in(port), "deaf"]), "ready")
    assert len(family()) == 2


def test_a_port_that_is_taken_is_named_before_anything_starts(
    make: Callable[..., Served], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ServingError, match=f"port {port} on 127.0.0.1 .* with --port"):
            next(make(port=port))
    assert not (tmp_path / "m.log").exists()


def test_somebody_elses_server_is_not_taken_for_ours(
    make: Callable[..., Served], tmp_path: Path
) -> None:
    """A healthy server on our port that does not know our key does not count."""
    script = tmp_path / "other.py"
    script.write_text(STAND_IN.replace('os.environ["VLLM_API_KEY"]', '"another key"'))
    program = lambda port: [sys.executable, str(script), str(port)]  # noqa: E731
    with pytest.raises(ServingError, match=r"did not answer within 1 s \(start_timeout_s"):
        until(make(EngineOptions(start_timeout_s=1), program), "ready")


# --- crashes -----------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(module, "MOST_FAILURES", 3)


@pytest.mark.usefixtures("quick")
def test_a_crashed_server_comes_back_at_the_same_address(
    make: Callable[..., Served], family: Family
) -> None:
    server = make()
    _, before = until(server, "ready")
    for pause in ("0.05", "0.1"):
        crash(before)
        assert until(server, f"crashed, restarting in {pause} s")[1] == before
        assert until(server, "ready")[1] == before
        assert answering(before)
        assert len(family()) == 2, "what a crash left behind is ended"


@pytest.mark.usefixtures("quick")
def test_a_server_that_keeps_crashing_is_given_up_with_the_reason(
    make: Callable[..., Served], tmp_path: Path
) -> None:
    server = make()
    _, endpoint = until(server, "ready")
    (tmp_path / "stand_in.py.broken").touch()
    crash(endpoint)
    with pytest.raises(
        ServingError, match=r"failed 3 times in a row and is given up: .*not enough GPU memory"
    ):
        until(server, "never")


# --- messages of a failed start ----------------------------------------------------------------

# Output of vLLM 0.32, torch, triton and FlashInfer, shortened; log -> (part of the remedy, part of
# the log shown).
FAILURES = {
    "(EngineCore pid=9) ERROR 01-01 10:00:00 [core.py:9] torch.OutOfMemoryError: CUDA out of "
    "memory. Tried to allocate 20.00 MiB.\n"
    "RuntimeError: Engine core initialization failed. See root cause above.": (
        "not enough GPU memory",
        "the log says: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. |",
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
    "RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist": (
        "install the CUDA 13.0 toolkit",
        "/usr/local/cuda",
    ),
    "  Value error, torch.float32 is not supported for quantization method quark. Supported "
    "dtypes: [torch.float16, torch.bfloat16]": (
        "the log says: Value error, torch.float32 is not supported",
        "[torch.float16, torch.bfloat16]; full log",
    ),
    "first\nsecond\nthird\nfourth": ("the log says: second | third | fourth", "fourth"),
}


@pytest.mark.parametrize(("log", "told"), FAILURES.items())
def test_a_failed_start_says_why_and_what_to_do(
    log: str, told: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "m.log"
    earlier = "RuntimeError: CUDA out of memory of an earlier start\n"
    path.write_text(f"{earlier}{log}\n")
    line = explain(path, len(earlier), 1)
    assert all(part in line for part in told), line
    assert "earlier start" not in line
    assert "\n" not in line
    assert line.endswith(f"full log: {path}")


def test_every_hint_is_reached_by_a_log_we_know() -> None:
    reached = {
        next((HINTS[pattern] for pattern in HINTS if re.search(pattern, log, re.IGNORECASE)), None)
        for log in FAILURES
    }
    assert {*HINTS.values()} <= reached
