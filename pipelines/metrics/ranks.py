"""How well scores rank examples: ROC AUC with intervals and tests, cross-validated scores."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum, isfinite, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from pipelines.metrics.estimate import (
    RESAMPLES,
    Estimate,
    Z,
    percentile_estimate,
    redrawn,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def roc_auc(
    scores: Sequence[float],
    positive: Sequence[bool],
    clusters: Sequence[Hashable] | None = None,
) -> Estimate | None:
    """Probability that a positive example scores higher than a negative one; ties count half.

    The interval is that of DeLong, DeLong and Clarke-Pearson (1988). With m positives, n negatives,
    p_i the share of negatives below positive i and q_j the share of positives above negative j
    (ties half), AUC = mean(p) = mean(q), the squared standard error is

        sum (p_i - AUC)^2 / (m (m - 1))  +  sum (q_j - AUC)^2 / (n (n - 1)),

    and the interval is AUC -+ z * the error, clipped to [0, 1]. Responses to one source are not
    independent: with clusters, the residuals are summed within each cluster (Obuchowski 1997). One
    example per cluster gives the same result as no clusters.

    At 0 and 1 the formula gives zero width on any number of examples. There, and if all positives
    or all negatives are in one cluster, the value comes without an interval.

    Args:
        scores: Finite numbers, higher for examples predicted to be positive.
        positive: Whether each example is positive.
        clusters: The cluster of each example; None makes each example its own cluster.

    Returns:
        A value in [0, 1], 0.5 for uninformative scores; None if the examples are all positive or
        all negative.

    Raises:
        ValueError: A score is not finite, or the lengths differ.
    """
    names: Sequence[Hashable] = range(len(scores)) if clusters is None else clusters
    if not len(scores) == len(positive) == len(names):
        raise ValueError(f"{len(scores)} scores, {len(positive)} labels, {len(names)} clusters")
    for score in scores:
        if not isfinite(score):
            raise ValueError(f"{score} is not a finite score")
    above = sum(map(bool, positive))
    below = len(positive) - above
    if not above or not below:
        return None

    # Count pairs in half units: the value is one exact division, and reversed scores give its
    # complement.
    won = halves_won(scores, positive)
    pairs = sum(halves for halves, label in zip(won, positive, strict=True) if label)
    value = pairs / (2 * above * below)
    of_positives: dict[Hashable, float] = defaultdict(float)
    of_negatives: dict[Hashable, float] = defaultdict(float)
    for halves, label, name in zip(won, positive, names, strict=True):
        residuals, others = (of_positives, below) if label else (of_negatives, above)
        residuals[name] += halves / (2 * others) - value
    if value in (0, 1) or 1 in (len(of_positives), len(of_negatives)):
        return Estimate(value, None, None, len(scores))

    mixed = of_positives.keys() & of_negatives.keys()
    variance = (
        _spread(of_positives.values()) / above**2
        + _spread(of_negatives.values()) / below**2
        + 2
        * fsum(of_positives[name] * of_negatives[name] for name in mixed)
        * _correction(len(of_positives.keys() | of_negatives.keys()))
        / (above * below)
    )
    # Negative only by rounding: the mixed term has the smallest correction of the three.
    half = Z * sqrt(max(0.0, variance))
    low, high = max(0.0, value - half), min(1.0, value + half)
    return Estimate(value, low, high, len(scores))


def halves_won(scores: Sequence[float], positive: Sequence[bool]) -> list[int]:
    """Per example, twice its correctly ordered pairs with the opposite class; ties count once."""
    above = sorted(score for score, label in zip(scores, positive, strict=True) if label)
    below = sorted(score for score, label in zip(scores, positive, strict=True) if not label)

    def halves_below(ordered: Sequence[float], score: float) -> int:
        return bisect_left(ordered, score) + bisect_right(ordered, score)

    return [
        halves_below(below, score) if label else 2 * len(above) - halves_below(above, score)
        for score, label in zip(scores, positive, strict=True)
    ]


def _spread(sums: Collection[float]) -> float:
    return fsum(total * total for total in sums) * _correction(len(sums))


def _correction(clusters: int) -> float:
    return clusters / (clusters - 1)


@dataclass(frozen=True)
class AreaDifference:
    """The difference of two AUCs on the same examples, in [-1, 1], and its p-value."""

    difference: Estimate
    p: float


def clustered_auc(
    scores: Sequence[float], positive: Sequence[bool], clusters: Sequence[Hashable]
) -> Estimate | None:
    """The AUC of `roc_auc`, with the percentile interval of a cluster bootstrap.

    A resample draws as many clusters as there are, with all their examples (Field and Welsh 2007).
    Its AUC compares all its positives with all its negatives, except across copies of one cluster:
    those pairs would count as pairs from different clusters, and AUCs are often higher within a
    cluster. Resamples with a single class have no AUC. There is no interval at 0 and 1, or if all
    positives or all negatives are in one cluster.

    Raises:
        ValueError: A score is not finite, or the lengths differ.
    """
    area = roc_auc(scores, positive, clusters)
    if area is None or area.low is None:
        return area
    resampled = _resampled_areas(scores, positive, clusters)
    return percentile_estimate(area.value, resampled, area.n)


def clustered_difference(
    first: Sequence[float],
    second: Sequence[float],
    positive: Sequence[bool],
    clusters: Sequence[Hashable],
) -> AreaDifference | None:
    """Test whether two scores of the same examples have different AUCs, by clusters.

    The interval comes from the bootstrap of `clustered_auc`; it is missing if either AUC has none.
    The p-value comes from a permutation test (Venkatraman and Begg 1996): if both scores are
    equally good, they are exchangeable within a cluster. Scores are first replaced by their
    mid-ranks, which keeps the AUCs and makes the scores comparable. All exchanges are enumerated,
    or 9,999 are drawn at random if there are more. p is two-sided, in (0, 1], and at least 2 /
    2^clusters. None if the examples are all positive or all negative.

    Raises:
        ValueError: A score is not finite, or the lengths differ.
    """
    import numpy as np
    from scipy.stats import rankdata

    one, other = (roc_auc(scores, positive, clusters) for scores in (first, second))
    if one is None or other is None:
        return None
    value = one.value - other.value
    gains = _resampled_areas(first, positive, clusters) - _resampled_areas(
        second, positive, clusters
    )
    names = list(dict.fromkeys(clusters))
    difference = Estimate(value, None, None, one.n)
    if one.low is not None and other.low is not None:
        difference = percentile_estimate(value, gains, one.n)

    place = _places(clusters)
    ranks = np.concatenate([rankdata(first), rankdata(second)])
    labels = np.tile(np.asarray(positive, dtype=bool), 2)
    won = _pairs_won(ranks, labels, np.concatenate([place, place + len(names)]), 2 * len(names))
    kept = _exchanges(len(names))
    as_first, as_second = np.hstack([kept, ~kept]), np.hstack([~kept, kept])
    positives = sum(map(bool, positive))
    pairs = positives * (len(positive) - positives)
    exchanged = (_quadratic(as_first, won) - _quadratic(as_second, won)) / pairs
    extreme = np.abs(exchanged) >= abs(value) - 1e-12  # equal up to rounding
    exhaustive = len(kept) == 2 ** len(names)
    p = extreme.mean() if exhaustive else (1 + extreme.sum()) / (1 + len(kept))
    return AreaDifference(difference, float(p))


def _resampled_areas(
    scores: Sequence[float], positive: Sequence[bool], clusters: Sequence[Hashable]
) -> "NDArray[np.floating]":
    """The AUC of every resample; NaN if a class is missing."""
    import numpy as np

    labels, place = np.asarray(positive, dtype=bool), _places(clusters)
    count = int(place.max()) + 1
    won = _pairs_won(np.asarray(scores, dtype=float), labels, place, count)
    times = redrawn(count)
    kinds = [np.bincount(place[kind], minlength=count) for kind in (labels, ~labels)]
    pairs = np.outer(kinds[0], kinds[1]).astype(float)
    copies = times * (times - 1)
    halves, compared = (
        _quadratic(times, matrix) - copies @ np.diag(matrix) for matrix in (won, pairs)
    )
    areas = np.full(len(times), np.nan)
    np.divide(halves, compared, out=areas, where=compared > 0)
    return areas


def _places(clusters: Sequence[Hashable]) -> "NDArray[np.int64]":
    """The index of each example's cluster, in order of first appearance."""
    import numpy as np

    number = {name: n for n, name in enumerate(dict.fromkeys(clusters))}
    return np.array([number[name] for name in clusters])


