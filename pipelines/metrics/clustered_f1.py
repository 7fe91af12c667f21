"""F1 of yes where examples come in clusters."""

from collections.abc import Hashable, Sequence

from pipelines.metrics.bootstrap import RESAMPLES, percentile_estimate, redrawn_sums
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.f1 import f1


def clustered_f1(
    gold: Sequence[bool],
    said: Sequence[bool],
    clusters: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate | None:
    """F1 of yes, 2 TP / (2 TP + FP + FN), with the interval of a bootstrap over clusters.

    None where yes is neither true nor said; no interval with a single cluster. A resample without
    any yes is left out. Equal seeds give equal intervals.

    Raises:
        ValueError: The lengths differ.
    """
    import numpy as np

    counts: dict[Hashable, list[int]] = {}
    for label, answer, cluster in zip(gold, said, clusters, strict=True):
        of = counts.setdefault(cluster, [0, 0, 0])
        of[0] += label and answer
        of[1] += answer and not label
        of[2] += label and not answer
    rows = list(counts.values())
    value = f1(*map(sum, zip(*rows, strict=True))) if rows else None
    if value is None:
        return None
    if len(rows) == 1:
        return Estimate(value, None, None, len(gold), confidence)
    found = [[hits, false + missed] for hits, false, missed in rows]
    hits, misses = redrawn_sums(found, seed=seed, resamples=resamples).T
    with np.errstate(invalid="ignore"):
        scores = 2 * hits / (2 * hits + misses)
    return percentile_estimate(value, scores, len(gold), confidence=confidence)
