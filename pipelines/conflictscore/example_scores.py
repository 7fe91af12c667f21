"""What one scored response comes to, for runs to be compared by."""

from collections.abc import Mapping
from math import inf
from typing import Final

from pipelines.conflictscore.pipeline import relations_by_claim
from pipelines.conflictscore.result import Result
from pipelines.evidence.judgement import in_conflict
from pipelines.experiment.scores import Score, of_each


def decided_claims(result: Result) -> list[bool]:
    """Of each claim for which that can be decided, whether its documents are in conflict over it.

    Empty of a response without CS-C.
    """
    rows = relations_by_claim(result.judgements, len(result.documents))
    scored = [] if result.cs_c is None else rows
    return [found for relations in scored if (found := in_conflict(relations)) is not None]


def verdict(result: Result) -> str:
    """Whether the documents are in conflict over some claim of a response."""
    if result.cs_c is None:
        return "no evidence" if result.evidence == 0 else "undetermined"
    return "conflict" if result.cs_c > 0 else "no conflict"


SCORES: Final[Mapping[str, Score[Result]]] = {
    "cs_c": Score("CS-C", of_each(lambda one: one.cs_c), better="lower"),
    "cs_r": Score("CS-R", of_each(lambda one: one.cs_r), better="lower"),
    "evidence": Score("Evidence", of_each(lambda one: one.evidence)),
    "both_sides": Score("Both sides", of_each(lambda one: one.both_sides)),
    "conflicting_claims": Score(
        "Conflicting claims a response",
        of_each(lambda one: sum(own) if (own := decided_claims(one)) else None),
        bounds=(0, inf),
        better="lower",
    ),
}
"""Of everything that has a ConflictScore."""
