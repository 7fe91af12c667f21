"""Krippendorff's alpha: his worked example, and by hand."""

from fractions import Fraction

import pytest
from estimates import defined, ends

from pipelines.metrics.agreement import nominal_alpha

FOUR_OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
"""Twelve units, as in "Computing Krippendorff's Alpha-Reliability" (2011)."""


def test_his_example_of_four_observers_and_missing_labels() -> None:
    columns = zip(*(row.split() for row in FOUR_OBSERVERS), strict=True)
    found = defined(nominal_alpha([[label for label in unit if label != "."] for unit in columns]))
    assert found.value == pytest.approx(0.743, abs=0.0005)
    assert found.n == 11, "a single label says nothing"
    low, high = ends(found)
    assert 0 < low < 0.743 < high <= 1


def test_worked_by_hand() -> None:
    # Units aa, ab, bb: n = 6, D_o = 1/6 * (4 - 2) / 1 = 1/3, D_e = (36 - 9 - 9) / 30 = 3/5.
    assert defined(nominal_alpha(["aa", "ab", "bb"])).value == pytest.approx(4 / 9)
    # Every unit in disagreement: D_o = 1.
    assert defined(nominal_alpha(["ab", "ba"])).value == pytest.approx(1 - 1 / Fraction(8, 12))


def test_where_nothing_can_be_said() -> None:
    assert nominal_alpha([]) is None
    assert nominal_alpha(["a", "b"]) is None
    assert nominal_alpha(["aa", "aa"]) is None
    assert defined(nominal_alpha(["ab"])).low is None
    perfect = defined(nominal_alpha(["aa", "bb"]))
    assert (perfect.value, perfect.low) == (1, None)
