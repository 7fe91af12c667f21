"""Rank correlation: whether two measures put the same things in the same order."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np


class RankCorrelation(NamedTuple):
    """Spearman's rho with its p in (0, 1], and Kendall's tau-b; both in [-1, 1]."""

    rho: float
    p: float
    tau: float


def rank_correlation(
    first: Sequence[float], second: Sequence[float], *, seed: int = 0
) -> RankCorrelation | None:
    """How far two measures of the same things agree on their order (Spearman 1904, Kendall 1945).

    rho is the correlation of mid-ranks; p is of a two-sided permutation test, over every order of
    up to seven things and 9,999 random ones of more. None with fewer than three things, or where a
    measure is the same for all.

    Raises:
        ValueError: The lengths differ.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values of one measure, but {len(second)} of the other")
    if len(first) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None

    import numpy as np
    from scipy.stats import kendalltau, permutation_test, rankdata

    one, other = (rankdata(each) - (len(first) + 1) / 2 for each in (first, second))
    scale = np.sqrt((one**2).sum() * (other**2).sum())

    def rho(ranks: "np.ndarray", axis: int = -1) -> "np.ndarray":
        """Per order of ranks along the last axis, the correlation with the other's."""
        correlations: np.ndarray = (ranks * other).sum(axis=axis) / scale
        return correlations

    found = permutation_test(
        (one,),
        rho,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=9_999,
        rng=np.random.default_rng(seed),
    )
    tau = kendalltau(first, second).statistic
    return RankCorrelation(float(found.statistic), min(1.0, float(found.pvalue)), float(tau))
