"""Signs that an answer shows both sides: parts of ConflictScore, and two without a model."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from pipelines.conflictscore.pipeline import relations_by_claim
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import probability
from pipelines.evidence.judgement import Relation

Sign = Callable[[Result], float | None]
"""A number of an answer, higher where it rather shows both sides; None where it cannot be had."""

HEDGES: Final = re.compile(
    r"\b(?:however|although|though|while|whereas|but|according to|on the other hand|in contrast|"
    r"contradict\w*|conflict\w*|inconsisten\w*|discrepan\w*|disagree\w*|differ\w*)\b",
    re.IGNORECASE,
)
"""Words that set views side by side; the list was made before any answer was scored."""


def agreed(result: Result) -> float | None:
    """1 - CS-C: the share of claims that the passages do not dispute, in [0, 1]."""
    return None if result.cs_c is None else 1 - result.cs_c


def uncontradicted(result: Result) -> float | None:
    """1 - CS-R: one less the mean share of contradiction, in [0, 1]."""
    return None if result.cs_r is None else 1 - result.cs_r


def not_overstated(result: Result) -> bool | None:
    """Whether no claim is supported by one passage and contradicted by another."""
    return None if result.cs_c is None else result.cs_c == 0


def all_backed(result: Result) -> bool | None:
    """Whether every passage supports some claim; None where unreadable labels leave it open."""
    rows = relations_by_claim(result.judgements, len(result.documents))
    columns = list(zip(*rows, strict=True))
    backed = [Relation.SUPPORTS in column for column in columns]
    if not columns or all(backed):
        return all(backed) if columns else None
    open_ = (
        Relation.INVALID in column for column, own in zip(columns, backed, strict=True) if not own
    )
    return None if all(open_) else False


def least_support(result: Result) -> float | None:
    """Of the passage that supports the answer least, its greatest P(support), in [0, 1].

    A label without probabilities has 1 or 0; None if no passage was read.
    """
    best: dict[str, float] = {}
    for judgement in result.judgements:
        if judgement.relation is not Relation.INVALID:
            support = probability(judgement, Relation.SUPPORTS)
            best[judgement.document] = max(best.get(judgement.document, 0.0), support)
    return min(best.values(), default=None)


def hedges(result: Result) -> float:
    """How many `HEDGES` an answer has."""
    return float(len(HEDGES.findall(result.response)))


def length(result: Result) -> float:
    """How many words an answer has."""
    return float(len(result.response.split()))


def as_number(sign: Callable[[Result], bool | None]) -> Sign:
    """A sign of a yes or no: 1 or 0."""

    def number(result: Result) -> float | None:
        said = sign(result)
        return None if said is None else float(said)

    return number


SIGNS: Final[Mapping[str, Sign]] = {
    "1 − CS-C": agreed,
    "1 − CS-R": uncontradicted,
    "no claim in conflict": as_number(not_overstated),
    "both passages support a claim": as_number(all_backed),
    "least support of a passage": least_support,
    "both sides": lambda result: result.both_sides,
    "hedging words": hedges,
    "words": length,
}
"""By name, those of a model first."""

BASELINES: Final = ("hedging words", "words")
"""Those of `SIGNS` that need none."""

DECISIONS: Final[Mapping[str, Callable[[Result], bool | None]]] = {
    "no claim in conflict": not_overstated,
    "both passages support a claim": all_backed,
}
"""What ConflictScore says to whether an answer shows both sides."""

PLAIN_DECISIONS: Final[Mapping[str, Callable[[Result], bool | None]]] = {
    "a hedging word": lambda result: hedges(result) > 0,
    "always yes": lambda _: True,
    "always no": lambda _: False,
}
"""The same without a model."""
