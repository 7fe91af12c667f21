"""Ratios of sums, as precision and recall over all facts, where examples come in clusters."""

from collections.abc import Hashable, Sequence

from pipelines.metrics.bootstrap import percentile_estimate, redrawn
from pipelines.metrics.estimate import Estimate


def clustered_ratio(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[Hashable]
) -> Estimate | None:
    """Sum of the parts over the sum of the wholes, with a percentile interval over clusters.

    A resample draws as many clusters as there are, with all their examples; its ratio is that of
    the sums drawn. `n` is the number of examples. There is no interval for a single cluster; None
    where the wholes sum to 0.

    Raises:
        ValueError: The lengths differ.
    """
    if not len(parts) == len(wholes) == len(clusters):
        raise ValueError(f"{len(parts)} parts of {len(wholes)} wholes in {len(clusters)} clusters")
    if not sum(wholes):
        return None
    value = sum(parts) / sum(wholes)
    names = {name: n for n, name in enumerate(dict.fromkeys(clusters))}
    if len(names) == 1:
        return Estimate(value, None, None, len(parts))

    import numpy as np

    place = [names[each] for each in clusters]
    times = redrawn(len(names))
    up, down = (times @ np.bincount(place, weights=each) for each in (parts, wholes))
    ratios = np.divide(up, down, out=np.full(len(times), np.nan), where=down > 0)
    return percentile_estimate(value, ratios, len(parts))
