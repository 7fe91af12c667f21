"""What number format this machine's processor computes in, found without importing torch."""

from pathlib import Path
from typing import Literal, NamedTuple

CPUINFO = Path("/proc/cpuinfo")

UNITS = {"avx512_bf16": "AVX-512 BF16", "amx_bf16": "AMX"}
"""Flag of a processor that multiplies in bfloat16 -> what people call that part of it."""


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
