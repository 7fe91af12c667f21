"""The area under the ROC curve, clustered by group."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence
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
        confidence: Level of the interval.

    Returns:
        A value in [0, 1], 0.5 for scores that tell nothing; None where all examples are positive,
        or none is.

    Raises:
        ValueError: A score is not finite, or the lengths differ.
    """
    check_confidence(confidence)
    names: Sequence[Hashable] = range(len(scores)) if clusters is None else clusters
    if not len(scores) == len(positive) == len(names):
        raise ValueError(f"{len(scores)} scores, {len(positive)} labels, {len(names)} clusters")
    for score in scores:
        if not isfinite(score):
            raise ValueError(f"{score} is no score: not finite")
    above = sum(map(bool, positive))
    below = len(positive) - above
    if not above or not below:
        return None

    # Pairs in half units, so that the value is one exact division and a reversal its complement.
    won = halves_won(scores, positive)
    pairs = sum(halves for halves, label in zip(won, positive, strict=True) if label)
    value = pairs / (2 * above * below)
    of_positives: dict[Hashable, float] = defaultdict(float)
    of_negatives: dict[Hashable, float] = defaultdict(float)
    for halves, label, name in zip(won, positive, names, strict=True):
        residuals, others = (of_positives, below) if label else (of_negatives, above)
        residuals[name] += halves / (2 * others) - value
    if value in (0, 1) or 1 in (len(of_positives), len(of_negatives)):
        return Estimate(value, None, None, len(scores), confidence)

    mixed = of_positives.keys() & of_negatives.keys()
    variance = (
        _spread(of_positives.values()) / above**2
        + _spread(of_negatives.values()) / below**2
        + 2
        * fsum(of_positives[name] * of_negatives[name] for name in mixed)
        * _correction(len(of_positives.keys() | of_negatives.keys()))
        / (above * below)
    )
    # Not negative but for rounding: the correction of the mixed term is the smallest of the three.
    half = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(max(0.0, variance))
    low, high = max(0.0, value - half), min(1.0, value + half)
    return Estimate(value, low, high, len(scores), confidence)


def halves_won(scores: Sequence[float], positive: Sequence[bool]) -> list[int]:
    """For each example twice the pairs with one of the other kind that are in order; ties once."""
    above = sorted(score for score, label in zip(scores, positive, strict=True) if label)
    below = sorted(score for score, label in zip(scores, positive, strict=True) if not label)

    def halves_below(ordered: Sequence[float], score: float) -> int:
        return bisect_left(ordered, score) + bisect_right(ordered, score)

    return [
        halves_below(below, score) if label else 2 * len(above) - halves_below(above, score)
        for score, label in zip(scores, positive, strict=True)
    ]


def _spread(sums: Collection[float]) -> float:
    return fsum(one * one for one in sums) * _correction(len(sums))


def _correction(clusters: int) -> float:
    return clusters / (clusters - 1)