def _pairs_won(
    scores: "NDArray[np.floating]",
    labels: "NDArray[np.bool_]",
    place: "NDArray[np.int64]",
    count: int,
) -> "NDArray[np.floating]":
    """Pairs that the positives of a cluster (row) win against the negatives of another (column).

    Ties count half.
    """
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
    """Pairs won if each cluster occurs t times: t' W t per row t of `times`."""
    weights = times.astype(float)
    product: NDArray[np.floating] = ((weights @ won) * weights).sum(axis=1)
    return product


def _exchanges(clusters: int) -> "NDArray[np.bool_]":
    """Which clusters keep their scores, per exchange: all exchanges, or a random sample."""
    import numpy as np

    if 2**clusters <= RESAMPLES:
        return np.array(list(product((False, True), repeat=clusters)))
    return np.random.default_rng(0).random((RESAMPLES, clusters)) < 0.5


def cross_validated(
    features: Sequence[Sequence[float]], positive: Sequence[bool], clusters: Sequence[str]
) -> list[float]:
    """Scores from a logistic regression fitted on the other folds' clusters, (n,).

    Features are standardised, and clusters are split into five folds, or fewer if there are fewer
    clusters. Scores omit the intercept: it depends on the share of positives outside the fold, and
    would make scores incomparable across folds. Empty if a training split has a single class.
    """
    folds = min(5, len(set(clusters)))
    if folds < 2:
        return []
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(np.asarray(features, dtype=float))
    labels = np.asarray(positive, dtype=bool)
    scores = np.empty(len(labels))
    for train, test in GroupKFold(folds).split(scaled, groups=clusters):
        if labels[train].all() or not labels[train].any():
            return []
        weights = LogisticRegression().fit(scaled[train], labels[train]).coef_[0]
        scores[test] = scaled[test] @ weights
    return [float(score) for score in scores]


