"""Cohen's kappa: worked by hand, by property, by other people's code."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from estimates import defined, ends
from hypothesis import assume, given
from hypothesis import strategies as st

from pipelines.metrics.agreement import cohen_kappa
from pipelines.metrics.estimate import Estimate

LABELS = "abc"
ratings = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=60
)


def kappa(first: Sequence[object], second: Sequence[object]) -> Estimate:
    return defined(cohen_kappa(first, second))


def raters(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


def test_worked_by_hand() -> None:
    # 20 yes to both, 15 no to both, 5 yes to the first alone, 10 to the second alone. p_o = 0.7.
    # The first says yes to 25 of 50, the second to 30: p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    # kappa = 0.2 / 0.5 = 0.4. Variance: 0.4 (1 - 1.1 * 0.6)^2 + 0.3 (1 - 0.9 * 0.6)^2 = 0.10972;
    # 0.36 (0.1 * 1.1^2 + 0.2 * 0.9^2) = 0.10188; (0.4 - 0.5 * 0.6)^2 = 0.01;
    # (0.10972 + 0.10188 - 0.01) / (50 * 0.25) = 0.016128.
    first = [True] * 25 + [False] * 25
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    estimate = defined(cohen_kappa(first, second, confidence=0.5))
    assert estimate.value == pytest.approx(0.4)
    assert estimate.n == 50
    half = 0.6744898 * sqrt(0.016128)
    assert ends(estimate) == pytest.approx((0.4 - half, 0.4 + half))


@given(ratings)
def test_as_scikit_learn_has_it(pairs: list[tuple[str, str]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    first, second = raters(pairs)
    assume(set(first) | set(second) != set(first) & set(second) or len(set(first)) > 1)
    assert kappa(first, second).value == pytest.approx(cohen_kappa_score(first, second))


@given(ratings)
def test_the_interval_is_that_of_statsmodels(pairs: list[tuple[str, str]]) -> None:
    cohens_kappa = pytest.importorskip("statsmodels.stats.inter_rater").cohens_kappa

    first, second = raters(pairs)
    estimate = cohen_kappa(first, second)
    assume(estimate is not None)
    assert estimate is not None
    table = np.array([[pairs.count((one, other)) for other in LABELS] for one in LABELS])
    with np.errstate(all="ignore"):  # its test statistics divide by 0
        theirs = cohens_kappa(table)
    assert estimate.value == pytest.approx(theirs.kappa)
    if estimate.low is None:
        assert theirs.var_kappa == pytest.approx(0.0, abs=1e-9)
    else:
        assert estimate.low == pytest.approx(max(-1.0, theirs.kappa_low))
        assert estimate.high == pytest.approx(min(1.0, theirs.kappa_upp))


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("aabb", "aabb", 1.0),
        ("aabb", "bbaa", -1.0),
        ("aaaa", "aabb", 0.0),  # who says one thing only agrees by chance
        ("aaaa", "bbbb", 0.0),
        ("a", "b", 0.0),
    ],
)
def test_without_any_spread_there_is_no_interval(first: str, second: str, value: float) -> None:
    assert kappa(first, second) == Estimate(value, None, None, len(first))


@pytest.mark.parametrize(("first", "second"), [("", ""), ("aaa", "aaa"), ("b", "b")])
def test_undefined_where_chance_agrees_fully(first: str, second: str) -> None:
    assert cohen_kappa(first, second) is None


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="2 labels of one rater, but 3"):
        cohen_kappa("ab", "abc")
