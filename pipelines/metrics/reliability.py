"""Stated confidence against observed accuracy, in bins."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, fsum

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.proportion import proportion


@dataclass(frozen=True)
class Bin:
    """The n examples whose confidence lies in (low, high]; the first bin holds 0 too.

    Their mean confidence and the share that is right, with its Wilson interval; None without any.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: Estimate | None


def reliability(
    confidences: Sequence[float], correct: Sequence[bool], *, bins: int = 15
) -> tuple[Bin, ...]:
    """The reliability diagram's bins, of equal width over [0, 1].

    Niculescu-Mizil and Caruana 2005; bins and their ends as in Guo et al. 2017, "On Calibration of
    Modern Neural Networks", section 2.

    Args:
        confidences: Probability given to the label that was chosen, in [0, 1].
        correct: Whether that label is the true one.
        bins: How many, at least 1.

    Returns:
        All bins from low to high, empty ones too.

    Raises:
        ValueError: The lengths differ, a confidence is no probability, or there are no bins.
    """
    if len(confidences) != len(correct):
        raise ValueError(f"{len(confidences)} confidences, but {len(correct)} outcomes")
    if bins < 1:
        raise ValueError(f"{bins} bins; at least one is needed")
    members: list[list[int]] = [[] for _ in range(bins)]
    for index, value in enumerate(confidences):
        if not 0 <= value <= 1:
            raise ValueError(f"{value} is no probability")
        members[max(0, ceil(value * bins) - 1)].append(index)
    return tuple(
        Bin(
            low=position / bins,
            high=(position + 1) / bins,
            n=len(inside),
            confidence=fsum(confidences[i] for i in inside) / len(inside) if inside else None,
            accuracy=proportion(sum(bool(correct[i]) for i in inside), len(inside)),
        )
        for position, inside in enumerate(members)
    )
