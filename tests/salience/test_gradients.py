"""Gradient attribution against plain autograd and small steps, on every architecture."""

from typing import Any, get_args

import numpy as np
import pytest
from tiny_decoders import ARCHITECTURES, SIZES, decoder, token_ids

from salience import limits
from salience.gradients import outputs, token_salience
from salience.variants import Measure, Target

PROMPT, TOKENS = 9, 16


def relative(one: Any, other: Any) -> float:
    """The largest difference over the largest value."""
    return float(np.abs(one - other).max() / np.abs(other).max())


@pytest.fixture(params=ARCHITECTURES)
def model(request: pytest.FixtureRequest) -> Any:
    return decoder(request.param)


@pytest.mark.parametrize("target", get_args(Target))
@pytest.mark.parametrize("measure", get_args(Measure))
def test_it_is_that_of_one_token_after_the_other(
    model: Any, target: Target, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = token_ids(TOKENS)
    wanted = by_autograd(model, vectors(0), ids, target, measure)
    assert np.abs(wanted).max() > 1e-3
    for chunk in (limits.CPU_CHUNK, 1, 3):
        monkeypatch.setattr(limits, "CPU_CHUNK", chunk)
        found = token_salience(model, ids, PROMPT, target=target, measure=measure)
        assert found.shape == (TOKENS, TOKENS - PROMPT)
        assert relative(found, wanted) < 1e-4, chunk


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("target", get_args(Target))
def test_a_gradient_is_what_a_small_step_does(architecture: str, target: Target) -> None:
    """Central differences along a token's own embedding, in double precision."""
    import torch

    model, ids, step = decoder(architecture, double=True), token_ids(TOKENS), 1e-3
    embeddings = model.get_input_embeddings()(ids[None])

    def values(read: Any) -> Any:
        logits = model(inputs_embeds=read, use_cache=False).logits[0, PROMPT - 1 : -1]
        return outputs(logits, ids[PROMPT:], target)

    found = np.zeros((TOKENS, TOKENS - PROMPT))
    with torch.no_grad():
        for place in range(TOKENS - 1):
            moved = torch.zeros_like(embeddings)
            moved[0, place] = step * embeddings[0, place]
            found[place] = (values(embeddings + moved) - values(embeddings - moved)) / (2 * step)
    computed = token_salience(model, ids, PROMPT, target=target)
    # Their norms compute in single precision, whatever the weights are.
    assert relative(computed, found) < 1e-3


def test_no_token_rests_on_itself_or_a_later_one(model: Any) -> None:
    found = token_salience(model, token_ids(TOKENS), PROMPT)
    for column in range(TOKENS - PROMPT):
        assert not found[PROMPT + column :, column].any()
        assert found[: PROMPT + column, column].any()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_fused_attention_gives_the_same(architecture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, ids = decoder(architecture), token_ids(TOKENS)
    eager = token_salience(model, ids, PROMPT)
    monkeypatch.setattr(limits, "EAGER_SHARE", 0)
    assert relative(token_salience(model, ids, PROMPT), eager) < 1e-4
    assert model.config._attn_implementation == "sdpa", "as before"


def vectors(count: int) -> Any:
    return np.random.default_rng(5).normal(size=(count, SIZES["hidden_size"])).astype(np.float32)


def by_autograd(model: Any, prefix: Any, ids: Any, target: Target, measure: Measure) -> Any:
    """One output token after the other, of what the layers read, by plain autograd."""
    import torch

    read = torch.cat([torch.tensor(prefix), model.get_input_embeddings()(ids)])
    read = read[None].detach().requires_grad_(True)
    found = np.zeros((read.shape[1], TOKENS - PROMPT), np.float32)
    for column, place in enumerate(range(PROMPT, TOKENS)):
        logits = model(inputs_embeds=read, use_cache=False).logits[:, len(prefix) + place - 1]
        value = outputs(logits, ids[place : place + 1], target)
        (gradient,) = torch.autograd.grad(value.sum(), read)
        if measure == "input_x_gradient":
            found[:, column] = (gradient[0] * read[0].detach()).sum(-1)
        else:
            found[:, column] = gradient[0].norm(dim=-1)
    return found


@pytest.mark.parametrize("target", get_args(Target))
@pytest.mark.parametrize("measure", get_args(Measure))
def test_a_soft_prompt_is_read_before_the_tokens(
    model: Any, target: Target, measure: Measure
) -> None:
    """Salience of a prompt-tuned model is that of the model with its vectors (NPOV, 3.2)."""
    ids, prefix = token_ids(TOKENS), vectors(4)
    how: Any = {"target": target, "measure": measure}
    wanted = by_autograd(model, prefix, ids, target, measure)
    found = token_salience(model, ids, PROMPT, prefix=prefix, **how)
    assert found.shape == (4 + TOKENS, TOKENS - PROMPT)
    assert relative(found, wanted) < 1e-4
    assert found[:4].all(), "the vectors have their own"
    bare = token_salience(model, ids, PROMPT, **how)
    assert relative(found[4:], bare) > 1e-2, "and change those of tokens"
