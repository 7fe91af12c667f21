"""How well stated probabilities are calibrated: ECE, Brier score, label mass."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from math import ceil, fsum
from statistics import fmean
from typing import Final

from pipelines.metrics.estimate import Estimate, mean


def ece(confidences: Sequence[float], correct: Sequence[bool], *, bins: int = 15) -> float | None:
    """Expected calibration error, sum over bins of n_b / n * |accuracy_b - confidence_b|.

    Naeini et al. 2015; Guo et al. 2017, "On Calibration of Modern Neural Networks", equation 3. The
    estimate is biased upwards: on few examples even a perfectly calibrated classifier has an error
    above 0, so no interval is given.

    Args:
        confidences: Probability of the predicted label, in [0, 1].
        correct: Whether the predicted label is the true one.
        bins: Number of equal-width bins, at least 1: (low, high], where the first also includes 0.

    Returns:
        A value in [0, 1]; None without examples.

    Raises:
        ValueError: The lengths differ, a confidence is outside [0, 1], or `bins` is below 1.
    """
    if len(confidences) != len(correct):
        raise ValueError(f"{len(confidences)} confidences, but {len(correct)} outcomes")
    if bins < 1:
        raise ValueError(f"{bins} bins; at least one is needed")
    gaps: dict[int, list[float]] = defaultdict(list)
    for value, right in zip(confidences, correct, strict=True):
        if not 0 <= value <= 1:
            raise ValueError(f"{value} is not a probability")
        gaps[max(0, ceil(value * bins) - 1)].append(right - value)
    if not gaps:
        return None
    return fsum(abs(fsum(gap)) for gap in gaps.values()) / len(confidences)


def brier(
    probabilities: Sequence[Sequence[float]],
    gold: Sequence[int],
    clusters: Sequence[Hashable] | None = None,
) -> Estimate | None:
    """Mean over examples of sum_k (p_k - y_k)^2, where y is 1 at the true label and 0 elsewhere.

    This is the original multi-class form (Brier 1950, equation 2), in [0, 2]: 0 is perfect, 2 is
    always certain of a wrong label, and equal probabilities over three labels give 2/3. For two
    labels it is twice the binary form that scikit-learn computes.

    Args:
        probabilities: (n, k), each row over all labels.
        gold: Index of the true label in each row, in 0..k-1.
        clusters: The cluster of each example (its premise); None treats examples as independent.

    Returns:
        The score with a t interval; None without examples.

    Raises:
        ValueError: The lengths differ, a row is not a distribution, or an index is outside its row.
    """
    if len(probabilities) != len(gold):
        raise ValueError(f"{len(probabilities)} rows of probabilities, but {len(gold)} labels")
    losses = []
    for row, true in zip(probabilities, gold, strict=True):
        if not 0 <= true < len(row):
            raise ValueError(f"label {true} is outside a row of {len(row)}")
        if not all(0 <= p <= 1 for p in row) or abs(fsum(row) - 1) > 1e-3:
            raise ValueError(f"{list(row)} is not a distribution: each in [0, 1], summing to 1")
        loss = fsum((p - (position == true)) ** 2 for position, p in enumerate(row))
        losses.append(min(loss, 2.0))
    return mean(losses, clusters, bounds=(0, 2))


LOW: Final = 0.5
"""Below this mass, the unconstrained model would rather have written something else."""


def mean_label_mass(masses: Iterable[float | None]) -> float | None:
    """Mean of the known label masses, each in [0, 1]; None if none is known."""
    known = [mass for mass in masses if mass is not None]
    return fmean(known) if known else None


def is_low(mass: float | None) -> bool:
    """Whether a label mass is low enough to warn about."""
    return mass is not None and mass < LOW


def low_label_mass(masses: Iterable[float | None], whose: str = "the judge's") -> tuple[str, ...]:
    """The warning for a table or page if the mean label mass is low; empty otherwise."""
    mass = mean_label_mass(masses)
    if mass is None or not is_low(mass):
        return ()
    return (
        f"On average {100 * mass:.0f} % of {whose} probability fell on the labels. "
        "Left to itself, it would mostly have written something else.",
    )
