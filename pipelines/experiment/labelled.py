"""What judges label in an experiment, so that people can label it too; declared once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from pydantic import BaseModel

Result_contra = TypeVar("Result_contra", bound=BaseModel, contravariant=True)
LabelT = TypeVar("LabelT", bound=StrEnum)


@dataclass(frozen=True)
class Labelled:
    """Something that a judge gave one of several labels.

    Attributes:
        part: What of its result it is, as nothing else of that: (3, "guide").
        shown: What a person reads, as headings and texts; nothing of what the judge says.
        label: The judge's; None where its reply could not be read.
        probabilities: Label -> the judge's probability in [0, 1]; None where it gives none.
        groups: What it belongs to, by names that a sample can be drawn by: {"source": "ambigdocs"}.
        whole: What it is a part of, in its result: the number of a claim. None where it is whole.
    """

    part: tuple[str | int, ...]
    shown: tuple[tuple[str, str], ...]
    label: str | None
    probabilities: Mapping[str, float] | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    whole: int | None = None

    @property
    def confidence(self) -> float | None:
        """The probability of the judge's label; None where there is none."""
        return None if self.label is None else (self.probabilities or {}).get(self.label)


Labels = Sequence[str | None]
"""Those of all parts of a whole; None where the judge's reply could not be read."""


@dataclass(frozen=True)
class WholeScore:
    """A score of a run that is a mean over wholes.

    Attributes:
        title: "CS-C".
        value: The whole's own, in [0, 1], by the labels of its parts.
        by_result: Whether it is the mean over results of their means, rather than over all wholes.
    """

    title: str
    value: Callable[[Labels], float]
    by_result: bool = False


@dataclass(frozen=True)
class Wholes:
    """What labels are parts of: those of documents, of a claim.

    Attributes:
        counted: "claims".
        verdict: What the labels of a whole come to, in a word; None where that is open.
        scores: What wholes are scored by.
    """

    counted: str
    verdict: Callable[[Labels], str | None]
    scores: tuple[WholeScore, ...]


@dataclass(frozen=True)
class Labelling(Generic[Result_contra]):
    """A kind of labels: how documents relate to claims, whether answers behave.

    Attributes:
        asked: What a person is asked.
        counted: What is labelled: "pairs of claim and document".
        labels: Label -> how a person reads it, in the order of the keys 1, 2, ...; at most 9.
        given: What of a result was labelled.
        wholes: What these are parts of, if of anything.
    """

    asked: str
    counted: str
    labels: Mapping[str, str]
    given: Callable[[Result_contra], Iterable[Labelled]]
    wholes: Wholes | None = None


def by_name(probabilities: Mapping[LabelT, float] | None) -> dict[str, float] | None:
    """Probabilities of labels by the labels' names; None stays None."""
    return None if probabilities is None else {str(each): p for each, p in probabilities.items()}
