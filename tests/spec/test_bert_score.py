"""BERTScore on made-up vectors, worked by hand (NPOV, footnote 5; Zhang et al. 2020)."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from pipelines.npov.example import NpovExample
from pipelines.npov.similarity import (
    BertScore,
    Embedded,
    EmbeddedText,
    EmbeddedWord,
    best_cosines,
    precision,
    recall,
    word_errors,
)
from pipelines.retrieval.dense import Embedder

CANDIDATE = np.array([[2.0, 0.0], [0.0, 3.0]])
REFERENCE = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]])


def test_greedy_matching_worked_by_hand() -> None:
    # Cosines of (2, 0): 1, 1/sqrt 2, -1; of (0, 3): 0, 1/sqrt 2, 0.
    half = 1 / sqrt(2)
    assert best_cosines(CANDIDATE, REFERENCE) == pytest.approx([1, half])
    assert precision(CANDIDATE, REFERENCE) == pytest.approx((1 + half) / 2)
    assert best_cosines(REFERENCE, CANDIDATE) == pytest.approx([1, half, 0])
    assert recall(CANDIDATE, REFERENCE) == pytest.approx((1 + half) / 3)
    assert best_cosines(np.zeros((1, 2)), REFERENCE) == pytest.approx([0])


def text(*vectors: list[float]) -> EmbeddedText:
    """One word per character, one token per word."""
    return tuple(
        EmbeddedWord(n, n + 1, np.array([vector], dtype=float)) for n, vector in enumerate(vectors)
    )


def test_errors_of_a_response_worked_by_hand() -> None:
    embedded = Embedded(
        given=((text([1, 0]), text([0, 1])), (text([-1, 0]),)), response=text([1, 0], [0, -1])
    )
    # Pro: (1, 0) occurs; the best match of (0, 1) is (1, 0) at 0. Con: the best match is (0, -1) at
    # 0. In the response, (1, 0) has a match and (0, -1) has none.
    assert embedded.errors.coverage == pytest.approx(1 - min(1 / 2, 0))
    assert embedded.errors.hallucination == pytest.approx(1 - 1 / 2)
    wordless = Embedded(given=((text(),), (text([1, 0]),)), response=text([1, 0]))
    assert wordless.errors.coverage == pytest.approx(0), "a side without words says nothing"
    nothing = Embedded(given=((text(),), (text(),)), response=text([1, 0]))
    assert nothing.errors.coverage is nothing.errors.hallucination is None


def test_a_word_is_as_like_as_its_most_similar_token() -> None:
    word = EmbeddedWord(0, 9, np.array([[0, 1.0], [1, 0]]))
    other = EmbeddedWord(10, 19, np.array([[0, 1.0]]))
    assert word_errors([word, other], text([1, 0])) == pytest.approx([0, 1])
    assert word_errors([word, other], ()) == [1, 1]
    assert word_errors((), [word]) == []


def test_the_bundled_encoder_knows_other_words_for_the_same(small_embedder: Path) -> None:
    score = BertScore(Embedder(small_embedder, device="cpu"))
    example = NpovExample(
        question="Should the dam stay?",
        pro=("The dam holds drinking water.",),
        con=("Salmon cannot pass the dam.",),
        response="Supporters say the reservoir keeps water to drink. Critics say fish are blocked.",
    )
    told = score(example)
    starts = [word.start for word in told.response]
    assert starts == sorted(starts)
    assert [example.response[word.start : word.end] for word in told.response][-2:] == [
        "fish", "blocked",
    ]  # fmt: skip
    copied = score(
        example.model_copy(update={"response": f"{example.pro[0]} {example.con[0]}"})
    ).errors
    assert copied.coverage == pytest.approx(0, abs=1e-5)
    assert copied.hallucination == pytest.approx(0, abs=1e-5)
    other = score(example.model_copy(update={"response": "Taxes are too high. Schools close."}))
    for kind in ("coverage", "hallucination"):
        assert 0.1 < getattr(told.errors, kind) < getattr(other.errors, kind)


def test_a_long_text_is_embedded_to_its_end(small_embedder: Path) -> None:
    encoder = Embedder(small_embedder, length=16, device="cpu")
    long = " ".join(f"word{n}" for n in range(60))
    offsets, found = encoder.token_vectors(long)
    assert len(offsets) == len(found)
    assert "".join(long[start:end] for start, end in offsets) == long.replace(" ", "")
