"""What a writer is told of the conflict in its response (ConflictScore, section 6.1, Table 13)."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from pipelines.conflictscore.pipeline import relations_by_claim
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import contradicting, contradiction_ratio
from pipelines.evidence.judgement import Judgement, Relation, conflicting

QUOTED_CHARACTERS = 300
"""Of a document from which the judge quoted nothing, its beginning is shown, up to so many."""


class Quote(BaseModel):
    """The passage of a document that supports or contradicts a claim.

    Attributes:
        document: Its number among the documents, from 1.
        text: What the judge quoted, else how the document begins.
    """

    model_config = ConfigDict(frozen=True)

    document: int
    text: str


class Feedback(BaseModel):
    """The claim of a response whose evidence is most at odds, with both sides.

    Attributes:
        claim: As judged.
        supporting, contradicting: At least one each, in the order of the documents.
    """

    model_config = ConfigDict(frozen=True)

    claim: str
    supporting: tuple[Quote, ...]
    contradicting: tuple[Quote, ...]


def worst_claim(claims: Sequence[Sequence[Relation]]) -> int | None:
    """The place of the "main claim that had conflicts" (ConflictScore, Table 13).

    The paper does not say which of several it is. Taken is the claim with conflicting evidence
    whose contradiction ratio is highest; of equals the one that more documents contradict, then
    the first.

    Args:
        claims: For each claim, its relation to each document.

    Returns:
        None where no claim has conflicting evidence.
    """

    def severity(place: int) -> tuple[float, int]:
        return contradiction_ratio(claims[place]) or 0.0, contradicting(claims[place])

    places = [place for place, relations in enumerate(claims) if conflicting(relations)]
    return max(places, key=severity, default=None)


def feedback_on(result: Result) -> Feedback | None:
    """What to tell the writer of a scored response; None where no claim is in conflict."""
    width = len(result.documents)
    worst = worst_claim(relations_by_claim(result.judgements, width))
    if worst is None:
        return None
    judged = result.judgements[worst * width : (worst + 1) * width]

    def quotes(relation: Relation) -> tuple[Quote, ...]:
        return tuple(
            Quote(document=number, text=_quoted(judgement, document.text))
            for number, (judgement, document) in enumerate(
                zip(judged, result.documents, strict=True), start=1
            )
            if judgement.relation is relation
        )

    return Feedback(
        claim=result.claims[worst],
        supporting=quotes(Relation.SUPPORTS),
        contradicting=quotes(Relation.CONTRADICTS),
    )


def _quoted(judgement: Judgement, text: str) -> str:
    """The judge's quote where the document has it: a made-up one would mislead the writer."""
    if judgement.snippet and judgement.snippet_found:
        return judgement.snippet
    beginning = text[:QUOTED_CHARACTERS]
    return beginning if len(text) <= QUOTED_CHARACTERS else f"{beginning.rsplit(' ', 1)[0]} ..."
