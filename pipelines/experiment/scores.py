"""What an example of an experiment comes to, for runs to be compared by; declared once."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel

from pipelines.report.compare import Test

ResultT = TypeVar("ResultT", bound=BaseModel)
Scored_contra = TypeVar("Scored_contra", bound=BaseModel, contravariant=True)

Values = Mapping[str, float]
"""Id of an example -> its value; one that has none is not there."""


@dataclass(frozen=True)
class Score(Generic[Scored_contra]):
    """A number that examples have: CS-C of a response, whether an answer is right.

    Attributes:
        title: For people: "CS-C".
        values: The values of a run's results.
        bounds: The range of a value.
        test: McNemar's is for values that are 0 or 1.
        better: Which values are.
    """

    title: str
    values: Callable[[Sequence[Scored_contra]], Values]
    bounds: tuple[float, float] = (0.0, 1.0)
    test: Test = "sign flips"
    better: Literal["higher", "lower"] = "higher"


def short(name: str) -> str:
    """A name as a part of a score's: "Concatenated prompt" is "concatenated-prompt"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def of_each(
    value: Callable[[ResultT], float | None],
) -> Callable[[Sequence[ResultT]], Values]:
    """The values of a score that is told from one result at a time; None says that it has none."""

    def values(results: Sequence[ResultT]) -> Values:
        return {
            str(each.id): float(found)  # type: ignore[attr-defined]
            for each in results
            if (found := value(each)) is not None
        }

    return values
