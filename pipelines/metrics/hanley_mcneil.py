"""Standard errors of areas under ROC curves, and of their differences (Hanley and McNeil).

They take examples to be independent; `clustered_auc` does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from pipelines.metrics.ranks import halves_won, roc_auc


@dataclass(frozen=True)
class Difference:
    """The first of two areas under ROC curves of the same examples minus the second.

    p is the probability of a difference at least so large where there is none, in [0, 1]; None
    where an area is 0 or 1, for there the formula gives an error of 0, however few examples.
    """

    value: float
    p: float | None


def area_error(area: float, positives: int, negatives: int) -> float:
    """Standard error of an area under a ROC curve (Hanley and McNeil 1982).

    With m positive and n negative ones, Q1 = A / (2 - A) and Q2 = 2 A^2 / (1 + A), its square is

        (A (1 - A) + (m - 1) (Q1 - A^2) + (n - 1) (Q2 - A^2)) / (m n).

    Raises:
        ValueError: The area is not in [0, 1], or one kind has no example.
    """
    if not 0 <= area <= 1 or positives < 1 or negatives < 1:
        raise ValueError(f"no area of a curve: {area} of {positives} and {negatives} examples")
    of_positives = (positives - 1) * (area / (2 - area) - area**2)
    of_negatives = (negatives - 1) * (2 * area**2 / (1 + area) - area**2)
    square = (area * (1 - area) + of_positives + of_negatives) / (positives * negatives)
    return sqrt(max(0.0, square))  # below 0 by rounding alone


def area_difference(
    first: Sequence[float], second: Sequence[float], positive: Sequence[bool]
) -> Difference | None:
    """Whether two scores of the same examples have different areas (Hanley and McNeil 1983).

    z = (A1 - A2) / sqrt(SE1^2 + SE2^2 - 2 r SE1 SE2), and p is of both sides. Their r, the
    correlation of the areas, is looked up in a printed table by the correlations of the scores, for
    scores of normal distributions; here it is estimated from the examples themselves, as the
    correlation that DeLong, DeLong and Clarke-Pearson (1988) give. There is nothing to compare
    where all examples are positive, or none is.

    Raises:
        ValueError: A score is not finite, or the lengths differ.
    """
    one, other = roc_auc(first, positive), roc_auc(second, positive)
    if one is None or other is None:
        return None
    count = sum(map(bool, positive))
    errors = [area_error(each.value, count, len(positive) - count) for each in (one, other)]
    shared = 2 * _correlation(first, second, positive) * errors[0] * errors[1]
    error = sqrt(max(0.0, errors[0] ** 2 + errors[1] ** 2 - shared))
    difference = one.value - other.value
    if difference == 0:
        return Difference(difference, 1.0)
    if min(errors) == 0 or error == 0:
        return Difference(difference, None)
    return Difference(difference, 2 * NormalDist().cdf(-abs(difference) / error))


def bonferroni(p: float, comparisons: int) -> float:
    """A probability in [0, 1] corrected for how many were looked at: their product, at most 1."""
    return min(1.0, p * comparisons)


def _correlation(
    first: Sequence[float], second: Sequence[float], positive: Sequence[bool]
) -> float:
    """Correlation of two areas, from the shares of examples that each example beats."""
    labels = np.asarray(positive, dtype=bool)
    won = np.array([halves_won(scores, positive) for scores in (first, second)])
    covariances = np.zeros((2, 2))
    for kind in (labels, ~labels):
        if kind.sum() > 1:
            shares = won[:, kind] / (2 * (~kind).sum())
            covariances += np.cov(shares) / kind.sum()
    scale = sqrt(covariances[0, 0] * covariances[1, 1])
    return float(covariances[0, 1] / scale) if scale > 0 else 0.0
