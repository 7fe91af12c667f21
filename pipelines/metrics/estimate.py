"""Shares, means and paired differences with their intervals, resampling, and paired tests."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
    """A point estimate with its 95 % confidence interval and sample size.

    Attributes:
        value: The estimate.
        low: Lower end of the interval, at most `value`; None if there is no interval.
        high: Upper end, at least `value`; None exactly when `low` is None.
        n: Number of observations, at least 1.
    """

    value: float
    low: float | None
    high: float | None
    n: int

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        if self.low is None or self.high is None:
            return
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} lies outside [{self.low}, {self.high}]")


QUANTILE = 0.975
"""Quantile of the upper end of a 95 % interval, with 2.5 % above it."""
Z = NormalDist().inv_cdf(QUANTILE)


def proportion(successes: int, total: int) -> Estimate | None:
    """Share of successes with the Wilson score interval, without continuity correction.

    With p = successes / total, n = total and z = 1.96, the interval is

        (p + z^2/2n  -+  z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).

    It stays within [0, 1] and does not collapse to a point at p = 0 or p = 1. Trials are assumed
    independent: if they are clustered (claims of one response), the interval is too narrow. None
    without trials, since 0/0 is undefined.

    Raises:
        ValueError: Counts are negative, or there are more successes than trials.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} successes of {total} trials")
    if total == 0:
        return None
    p = successes / total
    scale = 1 + Z * Z / total
    centre = (p + Z * Z / (2 * total)) / scale
    half = Z * sqrt(p * (1 - p) / total + Z * Z / (4 * total * total)) / scale
    # At p = 0 and p = 1 one end is exactly p; rounding must not push it past.
    low = 0.0 if successes == 0 else min(p, max(0.0, centre - half))
    high = 1.0 if successes == total else max(p, min(1.0, centre + half))
    return Estimate(p, low, high, total)


def share(holds: Collection[bool]) -> Estimate | None:
    """Share of trials that succeeded, as an estimate by `proportion`."""
    return proportion(sum(holds), len(holds))


def mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    bounds: tuple[float, float] | None = None,
) -> Estimate | None:
    """Arithmetic mean with a t interval from a cluster-robust standard error.

    Values in the same cluster (responses to one question) are not independent. With residuals e_i =
    x_i - mean, n values and G clusters, the squared standard error is

        CR0 = sum over clusters of (sum of e_i in the cluster)^2 / n^2,
        CR1 = CR0 * G / (G - 1),

    and the interval is mean -+ t(G - 1) * sqrt(CR1). With one value per cluster this is the
    ordinary t interval, s / sqrt(n) with n - 1 degrees of freedom.

    None without values. A single cluster gives the mean without an interval: there are G - 1 = 0
    degrees of freedom. If all values are equal, the interval has zero width: the sample shows no
    spread, but that does not make the mean certain.

    Args:
        values: Finite numbers.
        clusters: The cluster of each value; None makes each value its own cluster.
        bounds: Range of possible values; the interval is clipped to it.

    Returns:
        The mean over the values (all values weigh the same, whatever the size of their cluster).

    Raises:
        ValueError: A value is not finite or out of bounds, or the lengths differ.
    """
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"{len(values)} values, but {len(clusters)} cluster names")
    for value in values:
        if not isfinite(value) or (bounds is not None and not bounds[0] <= value <= bounds[1]):
            raise ValueError(f"{value} cannot be averaged: not finite, or out of bounds")
    if not values:
        return None

    n = len(values)
    # Rounding may push the mean of equal values past them by one unit in the last place.
    centre = min(max(fsum(values) / n, min(values)), max(values))
    residuals: dict[Hashable, list[float]] = defaultdict(list)
    for index, value in enumerate(values):
        residuals[index if clusters is None else clusters[index]].append(value - centre)
    count = len(residuals)
    if count == 1:
        return Estimate(centre, None, None, n)

    from scipy.special import stdtrit

    cr1 = fsum(fsum(cluster) ** 2 for cluster in residuals.values()) / n**2 * count / (count - 1)
    half = float(stdtrit(count - 1, QUANTILE)) * sqrt(cr1)
    low, high = centre - half, centre + half
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Estimate(centre, low, high, n)


RESAMPLES = 9_999


