"""The taxonomy of conflict types, as data (CONFLICTS, section 2 and Table 1)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import BaseModel, TypeAdapter

from pipelines.conflicts.settings import Classifier
from pipelines.data.conflicts import official_label


class ConflictType(StrEnum):
    """How search results relate to each other with respect to a question."""

    NO_CONFLICT = "no-conflict"
    COMPLEMENTARY = "complementary"
    OPINIONS = "opinions"
    OUTDATED = "outdated"
    MISINFORMATION = "misinformation"


class TypeExample(BaseModel, frozen=True, extra="forbid"):
    """A question, and a short form of its search results' answers, separated by semicolons."""

    query: str
    results: str


class Category(BaseModel, frozen=True, extra="forbid"):
    """One type of the taxonomy T, with its expected behaviour s = f(t).

    Attributes:
        number: 1 to 5, as in prompts and replies (Figure 2).
        label: Its name in the released data.
        short: Its name in tables.
        definition: When it applies.
        expected: How an answer should deal with it.
    """

    number: int
    type: ConflictType
    label: str
    short: str
    definition: str
    expected: str
    example: TypeExample


TAXONOMY: Final[tuple[Category, ...]] = tuple(
    TypeAdapter(list[Category]).validate_json(
        (Path(__file__).parent / "taxonomy.json").read_bytes()
    )
)
"""The five categories, in the order of their numbers."""

CATEGORY: Final[dict[ConflictType, Category]] = {category.type: category for category in TAXONOMY}

ANSWERABLE: Final = frozenset(
    {ConflictType.NO_CONFLICT, ConflictType.OUTDATED, ConflictType.MISINFORMATION}
)
"""Types whose questions have one right answer, so that its recall can be judged (section 4)."""


def commonest(types: Iterable[ConflictType]) -> ConflictType:
    """The most common type; in a tie, the first."""
    counts = Counter(types)
    return max(ConflictType, key=lambda kind: counts[kind])


def of_number(number: int) -> ConflictType:
    """The type with a number from 1 to 5."""
    return TAXONOMY[number - 1].type


def of_label(label: str) -> ConflictType:
    """The type with a label as released, or as this program names it, ignoring letter case.

    Raises:
        ValueError: No type has this label.
    """
    named = label.strip().casefold()
    official = None if named in CATEGORY else official_label(label)
    return next(
        category.type
        for category in TAXONOMY
        if official == category.label or named == category.type
    )


class Prediction(BaseModel, frozen=True):
    """A classifier's prediction for a query (CONFLICTS, section 4, Task 1).

    Attributes:
        type: The type; None if the reply could not be read, or types tie.
        by: The classifier.
        probabilities: Probability of every type, in [0, 1], summing to 1; None if the classifier
            gives none.
        mass: For `choice`, the probability that the model names a category at all, in [0, 1].
        problem: Why the reply could not be read, or which types tie, in one line.
        raw: The unreadable reply, unchanged.
    """

    type: ConflictType | None
    by: Classifier
    probabilities: dict[ConflictType, float] | None = None
    mass: float | None = None
    explanation: str = ""
    problem: str | None = None
    raw: str | None = None


def decide(probabilities: Mapping[ConflictType, float]) -> ConflictType | None:
    """The most probable type; None if several are equally probable."""
    likely, *others = sorted(probabilities, key=lambda kind: -probabilities[kind])
    tied = others and probabilities[others[0]] == probabilities[likely]
    return None if tied else likely
