"""A mean with a t interval, clustered by group."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import fsum, isfinite, sqrt

from pipelines.metrics.estimate import Estimate, check_confidence


def mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """Arithmetic mean with a t interval from a cluster-robust standard error.

    Values of one cluster (responses to one question) are not independent. With residuals
    e_i = x_i - mean, n values and G clusters, the squared standard error is

        CR0 = sum over clusters of (sum of e_i in the cluster)^2 / n^2,
        CR1 = CR0 * G / (G - 1),

    and the interval is mean -+ t(G - 1) * sqrt(CR1). With one value per cluster this is the
    ordinary t interval, s / sqrt(n) with n - 1 degrees of freedom.

    Nothing gives None. One cluster gives the mean without an interval, since G - 1 = 0 degrees of
    freedom say nothing of the spread between clusters. Values that are all equal give an interval
    of zero width: the sample shows no spread, which does not make the mean certain.

    Args:
        values: Finite numbers.
        clusters: The cluster of each value; None makes each value its own cluster.
        bounds: Range that a value can take; the interval is cut to it.
        confidence: Level of the interval.

    Returns:
        The mean over the values (each value weighs the same, whatever its cluster's size).

    Raises:
        ValueError: A value is not finite or out of bounds, or the lengths differ.
    """
    check_confidence(confidence)
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
        return Estimate(centre, None, None, n, confidence)

    from scipy.special import stdtrit

    cr1 = fsum(fsum(cluster) ** 2 for cluster in residuals.values()) / n**2 * count / (count - 1)
    half = float(stdtrit(count - 1, (1 + confidence) / 2)) * sqrt(cr1)
    low, high = centre - half, centre + half
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Estimate(centre, low, high, n, confidence)
