"""The NVIDIA GPUs of this machine, by the driver's own tool, without importing torch."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

ORDER: Mapping[str, str] = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Makes CUDA count GPUs as the driver's tool does. CUDA's default puts the fastest first, so that
the same number means different cards on a machine with several kinds."""

_QUERY = "uuid,name,memory.total,memory.free,compute_cap,mig.mode.current"


@dataclass(frozen=True)
class Gpu:
    """One GPU. A card that is divided into slices (MIG) counts as one without memory.

    Attributes:
        id: Its id for `CUDA_VISIBLE_DEVICES`: the full UUID, as vLLM accepts no shortened ones.
        name: The maker's name for it.
        memory_gib, free_gib: Memory in GiB, and the part of it that is free now.
        capability: CUDA's compute capability; newer and faster cards have a larger one.
    """

    id: str
    name: str
    memory_gib: float
    free_gib: float
    capability: float = 0.0

    def __str__(self) -> str:
        """Its name and size, for people."""
        return f"{self.name}, {self.memory_gib:.0f} GiB"


def visible() -> list[Gpu]:
    """The GPUs that this process may use, in CUDA's order.

    Without `CUDA_VISIBLE_DEVICES`, all of them in the order of the PCI bus. The variable names them
    by number or by the beginning of a UUID; the first name that does not match exactly one card
    ends the list.
    """
    listed = _ask(f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits")
    try:
        gpus = [_gpu(line) for line in listed.splitlines()]
    except ValueError:
        return []
    setting = os.environ.get("CUDA_VISIBLE_DEVICES")
    if setting is None:
        return gpus
    chosen: list[Gpu] = []
    for name in setting.replace(" ", "").split(","):
        if name.isdecimal():
            same = gpus[int(name) :][:1]
        else:
            same = [gpu for gpu in gpus if name and gpu.id.startswith(name)]
        if len(same) != 1:
            break
        chosen += same
    return chosen


def driver() -> str | None:
    """The version of the NVIDIA driver, e.g. "580.95.05"; None if its tool does not say."""
    said = _ask("--query-gpu=driver_version", "--format=csv,noheader")
    version = re.search(r"^\d+\.[\d.]+$", said, re.MULTILINE)
    return version and version[0]


def _gpu(line: str) -> Gpu:
    """A card as the tool lists it; one that shares the machine's memory counts all of that."""
    uuid, name, total, free, capability, divided = map(str.strip, line.split(","))
    if divided == "Enabled":
        sizes = 0.0, 0.0
    elif "N/A" in total + free:
        import psutil

        memory = psutil.virtual_memory()
        sizes = memory.total / 2**30, memory.available / 2**30
    else:
        sizes = float(total) / 1024, float(free) / 1024
    return Gpu(uuid, name, *sizes, capability=float(capability))


def _ask(*words: str) -> str:
    """The tool's output; empty if it is missing or fails."""
    line = ["nvidia-smi", *words]  # looked up in PATH
    try:
        return subprocess.run(line, capture_output=True, text=True, timeout=30, check=True).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
