"""Counts of what was taken for what."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Label = TypeVar("Label", bound=Hashable)

Counts = tuple[tuple[int, ...], ...]
"""A square matrix of counts: a row per true label, a column per predicted label."""


def confusion(gold: Sequence[Label], predicted: Sequence[Label], labels: Sequence[Label]) -> Counts:
    """How often each true label was given each label.

    Row i, column j counts the examples of `labels[i]` that were labelled `labels[j]`. They sum to
    the number of examples.

    Raises:
        ValueError: The lengths differ, a label is named twice, or one is not among `labels`.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} true labels, but {len(predicted)} given ones")
    if len(set(labels)) < len(labels):
        raise ValueError(f"a label stands twice in {list(labels)}")
    counts = Counter(zip(gold, predicted, strict=True))
    for pair in counts:
        for label in pair:
            if label not in labels:
                raise ValueError(f"{label!r} is not among the labels {list(labels)}")
    return tuple(tuple(counts[row, column] for column in labels) for row in labels)
