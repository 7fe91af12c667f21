"""A soft prompt that nobody tuned."""

from typing import Any

import numpy as np

from pipelines.npov.soft_prompt import SoftPrompt, TunedOn, TuningSettings


def soft_prompt(width: int = 32, **changed: Any) -> SoftPrompt:
    """Five vectors, by default for a tiny decoder that writes responses."""
    known: dict[str, Any] = {
        "vectors": np.random.default_rng(1).normal(size=(5, width)).astype(np.float32),
        "model": "ab" * 32,
        "task": "response",
        "settings": TuningSettings(),
        "curve": ((0, 1.0),),
        "tuned_on": TunedOn(learned=(), watched=()),
    }
    return SoftPrompt(**known | changed)
