"""A proportion with the Wilson score interval."""

from collections.abc import Collection
from math import sqrt
from statistics import NormalDist

from pipelines.metrics.estimate import Estimate, check_confidence


def proportion(successes: int, total: int, *, confidence: float = 0.95) -> Estimate | None:
    """Share of successes with the Wilson score interval, without continuity correction.

    With p = successes / total, n = total and z the two-sided normal quantile, the interval is

        (p + z^2/2n  -+  z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).

    It stays within [0, 1], and does not collapse to a point at p = 0 or p = 1. Trials are taken as
    independent: where they come in clusters (claims of one response), it is too narrow. Without a
    trial there is no share: 0/0 is no zero.

    Raises:
        ValueError: Counts are negative, or there are more successes than trials.
    """
    check_confidence(confidence)
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} successes of {total} trials")
    if total == 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = successes / total
    scale = 1 + z * z / total
    centre = (p + z * z / (2 * total)) / scale
    half = z * sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / scale
    # At p = 0 and p = 1 one end is exactly p; rounding must not move it past.
    low = 0.0 if successes == 0 else min(p, max(0.0, centre - half))
    high = 1.0 if successes == total else max(p, min(1.0, centre + half))
    return Estimate(p, low, high, total, confidence)


def share(holds: Collection[bool]) -> Estimate | None:
    """Share of trials that succeeded, as `proportion` gives it."""
    return proportion(sum(holds), len(holds))
