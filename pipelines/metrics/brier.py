"""The Brier score of probabilities over labels."""

from collections.abc import Hashable, Sequence
from math import fsum

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean


def brier(
    probabilities: Sequence[Sequence[float]],
    gold: Sequence[int],
    clusters: Sequence[Hashable] | None = None,
) -> Estimate | None:
    """Mean over examples of sum_k (p_k - y_k)^2, where y is 1 at the true label and 0 elsewhere.

    The original form for several labels (Brier 1950, equation 2): it lies in [0, 2], where 0 is
    perfect, 2 is certain of a wrong label every time, and equal probabilities over three labels
    give 2/3. For two labels it is twice the one-label form that scikit-learn prints.

    Args:
        probabilities: (n, k), each row over all labels.
        gold: Position of the true label in each row, in 0..k-1.
        clusters: The cluster of each example (its premise); None takes them as independent.

    Returns:
        The score with a t interval; None without an example.

    Raises:
        ValueError: The lengths differ, a row is no distribution, or a position is outside its row.
    """
    if len(probabilities) != len(gold):
        raise ValueError(f"{len(probabilities)} rows of probabilities, but {len(gold)} labels")
    losses = []
    for row, true in zip(probabilities, gold, strict=True):
        if not 0 <= true < len(row):
            raise ValueError(f"label {true} of {len(row)}")
        if not all(0 <= p <= 1 for p in row) or abs(fsum(row) - 1) > 1e-3:
            raise ValueError(f"{list(row)} is no distribution: each in [0, 1], summing to 1")
        loss = fsum((p - (position == true)) ** 2 for position, p in enumerate(row))
        losses.append(min(loss, 2.0))
    return mean(losses, clusters, bounds=(0, 2))
