"""Attribution of every output token to whole spans of the input: an argument, a document.

A span's attribution is the sum of its tokens' attributions, x . d logit / d x: the derivative of
the logit in the direction of the span's embeddings. In reverse mode this takes a vector-Jacobian
product per output token; in forward mode, a Jacobian-vector product per span. They agree up to
rounding; the cheaper mode is chosen.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from salience.gradients import (
    check_prompt,
    outputs,
    token_salience,
    wide,
    with_attention,
)
from salience.limits import Limits, quick_attention, release
from salience.variants import Target

if TYPE_CHECKING:
    import torch

FORWARD_COST = 2
"""Cost of a span in forward mode, in output tokens of reverse mode, measured with SmolLM2-135M on a
CPU: a span's derivative goes through all positions, a token's ends at its own."""

AT_ONCE = 4
"""Spans whose derivatives are computed together."""


def span_salience(
    model: Any,
    ids: "torch.Tensor",
    prompt_tokens: int,
    spans: Sequence[tuple[int, int]],
    *,
    target: Target = "logit",
    limits: Limits | None = None,
) -> NDArray[np.floating]:
    """Signed attribution of every response token to spans of earlier tokens, (spans, n - m).

    Model, ids, (n,), m prompt tokens and limits are as for `token_salience`; spans are token
    positions [start, end) within [0, n). The part of a span at or after an output token adds
    nothing to that token's value.

    Raises:
        ValueError: The prompt or the response is empty, a span is empty or lies outside, or an
            option is unknown.
        SalienceError: Not even one output token or span fits into memory.
    """
    tokens = len(ids)
    check_prompt(prompt_tokens, tokens)
    if target not in get_args(Target):
        raise ValueError(f"unknown target '{target}'")
    for start, end in spans:
        if not 0 <= start < end <= tokens:
            raise ValueError(f"no span of {tokens} tokens: [{start}, {end})")
    limits = limits or Limits()
    # Forward mode keeps all attention weights.
    short = quick_attention(model, tokens, limits.working_memory(model)) == "eager"
    cheaper = FORWARD_COST * len(spans) < tokens - prompt_tokens
    if short and cheaper:
        # Some architectures have parts without a forward derivative; reverse mode takes less
        # memory.
        with suppress(RuntimeError):
            return _forward(model, ids, prompt_tokens, spans, target)
        release()
    tokenwise = token_salience(model, ids, prompt_tokens, target=target, limits=limits)
    rows = [tokenwise[start:end].sum(axis=0) for start, end in spans]
    return np.stack(rows) if rows else tokenwise[:0]


def _forward(
    model: Any,
    ids: "torch.Tensor",
    prompt_tokens: int,
    spans: Sequence[tuple[int, int]],
    target: Target,
) -> NDArray[np.floating]:
    """Jacobian-vector products, some spans at a time."""
    import torch

    places = list(range(prompt_tokens - 1, len(ids) - 1))
    parts = [np.zeros((0, len(places)), np.float32)]

    def read(embeddings: torch.Tensor) -> torch.Tensor:
        logits = model(inputs_embeds=embeddings, use_cache=False, logits_to_keep=places).logits[0]
        return outputs(logits, ids[prompt_tokens:], target)

    # Fused attention has no forward derivative.
    with torch.no_grad(), with_attention(model, "eager"):
        embeddings = model.get_input_embeddings()(ids[None])

        def derivative(direction: torch.Tensor) -> torch.Tensor:
            return torch.func.jvp(read, (embeddings,), (direction,))[1]

        for first in range(0, len(spans), AT_ONCE):
            some = spans[first : first + AT_ONCE]
            directions = embeddings.new_zeros((len(some), *embeddings.shape))
            for direction, (start, end) in zip(directions, some, strict=True):
                direction[0, start:end] = embeddings[0, start:end]
            parts.append(wide(torch.func.vmap(derivative)(directions)).cpu().numpy())
    return np.concatenate(parts)
