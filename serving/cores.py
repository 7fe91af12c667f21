"""Which CPU cores a server computes on."""

import os
from pathlib import Path

FEW = 8
"""Up to so many cores none is kept free. vLLM would keep one for its scheduler, half of a 2-core
machine: with both cores, 2-core machines read prompts 1.7 times and write 1.6 times as fast."""


def binding(wanted: str, *, replica: int = 0, replicas: int = 1) -> str:
    """The value of vLLM's VLLM_CPU_OMP_THREADS_BIND.

    Args:
        wanted: `cpu_threads` of the engine's options.
        replica: Which of several servers, counted from 0.
        replicas: How many servers share the machine.

    Returns:
        `wanted`, unless it is "auto" and the cores are few or shared: then the cores to use.
    """
    if wanted != "auto":
        return wanted
    cores = physical_cores()
    if len(cores) > FEW and replicas == 1:
        return "auto"
    if len(cores) < replicas:
        return "nobind"
    return ",".join(str(core) for core in cores[replica::replicas])


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
