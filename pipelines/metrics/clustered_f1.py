"""F1 of yes where examples come in clusters."""

from collections.abc import Hashable, Sequence

from pipelines.metrics.bootstrap import percentile_estimate, redrawn
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.f1 import f1


def clustered_f1(
    gold: Sequence[bool],
    said: Sequence[bool],
    clusters: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate | None:
    """F1 of yes, 2 TP / (2 TP + FP + FN), with the interval of a bootstrap over clusters.

    None where yes is neither true nor said; no interval with a single cluster. A resample without
    any yes is left out.

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
    table = np.array(list(counts.values())).reshape(-1, 3)
    true, false, missed = (int(number) for number in table.sum(axis=0))
    value = f1(true, false, missed)
    if value is None:
        return None
    if len(counts) == 1:
        return Estimate(value, None, None, len(gold), confidence)
    drawn = (redrawn(len(counts), seed=seed) @ table).astype(float)
    total = 2 * drawn[:, 0] + drawn[:, 1] + drawn[:, 2]
    scores = np.full(len(total), np.nan)
    np.divide(2 * drawn[:, 0], total, out=scores, where=total > 0)
    return percentile_estimate(value, scores, len(gold), confidence=confidence)
