"""The statistics in tables: hand-worked examples, properties, and other implementations."""

import numpy as np
import pytest
from estimates import defined, ends
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pipelines.metrics.estimate import Estimate, mean, paired_difference, proportion

counts = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
scores = st.floats(0, 1, allow_subnormal=False)


# Proportion


def test_wilson_worked_by_hand() -> None:
    # 8 of 10, z = 1.959964: z^2 = 3.841459, n + z^2 = 13.841459.
    # centre = (8 + 1.920729) / 13.841459 = 0.716740
    # half = 1.959964 * sqrt(8 * 2 / 10 + 0.960365) / 13.841459 = 0.226577
    assert ends(proportion(8, 10)) == pytest.approx(
        (0.716740 - 0.226577, 0.716740 + 0.226577), abs=2e-6
    )


def test_wilson_at_the_ends_is_no_point() -> None:
    # At 0 of n the upper end is z^2 / (n + z^2).
    none, every = ends(proportion(0, 10)), ends(proportion(10, 10))
    assert none == pytest.approx((0, 3.841459 / 13.841459), abs=1e-6)
    assert every == pytest.approx((10 / 13.841459, 1), abs=1e-6)
    assert none[0] == 0
    assert every[1] == 1


@given(counts)
def test_wilson_equals_scipy_and_statsmodels_and_holds_the_share(
    count: tuple[int, int],
) -> None:
    confint = pytest.importorskip("statsmodels.stats.proportion").proportion_confint
    low, high = ends(proportion(*count))
    assert 0 <= low <= count[0] / count[1] <= high <= 1
    assert low < high
    expected = stats.binomtest(*count).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    theirs = confint(*count, method="wilson")
    assert (low, high) == pytest.approx(theirs, abs=1e-9)


# Mean


def test_clustered_mean_worked_by_hand() -> None:
    # Mean 0.5; residual sums per cluster: a: 0.5 + 0.3 = 0.8, b: -0.5 - 0.3 = -0.8.
    # CR0 = (0.64 + 0.64) / 16 = 0.08; CR1 = 0.08 * 2 / 1 = 0.16, root 0.4; t(1) is 12.706205.
    estimate = defined(mean([1.0, 0.8, 0.0, 0.2], ["a", "a", "b", "b"]))
    assert estimate.value == pytest.approx(0.5)
    half = 12.706205 * 0.4
    assert ends(estimate) == pytest.approx((0.5 - half, 0.5 + half))
    assert estimate.n == 4


def test_what_nothing_and_one_cluster_give() -> None:
    assert mean([]) is None
    assert mean([], []) is None
    for estimate in map(defined, (mean([0.3]), mean([0.2, 0.4], ["a", "a"]))):
        assert estimate.value == pytest.approx(0.3)
        assert (estimate.low, estimate.high) == (None, None)


def test_the_interval_is_cut_to_the_range_of_the_values() -> None:
    low, high = ends(mean([0.0, 0.0, 1.0]))
    assert low < 0
    assert high > 1
    assert ends(mean([0.0, 0.0, 1.0], bounds=(0, 1))) == (0, 1)


# Paired difference


def test_paired_difference_worked_by_hand() -> None:
    # Differences 0.2, 0.4, 0.6: mean 0.4, s = 0.2, s / sqrt(3) = 0.115470, t(2) = 4.302653.
    estimate = defined(
        paired_difference(
            {"a": 0.5, "b": 0.6, "c": 0.9, "only here": 1.0}, {"c": 0.3, "b": 0.2, "a": 0.3}
        )
    )
    assert estimate.n == 3
    assert estimate.value == pytest.approx(0.4)
    assert ends(estimate) == pytest.approx((0.4 - 0.496828, 0.4 + 0.496828), abs=1e-6)


def test_no_pair_and_one_pair() -> None:
    assert paired_difference({"a": 0.5}, {"b": 0.5}) is None
    estimate = paired_difference({"a": 0.5}, {"a": 0.25})
    assert estimate == Estimate(0.25, None, None, 1)


@given(st.lists(st.tuples(scores, scores), min_size=2, max_size=30))
def test_paired_difference_equals_scipy_and_swaps_sign(pairs: list[tuple[float, float]]) -> None:
    first = {str(index): pair[0] for index, pair in enumerate(pairs)}
    second = {str(index): pair[1] for index, pair in enumerate(pairs)}
    low, high = ends(paired_difference(first, second))
    mirrored = ends(paired_difference(second, first))
    assert mirrored == pytest.approx((-high, -low), abs=1e-12)
    differences = [one - other for one, other in pairs]
    if np.std(differences) > 1e-6:
        expected = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)
