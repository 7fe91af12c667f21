"""Cosine similarity of sentence and argument embeddings, worked by hand."""

from collections.abc import Sequence
from math import sqrt
from typing import Any, cast

import numpy as np
import pytest

from pipelines.npov.example import NpovExample
from pipelines.npov.similarity import SentenceEmbeddings
from pipelines.retrieval.dense import Embedder

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