def redrawn(clusters: int, *, seed: int = 0) -> "NDArray[np.int64]":
    """How often each cluster occurs in each resample, (`RESAMPLES`, clusters).

    Each resample draws as many clusters as there are, with replacement, so every row sums to the
    number of clusters. Equal seeds give equal draws.
    """
    import numpy as np

    shares = np.full(clusters, 1 / clusters)
    return np.random.default_rng(seed).multinomial(clusters, shares, size=RESAMPLES)


def redrawn_sums(
    counts: Sequence[Sequence[int]], *, resamples: int = RESAMPLES
) -> "NDArray[np.int64]":
    """Sums of the clusters' counts over each resample, (resamples, columns).

    Clusters are drawn as in `redrawn`, but clusters with equal counts are drawn together, since
    only the sums matter.
    """
    import numpy as np

    kinds, sizes = np.unique(np.array(counts), axis=0, return_counts=True)
    draws = np.random.default_rng(0).multinomial(len(counts), sizes / sizes.sum(), size=resamples)
    sums: NDArray[np.int64] = draws @ kinds
    return sums


def percentile_estimate(value: float, resampled: "NDArray[np.floating]", n: int) -> Estimate:
    """A value with the percentile interval of its resamples; NaN resamples are dropped.

    The interval is widened to include the value if nearly all resamples lie on one side of it.
    There is no interval if every resample is NaN.
    """
    import numpy as np

    known = resampled[~np.isnan(resampled)]
    if not len(known):
        return Estimate(value, None, None, n)
    low, high = (float(bound) for bound in np.quantile(known, (1 - QUANTILE, QUANTILE)))
    return Estimate(value, min(low, value), max(high, value), n)


Key = TypeVar("Key", bound=Hashable)


def paired_difference(
    first: Mapping[Key, float],
    second: Mapping[Key, float],
    *,
    bounds: tuple[float, float] | None = None,
    clusters: Mapping[Key, Hashable] | None = None,
) -> Estimate | None:
    """Mean of first - second over their shared keys, with the paired t interval.

    With d_k = first[k] - second[k] over m shared keys, the interval is mean(d) -+ t(m - 1) * s_d /
    sqrt(m). Keys on one side only are dropped; `n` of the estimate is the number of pairs left.
    None without pairs; no interval for a single pair. `bounds` apply to the difference. `clusters`
    maps every shared key to its cluster; the interval is then clustered as in `mean`.

    Raises:
        ValueError: A difference is not finite or out of bounds.
    """
    shared = [key for key in first if key in second]
    differences = [first[key] - second[key] for key in shared]
    names = None if clusters is None else [clusters[key] for key in shared]
    return mean(differences, names, bounds=bounds)


def mcnemar(first: Mapping[Key, bool], second: Mapping[Key, bool]) -> float | None:
    """p-value of the exact McNemar test that both methods are equally accurate.

    With b examples that only the first method gets right and c that only the second does, this is
    the two-sided binomial test of min(b, c) among b + c at 1/2 (McNemar 1947, exact form). Examples
    on one side only are dropped. The p-value, in [0, 1], is 1 if there are no discordant pairs, and
    None without shared examples.
    """
    shared = [(right, second[key]) for key, right in first.items() if key in second]
    if not shared:
        return None
    only_first = sum(one and not other for one, other in shared)
    only_second = sum(other and not one for one, other in shared)
    if only_first + only_second == 0:
        return 1.0

    from scipy.stats import binomtest

    return float(binomtest(only_first, only_first + only_second).pvalue)


def sign_flip(differences: Sequence[float]) -> float | None:
    """p-value of a sign-flip test that the mean paired difference is 0.

    Under the null the two sides of each pair are exchangeable. The signs of the differences are
    flipped (Fisher 1935): 9,999 times at random, or in every possible way if that is fewer. The
    p-value is two-sided, in (0, 1]; it is 1 for a single pair, and None without pairs.
    """
    if not differences:
        return None
    if len(differences) == 1 or not any(differences):
        return 1.0

    import numpy as np
    from scipy.stats import permutation_test

    test = permutation_test(
        (np.asarray(differences, float),),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=1_000,
        rng=np.random.default_rng(0),
    )
    return float(test.pvalue)
