"""ROC AUC: worked by hand, by property, and against other implementations."""

from collections.abc import Sequence
from math import sqrt

import pytest
from estimates import defined, ends
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ranks import roc_auc

SCORES = (0.9, 0.6, 0.4, 0.7, 0.4, 0.1)
POSITIVE = (True, True, True, False, False, False)
Z = 1.959963984540054

# Few distinct scores, so that ties are common.
examples = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=40).filter(
    lambda items: len({label for _, label in items}) == 2
)


def auc(scores: Sequence[float], positive: Sequence[bool]) -> Estimate:
    return defined(roc_auc(scores, positive))


def split(items: Sequence[tuple[int, bool]]) -> tuple[list[int], list[bool]]:
    return [score for score, _ in items], [label for _, label in items]


def test_auc_and_delongs_interval_worked_by_hand() -> None:
    # Positives 0.9, 0.6, 0.4 against negatives 0.7, 0.4, 0.1. Shares of negatives below the
    # positives: 3/3, 2/3, 1.5/3 (a tie). Shares of positives above the negatives: 1/3, 2.5/3, 3/3.
    # The mean is 6.5/9 = 13/18. In eighteenths, the positives differ from it by 5, -1, -4, the
    # negatives by -7, 2, 5: squares 42 and 78 over 324, each divided by 3 * 2, give 120 / 1944 =
    # 0.0617284, root 0.2484520.
    estimate = defined(roc_auc(SCORES, POSITIVE))
    assert estimate.value == pytest.approx(13 / 18)
    assert estimate.n == 6
    # The upper end, 0.722 + 1.96 * 0.248, is clipped.
    assert ends(estimate) == pytest.approx((13 / 18 - Z * sqrt(120 / 1944), 1))


def test_clusters_worked_by_hand() -> None:
    # As above in eighteenths, with clusters a: 5 and -7; b: -1 and 2; c: -4 and 5. All have both
    # classes, so every sum of squares is corrected by 3/2: (42 + 78 + 2 * (-35 - 2 - 20)) * 3/2 /
    # 324 / 9.
    names = ["a", "b", "c", "a", "b", "c"]
    half = Z * sqrt(6 * 1.5 / 324 / 9)
    assert ends(roc_auc(SCORES, POSITIVE, names)) == pytest.approx((13 / 18 - half, 13 / 18 + half))


def test_one_class_alone_has_no_auc() -> None:
    assert roc_auc([], []) is None
    assert roc_auc([0.1, 0.9], [True, True]) is None
    assert roc_auc([0.1, 0.9], [False, False]) is None


@pytest.mark.parametrize(
    ("scores", "positive", "names", "value"),
    [
        ([0.8, 0.7, 0.2, 0.1], [True, True, False, False], None, 1),  # perfect order
        ([0.8, 0.7, 0.2, 0.1], [False, False, True, True], None, 0),  # perfect disorder
        ([0.5, 0.6, 0.4], [True, False, False], None, 0.5),  # a single positive
        ([0.5, 0.5, 0.6, 0.4], [True, True, False, False], "aaab", 0.5),  # all in one cluster
    ],
)
def test_where_the_sample_shows_no_spread_there_is_no_interval(
    scores: list[float], positive: list[bool], names: str | None, value: float
) -> None:
    assert roc_auc(scores, positive, names) == Estimate(value, None, None, len(scores))


@given(examples)
def test_auc_equals_sklearn(items: list[tuple[int, bool]]) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    scores, positive = split(items)
    assert auc(scores, positive).value == pytest.approx(sklearn.roc_auc_score(positive, scores))
