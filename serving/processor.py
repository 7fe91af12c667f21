"""What this machine's processor computes in and on which cores, found without importing torch."""

import os
from pathlib import Path
from typing import Literal, NamedTuple

from serving.offline import SPINS

CPUINFO = Path("/proc/cpuinfo")

UNITS = {"avx512_bf16": "AVX-512 BF16", "amx_bf16": "AMX"}
"""Flag of a processor that multiplies in bfloat16 -> what people call that part of it."""

FEW = 8
"""Up to so many cores none is kept free. vLLM would keep one for its scheduler, half of a 2-core
machine: with both cores, 2-core machines read prompts 1.7 times and write 1.6 times as fast."""


class Precision(NamedTuple):
    """A number format to compute in, and why, in one clause for people."""

    dtype: Literal["bfloat16", "float32"]
    why: str

    def __str__(self) -> str:
        """Both, as `contested doctor` and `run.json` have them."""
        return f"{self.dtype}: {self.why}"


def cpu_precision() -> Precision:
    """The number format that is quick on this processor.

    bfloat16 where the processor multiplies in it. Elsewhere it is emulated, five to seventy times
    slower than float32, which is then taken.
    """
    try:
        lines = CPUINFO.read_text("utf-8", "replace").splitlines()
    except OSError:  # no Linux
        lines = []
    # All cores have the same.
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    for flag, unit in UNITS.items():
        if flag in flags:
            return Precision("bfloat16", f"the processor has {unit}")
    return Precision("float32", f"the processor has neither {' nor '.join(UNITS.values())}")


def threads() -> dict[str, str]:
    """Variables that have a server on a CPU compute on its cores: all, less one on large machines.

    On few cores the model computes within vLLM's engine process. In a process of its own it would
    take another 7 s to start, and the engine would spin on one of the cores while it waits.
    """
    cores = physical_cores()
    if len(cores) > FEW:
        return {"VLLM_CPU_OMP_THREADS_BIND": "auto"}
    bound = ",".join(map(str, cores))
    return {
        "VLLM_CPU_OMP_THREADS_BIND": bound,
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        # vLLM sets these for a process of its own alone.
        "OMP_NUM_THREADS": str(len(cores)),
        "OMP_PLACES": f"{{{bound}}}",
        "OMP_PROC_BIND": "true",
        "GOMP_SPINCOUNT": SPINS,
    }


def physical_cores() -> list[int]:
    """One logical CPU of each physical core that this process may run on, in order."""
    chosen: dict[str, int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            core = siblings.read_text().strip()
        except OSError:
            core = str(cpu)
        chosen.setdefault(core, cpu)
    return list(chosen.values())
