"""Aggregating windows into a premise: hand-worked examples and properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli.calibration import maximum, noisy_or


def normalised(row: list[float]) -> list[float]:
    return [value / sum(row) for value in row]


rows = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(normalised)
windows = st.lists(rows, min_size=1, max_size=8)

TWO = [[0.6, 0.1, 0.3], [0.2, 0.3, 0.5]]


def test_maximum_worked_by_hand() -> None:
    # Strongest support 0.6, strongest refute 0.3, which leaves 0.1.
    assert maximum(TWO) == pytest.approx([0.6, 0.3, 0.1])


def test_noisy_or_worked_by_hand() -> None:
    # Support 1 - 0.4 * 0.8 = 0.68, refute 1 - 0.9 * 0.7 = 0.37, irrelevant 0.3 * 0.5 = 0.15;
    # their sum is 1.2.
    assert noisy_or(TWO) == pytest.approx([0.68 / 1.2, 0.37 / 1.2, 0.15 / 1.2])


@given(windows)
def test_all_sum_to_one_and_order_of_windows_is_nothing(found: list[list[float]]) -> None:
    for join in (maximum, noisy_or):
        result = join(found)
        assert result.sum() == pytest.approx(1)
        assert (result >= 0).all()
        assert join(found[::-1]) == pytest.approx(result)


@given(rows)
def test_one_window_stays_as_it_is(row: list[float]) -> None:
    assert maximum([row]) == pytest.approx(row)
    assert noisy_or([row]) == pytest.approx(row)
