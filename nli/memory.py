"""How many tokens the tagger scores at a time, and what to do when memory runs out."""

import gc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nli.errors import TaggerError

if TYPE_CHECKING:
    import torch

CPU_BUDGET = 256
"""Tokens of a batch with its padding. With six layers of width 384, larger batches (1,024) were no
faster per token on one core."""

GPU_BUDGET = 8192

WORKING_SHARE = 0.5
"""Share of a GPU's free memory that the inner states of a batch may take."""


@dataclass
class TokenBudget:
    """Most tokens of a batch, padding included; fewer once memory ran out."""

    tokens: int


def token_budget(model: Any, place: "torch.device", most: int) -> int:
    """Most tokens of a batch: the fastest number, or fewer to fit a GPU's free memory.

    The longest input has `most` tokens.
    """
    import torch

    if place.type == "cpu":
        return CPU_BUDGET
    if place.type != "cuda":
        return GPU_BUDGET
    config = model.config
    # Per token: the widest layer with its neighbours, and attention to the rest of its pair.
    states = getattr(config, "intermediate_size", 0) + 8 * getattr(config, "hidden_size", 1024)
    attention = 4 * getattr(config, "num_attention_heads", 16) * most
    size = next(model.parameters()).element_size()
    free, _ = torch.cuda.mem_get_info(place)
    fitting = int(WORKING_SHARE * free) // ((states + attention) * size)
    return int(min(GPU_BUDGET, max(most, fitting)))


def moved(model: Any, place: "torch.device", folder: Path) -> Any:
    """The model on a device; TaggerError if it does not fit."""
    try:
        return model.to(place)
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        raise TaggerError(
            f"{folder} does not fit into the memory of {place}; stop other programs that use it, "
            "or take a smaller tagger"
        ) from error


def out_of_memory(error: RuntimeError) -> bool:
    """Whether memory ran out: torch's `OutOfMemoryError`, or its allocator's message on a CPU."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def release() -> None:
    """Free unused memory. Not to be called in an `except` block, whose error holds some."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
