"""What NVIDIA GPUs this machine has, asked of the driver's own tool, without importing torch."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from serving.errors import ServingError


@dataclass(frozen=True)
class Gpu:
    """One GPU: what `CUDA_VISIBLE_DEVICES` and what its maker calls it, and its memory in GiB."""

    id: str
    name: str
    memory_gib: float


def visible() -> list[Gpu] | None:
    """The GPUs that this process may use, in order; None where they cannot be asked for."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None if Path("/dev/nvidiactl").exists() else []
    query = [tool, "--query-gpu=index,uuid,name,memory.total", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 - fixed argv
        rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines()]
        found = [(index, uuid, name, float(mib) / 1024) for index, uuid, name, mib in rows]
    except (OSError, subprocess.SubprocessError, ValueError):
        return []
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return [Gpu(index, name, memory) for index, _, name, memory in found]
    named = {index: (name, memory) for index, _, name, memory in found}
    named |= {uuid: (name, memory) for _, uuid, name, memory in found}
    return [Gpu(one, *named[one]) for one in chosen.replace(" ", "").split(",") if one in named]


def any_gpu() -> bool:
    """Whether this machine seems to have a GPU that this process may use."""
    gpus = visible()
    return gpus is None or bool(gpus)


def assign(replicas: int, each: int, least_gib: float | None) -> list[str]:
    """The value of `CUDA_VISIBLE_DEVICES` for each replica, which takes `each` GPUs of `least_gib`.

    Raises:
        ServingError: There are too few GPUs, or one of them is too small.
    """
    needed = each * replicas
    gpus = visible()
    if gpus is None:  # they cannot be asked for; they are taken to be there
        gpus = [Gpu(str(number), "", float("inf")) for number in range(needed)]
    if len(gpus) < needed:
        have = f"this machine has {len(gpus)}" if gpus else "none is found (nvidia-smi shows none)"
        raise ServingError(
            f"the profile needs {needed} NVIDIA GPU{'s' if needed > 1 else ''}, {have}; "
            "choose another profile, e.g. --profile cpu-small"
        )
    for gpu in gpus[:needed]:
        if least_gib is not None and gpu.memory_gib < least_gib:
            raise ServingError(
                f"GPU {gpu.id} ({gpu.name}) has {gpu.memory_gib:.0f} GiB, the profile needs "
                f"{least_gib:g} GiB on each; choose a smaller model's profile or quantised weights"
            )
    ids = [gpu.id for gpu in gpus[:needed]]
    return [",".join(ids[start : start + each]) for start in range(0, needed, each)]
