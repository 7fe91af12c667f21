"""Intervals by drawing clusters again (Efron 1979)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.metrics.estimate import Estimate, check_confidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 9_999


def redrawn(clusters: int, *, seed: int = 0, resamples: int = RESAMPLES) -> "NDArray[np.int64]":
    """How often each cluster is in each resample: (resamples, clusters).

    Each resample draws as many clusters as there are, with replacement, so that its row sums to
    their number. Equal seeds give equal draws.
    """
    import numpy as np

    shares = np.full(clusters, 1 / clusters)
    return np.random.default_rng(seed).multinomial(clusters, shares, size=resamples)


def redrawn_sums(
    counts: Sequence[Sequence[int]], *, seed: int = 0, resamples: int = RESAMPLES
) -> "NDArray[np.int64]":
    """The sums over each resample of whole numbers that clusters have, (resamples, columns).

    Clusters are drawn as by `redrawn`, but those with equal numbers together: only sums matter.
    """
    import numpy as np

    kinds, sizes = np.unique(np.array(counts), axis=0, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(
        len(counts), sizes / sizes.sum(), size=resamples
    )
    sums: NDArray[np.int64] = draws @ kinds
    return sums


def percentile_estimate(
    value: float, resampled: "NDArray[np.floating]", n: int, *, confidence: float = 0.95
) -> Estimate:
    """A value with the percentile interval of what resamples give; NaN of a resample is left out.

    The interval is widened to the value where all but a few resamples are on one side of it, and
    there is none where no resample has a value.
    """
    import numpy as np

    check_confidence(confidence)
    known = resampled[~np.isnan(resampled)]
    if not len(known):
        return Estimate(value, None, None, n, confidence)
    tail = (1 - confidence) / 2
    low, high = (float(each) for each in np.quantile(known, (tail, 1 - tail)))
    return Estimate(value, min(low, value), max(high, value), n, confidence)
