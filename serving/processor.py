"""The number format and cores to compute with on this machine's CPU, found without torch."""

import os
from pathlib import Path
from typing import Literal, NamedTuple

from serving.offline import SPINS

CPUINFO = Path("/proc/cpuinfo")

UNITS = {"avx512_bf16": "AVX-512 BF16", "amx_bf16": "AMX"}
"""CPU flag of units that multiply in bfloat16 -> their usual name."""

FEW = 8
"""Up to this many cores, all of them compute. vLLM would keep one free for its scheduler, half of a
2-core machine: with both, it reads prompts 1.7 times and writes 1.6 times as fast."""


class Precision(NamedTuple):
    """A number format to compute in, and why, in one clause for people."""

    dtype: Literal["bfloat16", "float32"]
    why: str

    def __str__(self) -> str:
        """Both, as in `contested doctor` and `run.json`."""
        return f"{self.dtype}: {self.why}"


def cpu_precision() -> Precision:
    """The fast number format on this processor.

    bfloat16 if the processor multiplies in it; otherwise float32, since emulated bfloat16 is five
    to seventy times slower.
    """
    flags = cpuinfo("flags").split()
    for flag, unit in UNITS.items():
        if flag in flags:
            return Precision("bfloat16", f"the processor has {unit}")
    return Precision("float32", f"the processor has neither {' nor '.join(UNITS.values())}")


def cpuinfo(field: str) -> str:
    """A field of the first core, say "model name"; all have the same flags. Empty if unknown."""
    try:
        lines = CPUINFO.read_text("utf-8", "replace").splitlines()
    except OSError:  # not Linux
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")


def threads() -> dict[str, str]:
    """Variables that tell a CPU server its cores: all, minus one on large machines.

    On few cores the model computes within vLLM's engine process. In a separate process it would
    take another 7 s to start, and the engine would spin on one of the cores while it waits.
    """
    cores = physical_cores()
    if len(cores) > FEW:
        return {"VLLM_CPU_OMP_THREADS_BIND": "auto"}
    bound = ",".join(map(str, cores))
    return {
        "VLLM_CPU_OMP_THREADS_BIND": bound,
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        # vLLM sets these only if the model runs in a separate process.
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
