"""Whether the installed torch computes on GPUs, read off its files: to import it takes seconds."""

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from serving.gpus import any_gpu

AMD = Path("/dev/kfd")
"""What the driver of AMD GPUs leaves."""


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
