"""The contrastive logit worked by hand (Yin and Neubig 2022, section 3)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tiny_decoders import decoder, token_ids

from salience.gradients import foil_logits, outputs, token_salience


def test_the_foil_is_the_likeliest_other_token() -> None:
    import torch

    logits = torch.tensor([[1.0, 4.0, 2.0], [1.0, 4.0, 2.0]])
    tokens = torch.tensor([1, 0])
    assert foil_logits(logits, tokens).tolist() == [2, 4]
    assert outputs(logits, tokens, "contrast").tolist() == [4 - 2, 1 - 4]
    logits.requires_grad_(True)
    outputs(logits, tokens, "contrast").sum().backward()
    assert logits.grad is not None
    assert logits.grad.tolist() == [[0, 1, -1], [1, -1, 0]], "of the word's and the foil's alone"


def test_salience_is_that_of_the_word_less_that_of_its_foil() -> None:
    """Gradients are linear in the differentiated score, and so is their product with the input."""
    import torch

    model, ids, prompt = decoder("llama", double=True), token_ids(12), 8
    found = token_salience(model, ids, prompt, target="contrast")
    with torch.no_grad():
        logits = model(input_ids=ids[None], use_cache=False).logits[0]
    for column, place in enumerate(range(prompt, len(ids))):
        others = logits[place - 1].clone()
        others[ids[place]] = -torch.inf
        said = ids[: place + 1]
        instead = torch.cat([ids[:place], others.argmax()[None]])
        own, foil = (token_salience(model, each, place)[:place, 0] for each in (said, instead))
        assert found[:place, column] == pytest.approx(own - foil, rel=1e-3, abs=1e-5)


@given(arrays(np.float64, (2, 5), elements=st.floats(-9, 9, width=32)), st.integers(0, 4))
def test_it_is_positive_for_the_likeliest_token_alone(logits: np.ndarray, token: int) -> None:
    import torch

    given_ = torch.tensor(logits)
    found = outputs(given_, torch.tensor([token, token]), "contrast")
    for row, value in zip(logits, found.tolist(), strict=True):
        assert value == pytest.approx(row[token] - max(np.delete(row, token)))
    moved = outputs(given_ + 3, torch.tensor([token, token]), "contrast")
    assert moved.tolist() == pytest.approx(found.tolist()), "as is the log-probability's difference"
