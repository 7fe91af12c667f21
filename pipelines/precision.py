"""The number format in which tagger and salience compute, found without importing torch."""

from typing import Literal, TypeVar

from serving.installed import torch_device
from serving.processor import cpu_precision

FormatT = TypeVar("FormatT", bound=str)


def format_of(precision: FormatT, device: str | None = None) -> FormatT | Literal["bf16", "fp32"]:
    """The number format that a choice stands for: "auto" for `native_format`, others for theirs."""
    return native_format(device) if precision == "auto" else precision


def native_format(device: str | None = None) -> Literal["bf16", "fp32"]:
    """What "auto" stands for: bf16 on a GPU and on a processor that multiplies in it, else fp32.

    Models are then loaded in this format, so that what is recorded is what was computed in.

    Args:
        device: Where the model computes, as torch names it; if None, the first GPU that the
            installed torch can use, else the CPU.
    """
    on_gpu = not (device or torch_device()).startswith("cpu")
    return "bf16" if on_gpu or cpu_precision().dtype == "bfloat16" else "fp32"
