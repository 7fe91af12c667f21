"""Which CPU cores a server computes on, and in which of its processes."""

import os
from pathlib import Path

from serving.offline import SPINS

FEW = 8
"""Up to so many cores none is kept free. vLLM would keep one for its scheduler, half of a 2-core
machine: with both cores, 2-core machines read prompts 1.7 times and write 1.6 times as fast."""


def binding(wanted: str, *, replica: int = 0, replicas: int = 1) -> str:
    """The value of vLLM's VLLM_CPU_OMP_THREADS_BIND for one of several replicas, from 0 on.

    Returns:
        `wanted` (`cpu_threads` of the engine's options), unless it is "auto" and the cores are few
        or shared: then the cores to use.
    """
    if wanted != "auto":
        return wanted
    cores = physical_cores()
    if len(cores) > FEW and replicas == 1:
        return "auto"
    if len(cores) < replicas:
        return "nobind"
    return ",".join(str(core) for core in cores[replica::replicas])


def threads(wanted: str, *, replica: int = 0, replicas: int = 1) -> dict[str, str]:
    """Variables that have a server compute on its cores; the arguments are those of `binding`.

    On few cores the model computes within vLLM's engine process. In a process of its own it would
    take another 7 s to start, and the engine would spin on one of the cores while it waits.
    """
    bound = binding(wanted, replica=replica, replicas=replicas)
    variables = {"VLLM_CPU_OMP_THREADS_BIND": bound}
    cores = bound.split(",")
    if len(cores) > FEW or not all(core.isdigit() for core in cores):
        return variables
    return variables | {
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
