"""Test sets: synthetic errors in responses close to their arguments or not, and organic ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pipelines.data.procon import Topic
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.files import replace_text
from pipelines.npov.annotation import AnnotatedExample, Error
from pipelines.npov.result import ErrorKind, NpovResult
from pipelines.npov.synthesis import (
    Design,
    Reword,
    lightly,
    rewording,
    synthetic_examples,
    verbatim,
)


class SyntheticSet(StrEnum):
    """How far responses are from their arguments: copies, common words replaced, other words."""

    UNPARAPHRASED = "unparaphrased"
    LIGHTLY_REWORDED = "lightly-reworded"
    PARAPHRASED = "paraphrased"


ORGANIC = "organic"


@dataclass(frozen=True)
class Slice:
    """Examples of a set without error, and those with one kind (NPOV, section 4.3).

    Attributes:
        title: As the paper calls it.
        test_set: The set.
        errors: Which errors count; examples with others are left out.
        exchanged: Whether those alone count that have both, so that no argument is too many or
            too few.
    """

    title: str
    test_set: str
    errors: Error
    exchanged: bool = False

    def has(self, result: NpovResult) -> bool:
        """Whether it is of the set."""
        return result.test_set == self.test_set

    def wrong(self, result: NpovResult, kind: ErrorKind) -> bool:
        """Whether a result of the set has an error of the kind that counts."""
        return result.known(kind) == self.errors and (result.exchanged or not self.exchanged)


SLICES = (
    Slice("Full organic", ORGANIC, "full"),
    Slice("Unparaphrased synthetic", SyntheticSet.UNPARAPHRASED, "full"),
    Slice("Lightly reworded synthetic", SyntheticSet.LIGHTLY_REWORDED, "full"),
    Slice("Paraphrased synthetic", SyntheticSet.PARAPHRASED, "full"),
    Slice("Ambiguous organic", ORGANIC, "ambiguous"),
)
"""Those of the paper, and one between its synthetic ones."""

EXCHANGED = tuple(
    replace(each, title=f"{each.title}, exchanged", exchanged=True)
    for each in SLICES
    if each.test_set != ORGANIC
)
"""One argument given for another of those that the response has."""


@dataclass(frozen=True)
class Case:
    """An example of a test set, with what is known of it."""

    test_set: str
    annotated: AnnotatedExample

    @property
    def id(self) -> str:
        """Unique among all sets."""
        return f"{self.test_set}/{self.annotated.id}"

    def result(self, **found: Any) -> NpovResult:
        """What is known of the example, and what was found."""
        return NpovResult(
            id=self.id,
            test_set=self.test_set,
            source=f"{self.test_set}/{self.annotated.source}",
            hallucination=self.annotated.hallucination,
            coverage=self.annotated.coverage,
            overlap=self.annotated.overlap,
            topic=self.annotated.example.topic or self.annotated.example.question,
            votes=self.annotated.votes,
            example=self.annotated.example,
            **found,
        )


def synthetic_cases(
    topics: Sequence[Topic],
    names: Sequence[SyntheticSet],
    paraphrases: Mapping[str, str],
    *,
    per_topic: int,
    seed: int,
    design: Design,
) -> list[Case]:
    """Synthetic test sets, one after the other, with so many examples without error per topic.

    All sets have the same examples, but for how responses put the arguments; so where one is to be
    paraphrased, by what `paraphrases.read` has, responses of all use the arguments alone that have
    a paraphrase. The seed decides all that is drawn.
    """
    ways: Mapping[SyntheticSet, Reword] = {
        SyntheticSet.UNPARAPHRASED: verbatim,
        SyntheticSet.LIGHTLY_REWORDED: lightly,
        SyntheticSet.PARAPHRASED: rewording(paraphrases),
    }
    paraphrased = SyntheticSet.PARAPHRASED in names
    usable = ways[SyntheticSet.PARAPHRASED if paraphrased else SyntheticSet.UNPARAPHRASED]

    def way(name: SyntheticSet) -> Reword:
        return lambda argument: None if usable(argument) is None else ways[name](argument)

    return [
        Case(name, annotated)
        for name in dict.fromkeys(names)
        for annotated in synthetic_examples(
            topics, per_topic=per_topic, seed=seed, reword=way(name), design=design
        )
    ]


_CASE = TypeAdapter(Case)


def write_cases(path: Path, cases: Sequence[Case]) -> None:
    """Write test sets, one example a line, for `read_cases`."""
    replace_text(path, "".join(f"{_CASE.dump_json(each).decode()}\n" for each in cases))


def read_cases(path: Path) -> list[Case]:
    """The test sets of a file.

    Raises:
        InputError: It cannot be read, a line is of another format, or there is none.
    """
    found = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            found.append(_CASE.validate_json(line))
        except ValidationError as error:
            raise InputError(
                f"{path}:{number}: not an example of a test set; name study.cases.jsonl of a study"
            ) from error
    if not found:
        raise InputError(f"{path} has no examples; name study.cases.jsonl of a study")
    return found


def limited(cases: Sequence[Case], limit: int | None) -> list[Case]:
    """The first `limit` examples of each set; None takes all."""
    taken: Counter[str] = Counter()
    found = []
    for case in cases:
        taken[case.test_set] += 1
        if limit is None or taken[case.test_set] <= limit:
            found.append(case)
    return found
