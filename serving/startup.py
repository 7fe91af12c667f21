"""Reads a vLLM server's log: what it is doing while it starts, and why it did not."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from serving.installed import INSTALL_COMPILER, UPDATE_DRIVER

_PREFIX = re.compile(
    r"^(\(\S+ pid=\d+\) )?((INFO|WARNING|ERROR|DEBUG|CRITICAL) \d\d-\d\d [\d:]+ (\[[^\]]+\] ?)?)?"
)
_ERROR = re.compile(r"(^|[\s.:])(\w*(Error|Exception|Exit)|error):\s*\S|^Value error, ")
# What pydantic adds behind its message.
_DETAIL = re.compile(r" \[type=\w+, .*$")
# Lines that say only that some other process failed.
_ECHO = re.compile(
    r"\d+ validation errors? for|Engine core initialization failed|See root cause above"
    r"|failed to start|died unexpectedly|_log_traceback|leaked \w+ objects"
    r"|WorkerProc initialization failed|Worker failed with error|resource_tracker"
)

STAGES = {
    # Further API processes read it again, while the engine is already on its way.
    r"^(?!\(ApiServer_).*Resolved architecture": "reading the model's configuration",
    r"Initializing a V1 LLM engine": "starting the engine",
    r"Starting to load model": "loading weights",
    r"Loading safetensors checkpoint shards:\s+(\d+)%": "loading weights, {0} %",
    r"Loading weights took": "weights are loaded",
    r"Start compiling|Dynamo bytecode transform|Compiling a graph": "compiling",
    r"Capturing CUDA graphs": "capturing CUDA graphs",
    r"KV cache size": "warming up",
    r"Starting vLLM server on": "opening the port",
}
"""Pattern in the log -> what a person reads; a group of the pattern goes into the text."""

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
        "the CUDA compiler is missing, with which FlashInfer makes its kernels for this GPU; "
        "install the toolkit of CUDA 13.0 and set CUDA_HOME"
    ),
    r"Available memory on node|Cannot allocate memory|can't allocate memory|MemoryError": (
        "not enough memory; close other programs, or lower kv_cache_gib in the profile"
    ),
    r"is not supported for quantization|does not support float16": (
        "vLLM does not compute with these weights in that number format; change dtype in the "
        "profile, and for --strict use unquantised weights"
    ),
    r"Failed to infer device type|no CUDA-capable device|no NVIDIA driver": (
        "the installed vLLM finds no device it can use; install contested[cpu] for CPU, or "
        "contested[gpu] and the NVIDIA driver"
    ),
    r"No module named": (
        "the installation of vLLM is incomplete; delete the environment and run "
        "scripts/run_all.sh, which makes it anew"
    ),
}
"""Pattern in the log -> remedy; case does not count, the first that matches does."""

_OUT_OF_MEMORY_CODES = (-9, 137)
# So many of the hints, the first ones, are sure enough to be looked for in the whole log.
_CERTAIN = 5


class Progress:
    """Follows a log that is being written, from a byte offset on, stage by stage."""

    def __init__(self, path: Path, offset: int) -> None:
        self._path = path
        self._offset = offset
        self._last = ""

    def news(self) -> Iterator[str]:
        """Yields each stage reached since the last call, without repeating one."""
        whole = _from(self._path, self._offset).rpartition(b"\n")[0]
        self._offset += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            stage = next(
                (
                    text.format(*match.groups())
                    for pattern, text in STAGES.items()
                    if (match := re.search(pattern, line))
                ),
                self._last,
            )
            if stage != self._last:
                self._last = stage
                yield stage


def explain(path: Path, offset: int, code: int | None) -> str:
    """Why a start failed: the remedy, then the log's lines that matter, in one line.

    The start begins at a byte offset of the log; its exit code is None if the server still runs.
    """
    text = _from(path, offset).decode(errors="replace")
    lines = _that_matter(text)
    hint = _hint("\n".join(lines), HINTS) or _hint(text, list(HINTS)[:_CERTAIN])
    if hint is None and code in _OUT_OF_MEMORY_CODES:
        hint = "it was killed, most likely for want of memory; close other programs"
    said = f"the log says: {' | '.join(lines)}" if lines else None
    return "; ".join(filter(None, [hint, said, f"whole log: {path}"]))


def _from(path: Path, offset: int) -> bytes:
    """What a log holds from a byte on; nothing where it cannot be read."""
    try:
        with path.open("rb") as log:
            log.seek(offset)
            return log.read()
    except OSError:
        return b""


def _hint(text: str, patterns: Iterable[str]) -> str | None:
    hints = (HINTS[pattern] for pattern in patterns if re.search(pattern, text, re.IGNORECASE))
    return next(hints, None)


def _that_matter(text: str, most: int = 3, width: int = 300) -> list[str]:
    """The first error lines of a log without repetitions, or its last lines if it has none."""
    plain = [_DETAIL.sub("", _PREFIX.sub("", line, count=1)).strip() for line in text.splitlines()]
    plain = [line for line in plain if line]
    errors = [line for line in plain if _ERROR.search(line) and not _ECHO.search(line)]
    chosen = list(dict.fromkeys(errors))[:most] or plain[-most:]
    return [line if len(line) <= width else line[: width - 1] + "…" for line in chosen]
