"""The number format in which tagger and salience compute, found without importing torch."""

from typing import Literal

from serving.gpus import any_gpu
from serving.processor import cpu_precision


def native_format(device: str | None = None) -> Literal["bf16", "fp32"]:
    """What "auto" stands for: bf16 on a GPU and on a processor that multiplies in it, else fp32.

    Models are then loaded in this format, so that what is recorded is what was computed in.

    Args:
        device: Where the model computes, as torch names it; the first GPU, else the CPU, if None.
    """
    on_gpu = device != "cpu" and any_gpu()
    return "bf16" if on_gpu or cpu_precision().dtype == "bfloat16" else "fp32"
