"""Conformal risk control (Angelopoulos et al.), as used by the cascade."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli.calibration import risk_curve
from pipelines.errors import InputError
from pipelines.judge.cascade import (
    choose_threshold,
    conformal_threshold,
    empirical_risk,
    risk_bound,
    why_nothing,
)

PAIRS = st.lists(
    st.tuples(st.sampled_from([n / 20 for n in range(7, 21)]), st.booleans()),
    min_size=1,
    max_size=60,
)
ALPHAS = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8])


def test_by_hand() -> None:
    """Nine pairs: u, and right or wrong. The bound is (wrong kept + 1) / 10 at every threshold."""
    confidences = [0.95, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.4]
    correct = [True, True, True, False, True, True, False, False, True]
    curve = risk_curve(confidences, correct)
    assert curve.pairs == 9
    assert [(point.threshold, point.kept, point.wrong) for point in curve.points] == [
        *((0.4, 9, 3), (0.5, 8, 3), (0.6, 7, 2), (0.7, 5, 1)),
        *((0.8, 4, 1), (0.9, 3, 0), (0.95, 1, 0)),
    ]
    bounds = [risk_bound(empirical_risk(curve, point), 9) for point in curve.points]
    assert bounds == pytest.approx([0.4, 0.4, 0.3, 0.2, 0.2, 0.1, 0.1])
    # Exactly 0.2 is allowed; the smallest threshold that reaches it is 0.7.
    chosen = {0.2: 0.7, 0.19: 0.9, 0.3: 0.6, 0.99: 0.4, 0.09: inf}
    assert {alpha: conformal_threshold(curve, alpha) for alpha in chosen} == chosen


def test_the_reason_for_keeping_nothing() -> None:
    few = risk_curve([0.9] * 9, [True] * 9)
    assert "9 calibration pairs are too few" in why_nothing(few, 0.05)
    assert "at least 19" in why_nothing(few, 0.05)
    assert conformal_threshold(risk_curve([0.9] * 19, [True] * 19), 0.05) == 0.9
    wrong = risk_curve([1.0] * 100, [False] * 20 + [True] * 80)
    assert "of the 100 surest calibration labels 20 are wrong" in why_nothing(wrong, 0.05)
    assert choose_threshold(wrong, 0.05).reason is not None
    assert choose_threshold(wrong, 0.5).reason is None


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 5.0, float("nan")])
def test_a_risk_that_is_no_share_is_refused(alpha: float) -> None:
    with pytest.raises(InputError, match="not a share"):
        conformal_threshold(risk_curve([0.5], [True]), alpha)


@given(PAIRS, ALPHAS)
def test_the_smallest_threshold_that_keeps_the_bound(
    pairs: list[tuple[float, bool]], alpha: float
) -> None:
    """Check against the definition, recomputed from the pairs at every confidence value."""
    curve = risk_curve([u for u, _ in pairs], [right for _, right in pairs])
    n = len(pairs)

    def bound(t: float) -> float:
        return (sum(u >= t and not right for u, right in pairs) + 1) / (n + 1)

    good = [t for t in sorted({u for u, _ in pairs}) if bound(t) <= alpha + 1e-12]
    assert conformal_threshold(curve, alpha) == (good[0] if good else inf)
