"""The area under the ROC curve where examples come in clusters, and how far two areas differ.

Responses on one topic share its arguments and words. So intervals draw topics, not responses, and
tests exchange detectors topic by topic.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from pipelines.metrics.auc import roc_auc
from pipelines.metrics.bootstrap import RESAMPLES, percentile_estimate, redrawn
from pipelines.metrics.estimate import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class AreaDifference:
    """The first of two areas of the same examples minus the second, in [-1, 1], and its p."""

    difference: Estimate
    p: float


def clustered_auc(
    scores: Sequence[float],
    positive: Sequence[bool],
    clusters: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate | None:
    """The area of `roc_auc`, with the percentile interval of a bootstrap over clusters.

    A resample draws as many clusters as there are, with all their examples (Field and Welsh 2007);
    its area compares all its positives with all its negatives, but not those of a cluster with
    those of its copies: they would count as examples of different clusters, and areas are often
    larger within one. Resamples of one kind alone have no area. There is no interval at 0 and at 1,
    nor where positives or negatives are all of one cluster.

    Raises:
        ValueError: A score is not finite, or the lengths differ.
    """
    found = roc_auc(scores, positive, clusters, confidence=confidence)
    if found is None or found.low is None:
        return found
    resampled = _resampled_areas(scores, positive, clusters, seed)
    return percentile_estimate(found.value, resampled, found.n, confidence=confidence)


def clustered_difference(
    first: Sequence[float],
    second: Sequence[float],
    positive: Sequence[bool],
    clusters: Sequence[Hashable],
    *,
    seed: int = 0,
) -> AreaDifference | None:
    """Whether two scores of the same examples have different areas, by clusters.

    The interval is of the bootstrap of `clustered_auc`; there is none where an area has none. p is
    of a permutation test (Venkatraman and Begg 1996): were both scores equally good, one could
    exchange them within a cluster. Scores become their mid-ranks first, which leaves areas as they
    are and makes scores comparable. They are exchanged in every way, or 9,999 times at random where
    there are more; p is two-sided, in (0, 1], and cannot be below 2 / 2^clusters. None where all
    examples are positive, or none is.

    Raises:
        ValueError: A score is not finite, or the lengths differ.
    """
    import numpy as np

    one, other = (roc_auc(scores, positive, clusters) for scores in (first, second))
    if one is None or other is None:
        return None
    value = one.value - other.value
    gains = _resampled_areas(first, positive, clusters, seed) - _resampled_areas(
        second, positive, clusters, seed
    )
    names = list(dict.fromkeys(clusters))
    found = Estimate(value, None, None, one.n)
    if one.low is not None and other.low is not None:
        found = percentile_estimate(value, gains, one.n)

    place = _places(clusters)
    ranks = np.concatenate([_mid_ranks(first), _mid_ranks(second)])
    labels = np.tile(np.asarray(positive, dtype=bool), 2)
    won = _pairs_won(ranks, labels, np.concatenate([place, place + len(names)]), 2 * len(names))
    kept = _exchanges(len(names), seed)
    as_first, as_second = np.hstack([kept, ~kept]), np.hstack([~kept, kept])
    positives = sum(map(bool, positive))
    pairs = positives * (len(positive) - positives)
    exchanged = (_quadratic(as_first, won) - _quadratic(as_second, won)) / pairs
    extreme = np.abs(exchanged) >= abs(value) - 1e-12  # equal but for rounding
    every = len(kept) == 2 ** len(names)
    p = extreme.mean() if every else (1 + extreme.sum()) / (1 + len(kept))
    return AreaDifference(found, float(p))


def _resampled_areas(
    scores: Sequence[float], positive: Sequence[bool], clusters: Sequence[Hashable], seed: int
) -> "NDArray[np.floating]":
    """The area of every resample; NaN where one kind is missing."""
    import numpy as np

    labels, place = np.asarray(positive, dtype=bool), _places(clusters)
    count = int(place.max()) + 1
    won = _pairs_won(np.asarray(scores, dtype=float), labels, place, count)
    times = redrawn(count, seed=seed)
    kinds = [np.bincount(place[kind], minlength=count) for kind in (labels, ~labels)]
    pairs = np.outer(kinds[0], kinds[1]).astype(float)
    copies = times * (times - 1)
    halves, compared = (_quadratic(times, each) - copies @ np.diag(each) for each in (won, pairs))
    areas = np.full(len(times), np.nan)
    np.divide(halves, compared, out=areas, where=compared > 0)
    return areas


def _places(clusters: Sequence[Hashable]) -> "NDArray[np.int64]":
    """The number of each example's cluster, in the order in which they come."""
    import numpy as np

    number = {name: n for n, name in enumerate(dict.fromkeys(clusters))}
    return np.array([number[name] for name in clusters])


def _pairs_won(
    scores: "NDArray[np.floating]",
    labels: "NDArray[np.bool_]",
    place: "NDArray[np.int64]",
    count: int,
) -> "NDArray[np.floating]":
    """Pairs that positives of a cluster (row) win against negatives of one (column); ties half."""
    import numpy as np

    won = np.zeros((count, count))
    for column in range(count):
        below = np.sort(scores[~labels & (place == column)])
        halves = np.searchsorted(below, scores[labels]) + np.searchsorted(
            below, scores[labels], side="right"
        )
        won[:, column] = np.bincount(place[labels], weights=halves / 2, minlength=count)
    return won


def _quadratic(
    times: "NDArray[np.integer | np.bool_]", won: "NDArray[np.floating]"
) -> "NDArray[np.floating]":
    """Per row t of `times` t' W t: the pairs won where clusters are there so many times."""
    weights = times.astype(float)
    product: NDArray[np.floating] = ((weights @ won) * weights).sum(axis=1)
    return product


def _mid_ranks(scores: Sequence[float]) -> "NDArray[np.floating]":
    from scipy.stats import rankdata

    ranks: NDArray[np.floating] = rankdata(scores)
    return ranks


def _exchanges(clusters: int, seed: int) -> "NDArray[np.bool_]":
    """Per exchange, which clusters keep their scores: every one, or as many as are drawn."""
    import numpy as np

    if 2**clusters <= RESAMPLES:
        return np.array(list(product((False, True), repeat=clusters)))
    return np.random.default_rng(seed).random((RESAMPLES, clusters)) < 0.5
