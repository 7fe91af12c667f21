"""Scores from how much sentences rely on arguments, worked by hand (NPOV, appendix C)."""

from typing import get_args

import numpy as np
import pytest

from pipelines.npov.example import Side
from pipelines.npov.result import ErrorScores
from pipelines.npov.similarity import Pool, Use, by_part, groundings, uses

POOLS: tuple[Pool, ...] = get_args(Pool)

# Two pro arguments and one con argument; three sentences.
RESTS = np.array([[0.9, 0.2, 0.1], [0.1, 0.5, 0.0], [0.0, 0.1, 0.3]])
SIDES: tuple[Side, ...] = ("pro", "pro", "con")


def test_errors_worked_by_hand() -> None:
    assert groundings(RESTS) == pytest.approx([0.9, 0.5, 0.3])
    assert uses(RESTS) == pytest.approx([0.9, 0.5, 0.3])
    mean = Use(SIDES, RESTS, RESTS).errors("mean")
    assert mean.hallucination == pytest.approx(1 - (0.9 + 0.5 + 0.3) / 3)
    assert mean.coverage == pytest.approx(1 - min((0.9 + 0.5) / 2, 0.3)), "of the side used less"
    least = Use(SIDES, RESTS, RESTS).errors("least")
    assert least.hallucination == least.coverage == pytest.approx(1 - 0.3)


def test_a_detector_with_a_direction_looks_at_each_error_its_own_way() -> None:
    found = Use(("pro", "con"), np.array([[0.2], [0.4]]), np.array([[0.7], [0.9]])).errors("least")
    assert found.hallucination == pytest.approx(0.6)
    assert found.coverage == pytest.approx(0.3)


def test_of_nothing_nothing_is_said() -> None:
    for shape in ((0, 0), (2, 0), (0, 2)):
        empty = Use(SIDES[: shape[0]], np.zeros(shape), np.zeros(shape))
        assert {empty.errors(pool) for pool in POOLS} == {ErrorScores()}


def test_sentences_have_the_mean_of_their_words() -> None:
    words = np.array([[1.0, 3.0, 5.0], [0.0, 0.0, 6.0]])
    assert by_part(words, [2, 0, 1]).tolist() == [[2, 5], [0, 6]], "one has no words"
    assert by_part(words[:, :0], [0]).shape == (2, 0)
