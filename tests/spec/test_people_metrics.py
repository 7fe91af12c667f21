"""Kappas and rank correlations in clusters: by hand, and what always holds."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.metrics.agreement import clustered_kappa, cohen_kappa
from pipelines.metrics.ranks import rank_correlation


def test_kappa_in_clusters_has_kappas_value() -> None:
    """Yes by both twice, by neither twice, by the first alone once: 4/5, chance 12/25, 8/13."""
    first, second = [True, True, True, False, False], [True, True, False, False, False]
    found = clustered_kappa(first, second, ["q", "q", "r", "r", "s"])
    plain = cohen_kappa(first, second)
    assert found is not None
    assert plain is not None
    assert found.value == plain.value == pytest.approx(8 / 13)
    assert found.low is not None
    assert found.low < found.value
    assert clustered_kappa([True], [True], ["q"]) is None
    one = clustered_kappa(first, second, ["q"] * 5)
    assert one is not None
    assert one.low is None


def test_repeated_answers_do_not_narrow_kappas_interval() -> None:
    """Each of six answers ten times in its cluster: no more is known than of the six."""
    first, second = [True, True, True, False, False, False], [True, True, False, True, False, False]
    names = list("abcdef")
    once = clustered_kappa(first, second, names)
    often = clustered_kappa(first * 10, second * 10, names * 10)
    plain = cohen_kappa(first * 10, second * 10)
    assert once is not None
    assert often is not None
    assert plain is not None
    assert (once.low, once.high) == (often.low, often.high)
    assert plain.low is not None
    assert often.low is not None
    assert often.low < plain.low


def test_ranks_worked_by_hand() -> None:
    """1 2 3 4 beside 1 3 2 4: rho is 1 - 6 (1 + 1) / (4 15) = 0.8, tau (5 - 1) / 6.

    Of 24 orders one has rho 1, three have 0.8 and as many the opposite: p = 8/24.
    """
    found = rank_correlation([1, 2, 3, 4], [10, 30, 20, 40])
    assert found is not None
    assert found.rho == pytest.approx(0.8)
    assert found.tau == pytest.approx(2 / 3)
    rhos = [
        1 - sum((one - other) ** 2 for one, other in zip(range(4), order, strict=True)) / 10
        for order in permutations(range(4))
    ]
    assert found.p == pytest.approx(sum(abs(each) > 0.79 for each in rhos) / 24) == 8 / 24
    assert rank_correlation([1, 2], [1, 2]) is None
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=6))
def test_a_reversed_measure_reverses_both(rows: list[tuple[int, int]]) -> None:
    first, second = [one for one, _ in rows], [other for _, other in rows]
    found = rank_correlation(first, second)
    other = rank_correlation(first, [-each for each in second])
    assert (found is None) == (other is None)
    if found is not None and other is not None:
        assert (found.rho, found.tau) == pytest.approx((-other.rho, -other.tau))
        assert -1.000001 <= found.rho <= 1.000001
        assert 0 < found.p <= 1
