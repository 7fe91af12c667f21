"""A predicted conflict type, and the rule that makes one of probabilities."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel

from pipelines.conflicts.taxonomy import ConflictType

Classifier = Literal["yes-no", "json", "choice"]
"""Who predicts: a rule that reads the question alone, or a language model that explains its choice,
or that chooses with probabilities."""


class Prediction(BaseModel, frozen=True):
    """What a classifier says of a query (CONFLICTS, section 4, Task 1).

    Attributes:
        type: The type; None where the classifier abstains, or its reply could not be read.
        by: The classifier.
        probabilities: Of every type, in [0, 1], summing to 1; None where there are none.
        mass: Of `choice`, the probability that the model names a category at all, in [0, 1].
        abstained: Whether the most probable type did not reach its threshold.
        problem: Why the reply could not be read, or which types tie, in one line.
        raw: The reply as it came, where it could not be read.
    """

    type: ConflictType | None
    by: Classifier
    probabilities: dict[ConflictType, float] | None = None
    mass: float | None = None
    explanation: str = ""
    abstained: bool = False
    problem: str | None = None
    raw: str | None = None


def decide(
    probabilities: Mapping[ConflictType, float], thresholds: Mapping[ConflictType, float]
) -> ConflictType | None:
    """The most probable type, if it reaches its threshold in [0, 1]; None where it does not.

    With equal thresholds a classifier abstains where it is less sure; with one, more is asked of a
    single type. A type without a threshold has 0. Of equally probable types it is none.
    """
    likely, *others = sorted(probabilities, key=lambda each: -probabilities[each])
    if others and probabilities[others[0]] == probabilities[likely]:
        return None
    return likely if probabilities[likely] >= thresholds.get(likely, 0.0) else None
