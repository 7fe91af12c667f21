"""Hanley and McNeil's standard error (1982) and test (1983), used in NPOV section 5.1."""

import random
from math import sqrt

import pytest
from estimates import defined
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.ranks import area_difference, area_error, bonferroni, roc_auc


def test_worked_by_hand() -> None:
    # A = 3/4, m = 2, n = 2: Q1 = 0.6, Q2 = 9/14.
    expected = sqrt((0.1875 + (0.6 - 0.5625) + (9 / 14 - 0.5625)) / 4)
    assert area_error(0.75, 2, 2) == pytest.approx(expected)


def test_the_example_of_hanley_and_mcneil() -> None:
    """Their CT images of 51 abnormal and 58 normal patients: area 0.893, standard error 0.032."""
    assert area_error(0.893, 51, 58) == pytest.approx(0.032, abs=0.001)


def test_one_kind_has_no_area() -> None:
    assert area_difference([0, 1], [0, 1], [False, False]) is None
    for wrong in ((1.2, 1, 1), (0.5, 0, 3)):
        with pytest.raises(ValueError, match="no ROC area"):
            area_error(*wrong)


scored = st.lists(
    st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40
)


@given(scored)
def test_differences(rows: list[tuple[bool, int, int]]) -> None:
    labels, first, second = (list(column) for column in zip(*rows, strict=True))
    one, other = roc_auc(first, labels), roc_auc(second, labels)
    found = area_difference(first, second, labels)
    turned = area_difference(second, first, labels)
    if one is None or other is None:
        assert found is turned is None
        return
    found, turned = defined(found), defined(turned)
    assert found.value == pytest.approx(one.value - other.value)
    if {one.value, other.value} & {0, 1} and one.value != other.value:
        assert found.p is turned.p is None
    else:
        assert 0 <= defined(found.p) <= 1
        assert found.p == pytest.approx(turned.p)
    same = defined(area_difference(first, [2 * score + 1 for score in first], labels))
    assert (same.value, same.p) == (0, 1)


def test_scores_that_tell_nothing_differ_as_often_as_p_says() -> None:
    draw = random.Random(0)
    labels = [True] * 60 + [False] * 60
    runs = []
    for _ in range(400):
        first = [draw.gauss(0, 1) for _ in labels]
        second = [one + draw.gauss(0, 1) for one in first]
        runs.append(defined(defined(area_difference(first, second, labels)).p))
    assert 0.02 <= sum(p < 0.05 for p in runs) / len(runs) <= 0.09
    assert bonferroni(0.01, 8) == pytest.approx(0.08)
    assert bonferroni(0.4, 8) == 1
