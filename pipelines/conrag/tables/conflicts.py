"""What conflicts are about: the kinds of `pipelines.conrag.typology`, claim by claim."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipelines.conrag.result import ClaimResult, Passage
from pipelines.conrag.tables.figures import Results
from pipelines.conrag.typology import KINDS, Difference, Kind, differences, told
from pipelines.evidence.judgement import Relation
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Column, Measure, Table


def conflict(result: ClaimResult) -> tuple[Difference, ...]:
    """How the surest supporting and the surest refuting passage of a claim differ.

    None do where the tagger finds one side only. Of a question, the claim is its first answer. Each
    passage speaks by its title and the sentence that decided.
    """
    claim = result.claim
    if result.question is not None:
        claim = " ".join(result.question.first_answer)
    sides = [_surest(result, side) for side in (Relation.SUPPORTS, Relation.CONTRADICTS)]
    said = [
        told(claim, each.title, each.text, each.rationale) for each in sides if each is not None
    ]
    return differences(claim, *said) if len(said) == len(sides) else ()


def _surest(result: ClaimResult, side: Relation) -> Passage | None:
    own = (each for each in result.passages if each.tag is side)
    return max(own, key=lambda each: each.confidence, default=None)


class KindCount(NamedTuple):
    """The conflicts of a kind among all of a data set.

    Attributes:
        first: Those of which it is the first kind that holds.
        holds: Those in which it holds at all.
    """

    dataset: str
    kind: Kind
    first: int
    holds: int
    every: int


def conflict_kinds(results: Results) -> Table:
    """The typology of conflicts (section 2): how many of each kind, per data set."""
    return Table.of(
        [each for name, own in results.items() for each in _counts(name, own)],
        name="conrag_conflict_kinds",
        title="Kinds of conflicts",
        caption="Of claims with passages on both sides, by the tagger: what the surest sentence "
        "against it has otherwise.",
        columns=[
            Column("dataset", "Data"),
            Column("kind", "Kind"),
            Measure("share", "Share", lambda own: proportion(own.first, own.every)),
            Column("first", "Conflicts"),
            Column("holds", "Rule holds"),
        ],
        notes=(
            "Rules look at words: temporal, another date; numeric, another number; negation, a "
            "word that denies on one side only; entity, another name; implicit, none of these. A "
            "conflict counts for the first kind that holds; under 'Rule holds' for each.",
            "Where the tagger is wrong on a side there is no real conflict to be of a kind. The "
            "paper names the kinds and counts none.",
        ),
    )


def _counts(dataset: str, own: Sequence[ClaimResult]) -> Iterator[KindCount]:
    found = [kinds for each in own if (kinds := [one.kind for one in conflict(each)])]
    for kind in KINDS if found else ():
        first = sum(kinds[0] == kind for kinds in found)
        yield KindCount(dataset, kind, first, sum(kind in kinds for kinds in found), len(found))
