"""Windows to premise: hand-worked examples and properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli.aggregation import (
    aggregate,
    features,
    fit_learned,
    learned,
    maximum,
    noisy_or,
)
from nli.errors import TaggerError
from nli.labels import Label

S, R, I = Label  # noqa: E741


def normalised(row: list[float]) -> list[float]:
    return [value / sum(row) for value in row]


rows = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(normalised)
windows = st.lists(rows, min_size=1, max_size=8)

TWO = [[0.6, 0.1, 0.3], [0.2, 0.3, 0.5]]


def test_maximum_worked_by_hand() -> None:
    # Strongest support 0.6, strongest refute 0.3, 0.1 is left.
    assert maximum(TWO) == pytest.approx([0.6, 0.3, 0.1])


def test_noisy_or_worked_by_hand() -> None:
    # Support 1 - 0.4 * 0.8 = 0.68, refute 1 - 0.9 * 0.7 = 0.37, irrelevant 0.3 * 0.5 = 0.15;
    # their sum is 1.2.
    assert noisy_or(TWO) == pytest.approx([0.68 / 1.2, 0.37 / 1.2, 0.15 / 1.2])


def test_features_worked_by_hand() -> None:
    # Means 0.4 and 0.2; the first window is the less irrelevant one.
    odds = [np.log(p / (1 - p)) for p in (0.6, 0.3, 0.4, 0.2)]
    assert features(TWO) == pytest.approx([*odds, 0.5, np.log(2)])


def test_learned_worked_by_hand() -> None:
    # Only the number of windows counts: scores log 2, 0, 0 give 2 : 1 : 1.
    weights = ((0, 0, 0, 0, 0, 0, 1.0), (0,) * 7, (0,) * 7)
    assert learned(TWO, weights) == pytest.approx([0.5, 0.25, 0.25])
    assert learned(TWO[:1], weights) == pytest.approx(TWO[0])


@given(windows)
def test_all_sum_to_one_and_order_of_windows_is_nothing(found: list[list[float]]) -> None:
    for join in (maximum, noisy_or):
        result = join(found)
        assert result.sum() == pytest.approx(1)
        assert (result >= 0).all()
        assert join(found[::-1]) == pytest.approx(result)


@given(rows)
def test_one_window_stays_as_it_is(row: list[float]) -> None:
    weights = ((1.0,) * 7, (0.0,) * 7, (2.0,) * 7)
    assert maximum([row]) == pytest.approx(row)
    assert noisy_or([row]) == pytest.approx(row)
    assert aggregate("learned", [row], weights) == pytest.approx(row)


def test_learned_needs_long_texts_of_every_label() -> None:
    with pytest.raises(TaggerError, match="all three labels"):
        fit_learned([TWO, TWO, TWO[:1]], [S, R, I])
    with pytest.raises(ValueError, match="not been fitted"):
        aggregate("learned", TWO)
