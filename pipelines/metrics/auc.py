"""The area under the ROC curve, clustered by group."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import fsum, isfinite, sqrt
from statistics import NormalDist

from pipelines.metrics.estimate import Estimate, check_confidence


def roc_auc(
    scores: Sequence[float],
    positive: Sequence[bool],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = 0.95,
) -> Estimate | None:
    """Probability that a positive example scores higher than a negative one; ties count half.

    The interval is that of DeLong, DeLong and Clarke-Pearson (1988). With m positives, n negatives,
    p_i the share of negatives below positive i and q_j the share of positives above negative j
    (ties half), AUC = mean(p) = mean(q), and the squared standard error is

        sum (p_i - AUC)^2 / (m (m - 1))  +  sum (q_j - AUC)^2 / (n (n - 1)),

    and the interval is AUC -+ z * the error, cut to [0, 1]. Responses to one source are not
    independent: with clusters, the residuals of each are summed, as Obuchowski (1997) has it, and
    one example per cluster gives the same as none named.

    At 0 and at 1 the formula gives a width of 0, however few the examples: there, and where the
    positives or the negatives are all of one cluster, the value comes without an interval.

    Args:
        scores: Finite numbers, higher for what is taken to be positive.
        positive: Whether each example is.
        clusters: The cluster of each example; None makes each example its own.
        confidence: Level of the interval, in (0, 1).

    Returns:
        A value in [0, 1], 0.5 for scores that tell nothing; None where all examples are positive,
        or none is.

    Raises:
        ValueError: A score is not finite, the lengths differ, or the level is outside (0, 1).
    """
    check_confidence(confidence)
    names: Sequence[Hashable] = range(len(scores)) if clusters is None else clusters
    if not len(scores) == len(positive) == len(names):
        raise ValueError(f"{len(scores)} scores, {len(positive)} labels, {len(names)} clusters")
    for score in scores:
        if not isfinite(score):
            raise ValueError(f"{score} is no score: not finite")
    above = sorted(score for score, label in zip(scores, positive, strict=True) if label)
    below = sorted(score for score, label in zip(scores, positive, strict=True) if not label)
    if not above or not below:
        return None

    # Pairs in half units, so that the value is one exact division and a reversal its complement.
    halves = [
        _halves_below(below, score) if label else 2 * len(above) - _halves_below(above, score)
        for score, label in zip(scores, positive, strict=True)
    ]
    pairs = sum(won for won, label in zip(halves, positive, strict=True) if label)
    value = pairs / (2 * len(above) * len(below))
    residuals: dict[bool, dict[Hashable, float]] = {
        True: defaultdict(float),
        False: defaultdict(float),
    }
    for won, label, name in zip(halves, positive, names, strict=True):
        others = len(below) if label else len(above)
        residuals[bool(label)][name] += won / (2 * others) - value
    if value in (0, 1) or min(map(len, residuals.values())) == 1:
        return Estimate(value, None, None, len(scores), confidence)

    mixed = residuals[True].keys() & residuals[False].keys()
    variance = (
        _spread(list(residuals[True].values())) / len(above) ** 2
        + _spread(list(residuals[False].values())) / len(below) ** 2
        + 2
        * fsum(residuals[True][name] * residuals[False][name] for name in mixed)
        * _correction(len(residuals[True].keys() | residuals[False].keys()))
        / (len(above) * len(below))
    )
    # Not negative but for rounding: the correction of the mixed term is the smallest of the three.
    half = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(max(0.0, variance))
    low, high = max(0.0, value - half), min(1.0, value + half)
    return Estimate(value, low, high, len(scores), confidence)


def _halves_below(ordered: Sequence[float], score: float) -> int:
    """Twice the scores below this one, and once those equal to it."""
    return bisect_left(ordered, score) + bisect_right(ordered, score)


def _spread(sums: Sequence[float]) -> float:
    return fsum(one * one for one in sums) * _correction(len(sums))


def _correction(clusters: int) -> float:
    return clusters / (clusters - 1)
