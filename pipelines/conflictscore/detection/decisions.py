"""What every detector decided, labellers and baselines alike, and where labellers were wrong."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from pipelines.conflictscore.detection.baselines import ALWAYS, LEXICAL, by_overlap
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.detection.metrics import Verdict
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Relation, conflicting


@dataclass(frozen=True)
class Decision:
    """One example decided by one detector.

    Attributes:
        conflict: Whether the detector sees a conflict; None where that could not be determined.
        relations: The label of each document; empty where there is none.
        failed: Whether nothing could be labelled.
        truncations: Number of documents that were read in part.
    """

    example: ContestedClaim
    conflict: bool | None
    relations: tuple[Relation, ...] = ()
    failed: bool = False
    truncations: int = 0


Detectors = Mapping[str, Sequence[Decision]]
"""Name of a detector -> its decisions, labellers first, then baselines."""


class Mistake(BaseModel):
    """A document that a labeller took for something else than it is (ConflictScore, Figure 3).

    Attributes:
        evidence: The document, whole.
        truth: What it says of the claim.
        predicted: What the labeller took it for; INVALID where the label could not be read.
        confidence: Probability of the predicted label, in [0, 1]; None where there is none.
        snippet, reasoning: The labeller's.
        outcome: What came of the example; see `outcome`.
    """

    model_config = ConfigDict(frozen=True)

    labeller: str
    source: str
    example: str
    document: str
    claim: str
    question: str | None
    evidence: str
    title: str | None
    truth: Relation
    predicted: Relation
    confidence: float | None
    probabilities: dict[Relation, float] | None
    snippet: str | None
    reasoning: str | None
    outcome: str


def detectors(results: Mapping[str, Sequence[DetectionResult]]) -> dict[str, list[Decision]]:
    """The decisions of all labellers, and of the baselines on the same examples."""
    found: dict[str, list[Decision]] = {
        name: [
            Decision(
                result.example,
                result.conflict,
                result.relations,
                result.status == "failed",
                len(result.truncations),
            )
            for result in own
        ]
        for name, own in results.items()
    }
    examples = {result.id: result.example for own in results.values() for result in own}
    found[ALWAYS] = [Decision(example, True) for example in examples.values()]
    found[LEXICAL] = [
        Decision(example, conflicting(relations), relations)
        for example in examples.values()
        for relations in [by_overlap(example)]
    ]
    return found


def verdicts(decisions: Sequence[Decision]) -> list[Verdict]:
    """The decisions that could be determined, for metrics."""
    return [
        Verdict(each.example.conflict, each.conflict, each.example.group)
        for each in decisions
        if each.conflict is not None
    ]


def labelled_documents(decisions: Sequence[Decision]) -> list[tuple[Relation, Relation]]:
    """(true relation, given label) of each document whose true relation is known."""
    return [
        pair
        for each in decisions
        if each.relations and each.example.relations is not None
        for pair in zip(each.example.relations, each.relations, strict=True)
    ]


def mistakes(results: Mapping[str, Sequence[DetectionResult]]) -> list[Mistake]:
    """Every document labelled wrongly, the most confident mistake first.

    Unreadable labels, and labels without a probability, come last. Equal ones are in the order of
    labeller, example and document.
    """
    found = [
        mistake
        for name, own in results.items()
        for result in own
        for mistake in _mistakes(name, result)
    ]
    found.sort(key=lambda each: -1.0 if each.confidence is None else each.confidence, reverse=True)
    return found


def outcome(example: ContestedClaim, conflict: bool | None) -> str:
    """What came of an example, in words."""
    if conflict is None:
        return "undetermined"
    if example.conflict:
        return "conflict found" if conflict else "conflict missed"
    return "conflict invented" if conflict else "no conflict found"


def _mistakes(labeller: str, result: DetectionResult) -> Iterator[Mistake]:
    example = result.example
    if example.relations is None or not result.judgements:
        return
    rows = zip(example.documents, example.relations, result.judgements, strict=True)
    for document, truth, judgement in rows:
        if judgement.relation is truth:
            continue
        probabilities = judgement.probabilities
        yield Mistake(
            labeller=labeller,
            source=example.source,
            example=example.id,
            document=document.id,
            claim=example.claim,
            question=example.question,
            evidence=document.text,
            title=document.title,
            truth=truth,
            predicted=judgement.relation,
            confidence=probabilities.get(judgement.relation) if probabilities else None,
            probabilities=probabilities,
            snippet=judgement.snippet,
            reasoning=judgement.reasoning,
            outcome=outcome(example, result.conflict),
        )
