"""The share of labels that are right."""

from collections.abc import Hashable, Sequence

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.proportion import share


def accuracy(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> Estimate | None:
    """Share of examples whose given label is the true one, in [0, 1], with the Wilson interval.

    None without an example; ValueError where the lengths differ.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} true labels, but {len(predicted)} given ones")
    return share([one == other for one, other in zip(gold, predicted, strict=True)])
