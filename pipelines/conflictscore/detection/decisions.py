"""What every detector decided, labellers and baselines alike, and where labellers were wrong."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from pipelines.conflictscore.detection.baselines import ALWAYS, LEXICAL, by_overlap
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.detection.metrics import Verdict
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Judgement, Relation, conflicting

Detectors = Mapping[str, Sequence[DetectionResult]]
"""Name of a detector -> its results, labellers first, then baselines."""


class Mistake(BaseModel):
    """A document that a labeller took for something else than it is (ConflictScore, Figure 3).

    `evidence` is the document, whole; INVALID is predicted where the label could not be read.
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


def detectors(results: Detectors) -> dict[str, Sequence[DetectionResult]]:
    """The results of all labellers, and of the baselines on the same examples."""
    examples = {result.id: result.example for own in results.values() for result in own}.values()
    return {
        **results,
        ALWAYS: [baseline(each, (), conflict=True) for each in examples],
        LEXICAL: [
            baseline(each, relations, conflict=conflicting(relations))
            for each in examples
            for relations in [by_overlap(each)]
        ],
    }


def baseline(
    example: ContestedClaim, relations: Sequence[Relation], *, conflict: bool
) -> DetectionResult:
    """What a detector without a model makes of an example; no relations label no document."""
    judgements = tuple(
        Judgement(claim=example.claim, document=document.id, relation=relation, source="baseline")
        for document, relation in zip(example.documents, relations, strict=False)
    )
    return DetectionResult(
        id=example.id, example=example, status="labelled", judgements=judgements, conflict=conflict
    )


def verdicts(results: Sequence[DetectionResult]) -> list[Verdict]:
    """The decisions that could be determined, for metrics."""
    return [
        Verdict(each.example.conflict, each.conflict, each.example.group)
        for each in results
        if each.conflict is not None
    ]


def mistakes(results: Detectors) -> list[Mistake]:
    """Every document that labellers took for something else, the most confident mistake first.

    Unreadable labels, and labels without a probability, come last. Equal ones are in the order of
    labeller, example and document.
    """
    found = [
        Mistake(
            labeller=labeller,
            source=result.example.source,
            example=result.id,
            document=document.id,
            claim=result.example.claim,
            question=result.example.question,
            evidence=document.text,
            title=document.title,
            truth=truth,
            predicted=judgement.relation,
            confidence=judgement.confidence,
            probabilities=judgement.probabilities,
            snippet=judgement.snippet,
            reasoning=judgement.reasoning,
            outcome=outcome(result.example, result.conflict),
        )
        for labeller, own in results.items()
        for result in own
        for document, truth, judgement in result.documents()
        if judgement.relation is not truth
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
