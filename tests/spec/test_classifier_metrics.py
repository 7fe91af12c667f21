"""Classifier metrics: worked by hand, by property, and against other implementations."""

import pytest
from estimates import defined, ends
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.metrics.calibration import brier, ece
from pipelines.metrics.estimate import proportion
from pipelines.metrics.rates import accuracy, confusion, f1, f1_by_label, macro_f1

LABELS = ("support", "refute", "irrelevant")
GOLD = ["support"] * 4 + ["refute"] * 3 + ["irrelevant"] * 3
GIVEN = [
    *["support", "support", "support", "refute"],
    *["refute", "refute", "irrelevant"],
    *["irrelevant", "support", "irrelevant"],
]

pairs = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1)


# Confusion


def test_confusion_worked_by_hand() -> None:
    # Rows are true labels, columns predicted: of 4 supports, 3 were found and 1 was labelled
    # refutes.
    assert confusion(GOLD, GIVEN, LABELS) == ((3, 1, 0), (0, 2, 1), (1, 0, 2))


# Accuracy


def test_accuracy_is_the_proportion_that_is_right() -> None:
    assert accuracy(GOLD, GIVEN) == proportion(7, 10)
    assert accuracy([], []) is None
    with pytest.raises(ValueError, match="10 true labels, but 9"):
        accuracy(GOLD, GIVEN[:-1])


# F1


def test_f1_worked_by_hand() -> None:
    # precision 3/4, recall 3/5: 2 * 0.75 * 0.6 / 1.35 = 2/3
    assert f1(3, 1, 2) == pytest.approx(2 / 3)
    assert f1(0, 1, 0) == 0
    assert f1(0, 0, 0) is None
    with pytest.raises(ValueError, match="negative"):
        f1(1, -1, 0)


def test_macro_f1_worked_by_hand() -> None:
    # support 2*3/(4+4) = 0.75, refute 2*2/(3+3) = 2/3, irrelevant 2*2/(3+3) = 2/3
    assert f1_by_label(confusion(GOLD, GIVEN, LABELS)) == pytest.approx((3 / 4, 2 / 3, 2 / 3))
    estimate = defined(macro_f1(GOLD, GIVEN, LABELS))
    assert estimate.value == pytest.approx((3 / 4 + 2 / 3 + 2 / 3) / 3)
    low, high = ends(estimate)
    assert 0.2 < low < 0.6
    assert 0.85 < high <= 1


def test_a_label_that_never_occurs_is_no_zero() -> None:
    assert defined(macro_f1(["support", "refute"], ["support", "refute"], LABELS)).value == 1
    assert f1_by_label(((1, 0, 0), (0, 1, 0), (0, 0, 0)))[2] is None


@settings(max_examples=30)
@given(pairs)
def test_macro_f1_equals_sklearn_and_ignores_order(both: list[tuple[str, str]]) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    gold, given_labels = zip(*both, strict=True)
    estimate = defined(macro_f1(gold, given_labels, LABELS, resamples=20))
    expected = sklearn.f1_score(gold, given_labels, average="macro", zero_division=0)
    assert estimate.value == pytest.approx(expected)
    assert estimate == macro_f1(gold[::-1], given_labels[::-1], LABELS, resamples=20)


# ECE


def test_ece_worked_by_hand() -> None:
    # Two bins: (0, 0.5] has 0.4 (wrong) and 0.5 (right); (0.5, 1] has 0.8 (right) and 1.0 (right).
    # 2/4 * |0.5 - 0.45| + 2/4 * |1 - 0.9| = 0.075
    assert ece([0.4, 0.5, 0.8, 1.0], [False, True, True, True], bins=2) == pytest.approx(0.075)
    assert ece([0.0, 0.1, 1.0], [False, True, True], bins=10) == pytest.approx((1 - 0.1) / 3)


def test_nothing_has_no_error() -> None:
    assert ece([], []) is None
    assert brier([], []) is None


# Brier


def test_brier_worked_by_hand() -> None:
    # (0.7-1)^2 + 0.2^2 + 0.1^2 = 0.14;  0.5^2 + (0.3-1)^2 + 0.2^2 = 0.78;  mean 0.46
    estimate = defined(brier([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], [0, 1]))
    assert estimate.value == pytest.approx(0.46)
    assert ends(estimate) == (0, 2)  # two values give a wide interval: clipped to the range
