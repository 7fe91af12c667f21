"""What judges label in an experiment, so that people can label it too; declared once."""

from collections.abc import Callable, Iterable, Mapping
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
    """

    part: tuple[str | int, ...]
    shown: tuple[tuple[str, str], ...]
    label: str | None
    probabilities: Mapping[str, float] | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def confidence(self) -> float | None:
        """The probability of the judge's label; None if unknown."""
        return None if self.label is None else (self.probabilities or {}).get(self.label)


@dataclass(frozen=True)
class Labelling(Generic[Result_contra]):
    """A kind of labels: how documents relate to claims, whether answers behave.

    Attributes:
        asked: What a person is asked.
        counted: What is labelled: "pairs of claim and document".
        labels: Label -> how a person reads it, in the order of the keys 1, 2, ...; at most 9.
        given: What of a result was labelled.
    """

    asked: str
    counted: str
    labels: Mapping[str, str]
    given: Callable[[Result_contra], Iterable[Labelled]]


def by_name(probabilities: Mapping[LabelT, float] | None) -> dict[str, float] | None:
    """Probabilities of labels by the labels' names; None stays None."""
    return None if probabilities is None else {str(each): p for each, p in probabilities.items()}
