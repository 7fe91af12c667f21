"""The result of ConflictScore for one response, and its metrics."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final, Literal

from pydantic import BaseModel

from pipelines.data.records import Response
from pipelines.experiment.metric import Metric, of_each
from pipelines.judge.judgement import Judgement, Relation, Truncation, in_conflict


class Score(BaseModel, frozen=True):
    """The ConflictScore of a text.

    Attributes:
        claims: The claims judged, in order, without repetitions.
        judgements: One per (claim, document), ordered by claim, then document.
        cs_c, cs_r: CS-Count and CS-Ratio in [0, 1]; None if no claim can be counted, or if no
            document takes a side.
        supported, evidence, both_sides: As `supported_share`, `evidence_share` and `both_sides` of
            `scores`.
        error: Why there is no score, in one line.
    """

    claims: tuple[str, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    cs_c: float | None = None
    cs_r: float | None = None
    supported: float | None = None
    evidence: float | None = None
    both_sides: float | None = None
    error: str | None = None


class Result(Score, Response):
    """A scored response, or the reason why it has no score: one line of `conflictscore.jsonl`.

    Attributes:
        status: "scored"; "invalid" (it makes no claim, the reply to the decomposition could not be
            read, or no claim could be judged); "failed" (an error stopped the pipeline; tried
            again when the run is resumed).
        claims_capped: Whether the list of claims ended at its bound, so that claims may be missing.
        copied_claims: Claims that the model copied from its prompt's examples; left out.
        undetermined_claims: Claims left out of CS-C, since unreadable judgements could make them a
            conflict.
        unread_claims: Claims left out of CS-R, since they have an unreadable judgement.
        raw: The unreadable reply behind "invalid".
    """

    status: Literal["scored", "invalid", "failed"]
    claims_capped: bool = False
    copied_claims: tuple[str, ...] = ()
    undetermined_claims: int = 0
    unread_claims: int = 0
    truncations: tuple[Truncation, ...] = ()
    raw: str | None = None

    def figures(self) -> list[str]:
        """The scores in words: "CS-C 0.50", or "CS-R –" if it is None."""
        scores = {title: getattr(self, name) for name, title in MEASURES.items()}
        return [f"{title} {'–' if n is None else f'{n:.2f}'}" for title, n in scores.items()]


def relations_by_claim(judgements: Sequence[Judgement], documents: int) -> list[list[Relation]]:
    """The relations of each claim, from judgements ordered by claim, then document."""
    relations = [judgement.relation for judgement in judgements]
    return [relations[row : row + documents] for row in range(0, len(relations), documents)]


def claim_relations(result: Result) -> list[list[Relation]]:
    """For each claim of a response, its relations in the order of its documents."""
    return relations_by_claim(result.judgements, len(result.documents))


def decided_claims(result: Result) -> list[bool]:
    """Whether the documents conflict over a claim, for every claim where that can be decided.

    Empty for a response without CS-C.
    """
    if result.cs_c is None:
        return []
    decisions = map(in_conflict, claim_relations(result))
    return [decision for decision in decisions if decision is not None]


def verdict(result: Result) -> str:
    """Whether the documents conflict over some claim of a response."""
    if result.cs_c is None:
        return "no evidence" if result.evidence == 0 else "undetermined"
    return "conflict" if result.cs_c > 0 else "no conflict"


def _score(key: str, title: str, better: Literal["higher", "lower"] = "higher") -> Metric[Result]:
    return Metric(key, title, of_each(lambda result, _: getattr(result, key)), better=better)


SCORES: Final = (
    _score("cs_c", "CS-C", "lower"),
    _score("cs_r", "CS-R", "lower"),
    _score("supported", "Supported by any"),
    _score("evidence", "Evidence"),
    _score("both_sides", "Both sides"),
)
"""Metrics of responses; the keys are fields of `Score`."""

MEASURES: Final[Mapping[str, str]] = {score.key: score.title for score in SCORES}
"""Key -> title of `SCORES`."""


def _conflicting_claims(result: Result, _: str) -> int | None:
    decided = decided_claims(result)
    return sum(decided) if decided else None


METRICS: Final[tuple[Metric[Result], ...]] = (
    *SCORES,
    Metric(
        "conflicting_claims_per_response",
        "Conflicting claims per response",
        of_each(_conflicting_claims),
        bounds=(0, inf),
        better="lower",
    ),
)
"""Metrics of everything that has a ConflictScore."""
