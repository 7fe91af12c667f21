"""How much is computed at a time: by free memory, less where memory ended, singly where it must."""

import gc
import warnings
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tiny_decoders import decoder, token_ids

from salience import gradients, limits
from salience.gradients import token_salience
from salience.limits import (
    Limits,
    chunk_size,
    token_cost,
)

PROMPT, TOKENS = 9, 16
GIB = 2**30


def llama_8b() -> Any:
    """Sizes of Llama 3 8B in bf16."""
    sizes = SimpleNamespace(intermediate_size=14336, num_attention_heads=32, num_hidden_layers=32)
    weight = torch.empty(128256, 4096, dtype=torch.bfloat16, device="meta")
    return SimpleNamespace(
        config=SimpleNamespace(get_text_config=lambda: sizes),
        get_input_embeddings=lambda: SimpleNamespace(weight=weight),
        parameters=lambda: iter([weight]),
        device=weight.device,
    )


def test_a_chunk_follows_the_memory() -> None:
    model = llama_8b()
    # 4 * 4 * 4096 numbers of 2 bytes for the widest state (above 4 * 14336), and of eager attention
    # 3 * 32 * 1000 numbers of 4 bytes.
    assert token_cost(model, 1000, "eager") == 1000 * (131_072 + 384_000)
    assert token_cost(model, 1000, "sdpa") == 1000 * 131_072
    assert chunk_size(model, 1000, 8 * GIB, "eager") == 16
    assert chunk_size(model, 1000, 80 * GIB, "eager") == limits.GPU_CHUNK
    assert chunk_size(model, 1000, 1, "eager") == 1
    # Fused attention has no matrix of tokens by tokens: 30 GB / 4000 / 131,072 = 57.2.
    assert chunk_size(model, 4000, 30_000_000_000, "sdpa") == 57


def test_what_fitted_is_kept_for_the_next_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    model, kept = decoder("llama"), Limits()
    taken, real = [], gradients._gradients

    def short(*arguments: Any, together: bool) -> Any:
        taken.append(len(arguments[2]))
        if len(arguments[2]) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(*arguments, together=together)

    monkeypatch.setattr(gradients, "_gradients", short)
    token_salience(model, token_ids(TOKENS), PROMPT, limits=kept)
    assert taken == [7, 3, 3, 1]
    taken.clear()
    token_salience(model, token_ids(TOKENS, seed=4), PROMPT, limits=kept)
    assert taken == [3, 3, 1], "it does not fail again"
    taken.clear()
    token_salience(model, token_ids(2 * TOKENS), 29, limits=kept)
    assert taken == [1, 1, 1], "of a text twice as long a token takes more than twice as much"


def test_a_failed_attempt_holds_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error's traceback has the frames of the attempt, and with them its tensors."""
    held: list[weakref.ref[torch.Tensor]] = []
    real = gradients._gradients

    def short(*arguments: Any, together: bool) -> Any:
        assert [each() for each in held] == [None] * len(held)
        large = torch.zeros(9)
        held.append(weakref.ref(large))
        if len(arguments[2]) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(*arguments, together=together)

    monkeypatch.setattr(gradients, "_gradients", short)
    gc.disable()  # it is not left to chance
    try:
        token_salience(decoder("llama"), token_ids(TOKENS), PROMPT)
    finally:
        gc.enable()
    assert len(held) > 3


def test_the_last_resort_is_attention_whose_weights_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, ids = decoder("llama"), token_ids(TOKENS)
    wanted, real = token_salience(model, ids, PROMPT), gradients._gradients

    def short(*arguments: Any, together: bool) -> Any:
        if arguments[0].config._attn_implementation == "eager":
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(*arguments, together=together)

    monkeypatch.setattr(gradients, "_gradients", short)
    found = token_salience(model, ids, PROMPT)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


class Scaled(torch.autograd.Function):  # type: ignore[misc]
    """A part as kernels of others are: it knows how to go back, but not with a batch."""

    @staticmethod
    def forward(context: Any, values: torch.Tensor) -> torch.Tensor:
        """Half as much."""
        context.save_for_backward(values)
        return values * 0.5

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        """The same of a gradient; numpy has no batches."""
        return torch.from_numpy(0.5 * gradient.numpy())


def test_parts_that_cannot_be_batched_are_taken_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, ids, kept = decoder("llama"), token_ids(TOKENS), Limits()
    layer = model.model.layers[1].mlp
    real = layer.forward
    monkeypatch.setattr(layer, "forward", lambda values: 0.5 * real(values))
    wanted = token_salience(model, ids, PROMPT)
    monkeypatch.setattr(layer, "forward", lambda values: Scaled.apply(real(values)))
    refused = "gradients of LlamaForCausalLM cannot be computed together"
    with pytest.warns(UserWarning, match=refused):
        found = token_salience(model, ids, PROMPT, limits=kept)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert not kept.together
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is told once
        again = token_salience(model, ids, PROMPT, limits=kept)
    np.testing.assert_array_equal(again, found)
