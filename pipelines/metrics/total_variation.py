"""How far two distributions over labels are apart."""

from collections.abc import Hashable, Mapping
from math import fsum
from typing import TypeVar

Label = TypeVar("Label", bound=Hashable)


def total_variation(one: Mapping[Label, float], other: Mapping[Label, float]) -> float:
    """Total variation distance, in [0, 1]: half the sum of |p(label) - q(label)|.

    It is the most probability that any set of labels gains from one to the other. A label that a
    side lacks has probability 0 there.
    """
    labels = {**one, **other}
    # Probabilities are rounded, so that their sum may pass 1 in its last digits.
    return min(1.0, fsum(abs(one.get(each, 0.0) - other.get(each, 0.0)) for each in labels) / 2)
