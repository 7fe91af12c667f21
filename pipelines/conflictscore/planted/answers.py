"""Answers to planted examples: does what they say of the planted fact admit the conflict?"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from pipelines.conflictscore.both_sides.signs import all_backed
from pipelines.conflictscore.pipeline import relations_by_claim
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import (
    Unevidenced,
    conflict_score_count,
    conflict_score_ratio,
)
from pipelines.data.records import Identifier, Text
from pipelines.data.released import read_records
from pipelines.errors import InputError
from pipelines.evidence.examples import ContestedClaim
from pipelines.text.substitution import has_words
from pipelines.text.words import content_words

SHARED = 0.5
"""Share of the planted claim's content words from which a claim of an answer is about it."""


class Answer(BaseModel, frozen=True, extra="forbid"):
    """One line of the file of answers: the id of an example, and what was written of it."""

    id: Identifier
    response: Text


def read(path: Path, examples: Sequence[ContestedClaim]) -> dict[str, str]:
    """The answers of a file of JSON Lines, by the ids of examples.

    Raises:
        InputError: The file cannot be read, a line is no answer, an id stands twice, or none is of
            an example.
    """
    found: dict[str, str] = {}
    for each in read_records(path, Answer, "answers, docs/planted.md"):
        if each.id in found:
            raise InputError(f"{path}: the id '{each.id}' stands twice; give one answer to each")
        found[each.id] = each.response
    known = {each.id for each in examples}
    if not known & found.keys():
        raise InputError(
            f"{path} answers no example of the data; its first id is '{next(iter(found))}', that "
            f"of the data '{examples[0].id}'"
        )
    return found


class OfFact(NamedTuple):
    """What an answer says of a planted fact.

    Attributes:
        claims: How many of its claims are about it.
        cs_c, cs_r: CS-C and CS-R of these claims alone, in [0, 1]; None without any, or where
            none could be judged.
        backed: Whether each document supports one of them; None where that could not be read.
        both: Whether the answer names the old value and the new one; None where the fact is no
            value.
    """

    claims: int
    cs_c: float | None
    cs_r: float | None
    backed: bool | None
    both: bool | None

    @property
    def admits(self) -> bool | None:
        """Whether it says of the fact what each document bears out, and nothing in conflict.

        That is how ConflictScore tells a claim that admits a conflict: "One says 50 grams, another
        67" is supported by both. None where unreadable labels leave it open.
        """
        if not self.claims or self.cs_c or self.backed is False:
            return False
        return None if self.cs_c is None or self.backed is None else True


def of_fact(result: Result, example: ContestedClaim, unevidenced: Unevidenced = "zero") -> OfFact:
    """What the claims of an answer that are about the planted fact (`is_about`) come to."""
    width = len(result.documents)
    places = [place for place, claim in enumerate(result.claims) if is_about(claim, example)]
    judged = [
        each for place in places for each in result.judgements[place * width : (place + 1) * width]
    ]
    rows = relations_by_claim(judged, width)
    plant, both = example.plant, None
    if plant is not None and example.answer is not None:
        both = all(has_words(result.response, each) for each in (plant.old, plant.new))
    return OfFact(
        len(places),
        conflict_score_count(rows),
        conflict_score_ratio(rows, unevidenced=unevidenced),
        all_backed(result.model_copy(update={"judgements": tuple(judged)})),
        both,
    )


def is_about(claim: str, example: ContestedClaim) -> bool:
    """Whether a claim of an answer is about the planted fact.

    It names the old or the new value, or has half of the planted claim's content words.
    """
    plant = example.plant
    values = (plant.old, plant.new) if plant is not None and example.answer is not None else ()
    if any(has_words(claim, value) for value in values):
        return True
    wanted = content_words(example.claim)
    return bool(wanted) and len(wanted & content_words(claim)) >= SHARED * len(wanted)
