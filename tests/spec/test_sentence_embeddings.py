"""Cosine similarity of sentence and argument embeddings, worked by hand."""

from collections.abc import Sequence
from math import sqrt
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipelines.npov.example import NpovExample
from pipelines.npov.similarity import SentenceEmbeddings, cosines
from pipelines.retrieval.dense import Embedder, default_embedder

EXAMPLE = NpovExample(
    question="Should the dam stay?",
    pro=("It holds water.",),
    con=("Salmon cannot pass.",),
    response="Supporters say that it keeps water. Critics counter that it is dear.",
)
HALF = 1 / sqrt(2)
VECTORS = {
    "It holds water.": (1.0, 0.0),
    "Salmon cannot pass.": (0.0, 1.0),
    "it keeps water.": (1.0, 0.0),
    "it is dear.": (-HALF, HALF),
}


class StandIn:
    def __init__(self) -> None:
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.read += texts
        return np.array([VECTORS[text] for text in texts])


def test_an_example_worked_by_hand() -> None:
    encoder = StandIn()
    compare = SentenceEmbeddings(cast("Embedder", encoder))
    found = compare(EXAMPLE)
    assert found.rests == pytest.approx(np.array([[1, -HALF], [0, HALF]]))
    errors = found.errors("least")
    assert errors.hallucination == pytest.approx(1 - HALF)
    assert errors.coverage == pytest.approx(1 - HALF)
    assert found.errors("mean").hallucination == pytest.approx(1 - (1 + HALF) / 2)
    compare(EXAMPLE)
    assert len(encoder.read) == len(VECTORS), "a text is read once"


def test_by_the_encoder_that_is_installed() -> None:
    path = default_embedder()
    if path is None:
        pytest.skip("all-MiniLM-L6-v2 is not installed")
    compare = SentenceEmbeddings(Embedder(path, device="cpu"))
    said = "Supporters say that it holds water. Critics counter that salmon cannot pass."
    right = compare(EXAMPLE.model_copy(update={"response": said})).errors("least")
    wrong = compare(EXAMPLE).errors("least")
    assert right.hallucination is not None and wrong.hallucination is not None
    assert right.coverage is not None and wrong.coverage is not None
    assert right.hallucination < 0.3 < wrong.hallucination
    assert right.coverage < 0.3 < wrong.coverage


unit = arrays(float, (3, 4), elements=st.floats(0.125, 1, width=32)).map(
    lambda each: each / np.linalg.norm(each, axis=1, keepdims=True)
)


@given(unit, unit)
def test_cosines_keep_to_their_range_and_turn_over(one: np.ndarray, other: np.ndarray) -> None:
    found = cosines(one, other)
    assert (np.abs(found) <= 1).all()
    assert found == pytest.approx(cosines(other, one).T)
    assert cosines(one, one).diagonal() == pytest.approx(1)