@dataclass(frozen=True)
class UnclusteredDifference:
    """The first AUC minus the second, on the same examples.

    p is the p-value under the null of equal areas, in [0, 1]; None if an area is 0 or 1, where the
    formula gives an error of 0 on any number of examples.
    """

    value: float
    p: float | None


def area_error(area: float, positives: int, negatives: int) -> float:
    """Standard error of an area under a ROC curve (Hanley and McNeil 1982).

    With m positives, n negatives, Q1 = A / (2 - A) and Q2 = 2 A^2 / (1 + A), its square is

        (A (1 - A) + (m - 1) (Q1 - A^2) + (n - 1) (Q2 - A^2)) / (m n).

    Raises:
        ValueError: The area is not in [0, 1], or a class is empty.
    """
    if not 0 <= area <= 1 or positives < 1 or negatives < 1:
        raise ValueError(
            f"no ROC area: {area} with {positives} positives and {negatives} negatives"
        )
    of_positives = (positives - 1) * (area / (2 - area) - area**2)
    of_negatives = (negatives - 1) * (2 * area**2 / (1 + area) - area**2)
    square = (area * (1 - area) + of_positives + of_negatives) / (positives * negatives)
    return sqrt(max(0.0, square))  # negative only by rounding


def area_difference(
    first: Sequence[float], second: Sequence[float], positive: Sequence[bool]
) -> UnclusteredDifference | None:
    """Test whether two scores of the same examples have different AUCs (Hanley and McNeil 1983).

    z = (A1 - A2) / sqrt(SE1^2 + SE2^2 - 2 r SE1 SE2); p is two-sided. The paper looks up r, the
    correlation of the areas, in a printed table by the correlations of the scores, assuming normal
    scores. Here it is estimated from the examples, as the correlation of DeLong, DeLong and
    Clarke-Pearson (1988). None if the examples are all positive or all negative.

    Raises:
        ValueError: A score is not finite, or the lengths differ.
    """
    one, other = roc_auc(first, positive), roc_auc(second, positive)
    if one is None or other is None:
        return None
    count = sum(map(bool, positive))
    errors = [area_error(area.value, count, len(positive) - count) for area in (one, other)]
    shared = 2 * _correlation(first, second, positive) * errors[0] * errors[1]
    error = sqrt(max(0.0, errors[0] ** 2 + errors[1] ** 2 - shared))
    difference = one.value - other.value
    if difference == 0:
        return UnclusteredDifference(difference, 1.0)
    if min(errors) == 0 or error == 0:
        return UnclusteredDifference(difference, None)
    return UnclusteredDifference(difference, 2 * NormalDist().cdf(-abs(difference) / error))


def bonferroni(p: float, comparisons: int) -> float:
    """Bonferroni-corrected p-value: p times the number of comparisons, at most 1."""
    return min(1.0, p * comparisons)


def _correlation(
    first: Sequence[float], second: Sequence[float], positive: Sequence[bool]
) -> float:
    """Correlation of two AUCs, from the share of opposite-class examples each example beats."""
    import numpy as np

    labels = np.asarray(positive, dtype=bool)
    won = np.array([halves_won(scores, positive) for scores in (first, second)])
    covariances = np.zeros((2, 2))
    for kind in (labels, ~labels):
        if kind.sum() > 1:
            shares = won[:, kind] / (2 * (~kind).sum())
            covariances += np.cov(shares) / kind.sum()
    scale = sqrt(covariances[0, 0] * covariances[1, 1])
    return float(covariances[0, 1] / scale) if scale > 0 else 0.0
