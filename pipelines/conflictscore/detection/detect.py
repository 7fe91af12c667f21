"""Conflict Detection of one example: label every document, look for both sides (section 4.1)."""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from pipelines.data.records import Document
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Judgement, Relation, Truncation, in_conflict
from pipelines.evidence.labeller import Labeller


class DetectionResult(BaseModel):
    """What a labeller made of one example: one line of `conflict-detection.LABELLER.jsonl`.

    It is "invalid" where unreadable judgements leave it open whether there is a conflict, and
    "failed" where none could be made; those are tried again on resuming. The example is kept, so
    that tables and page can be made from results alone.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    example: ContestedClaim
    status: Literal["labelled", "invalid", "failed"]
    judgements: tuple[Judgement, ...] = ()
    conflict: bool | None = None
    truncations: tuple[Truncation, ...] = ()
    error: str | None = None

    @classmethod
    def failed(cls, example: ContestedClaim, reason: str) -> Self:
        """The result of an example that could not be judged."""
        return cls(id=example.id, example=example, status="failed", error=reason)

    @property
    def right(self) -> bool | None:
        """Whether the labeller is right; None where it decided nothing."""
        return None if self.conflict is None else self.conflict == self.example.conflict

    @property
    def verdict(self) -> str:
        """What it decided, in words."""
        if self.conflict is None:
            return "undetermined"
        return "conflict" if self.conflict else "no conflict"

    def documents(self) -> Iterator[tuple[Document, Relation, Judgement]]:
        """The documents that were judged, each with its true relation; none where it is unknown."""
        known = self.example.relations
        if known is not None and self.judgements:
            yield from zip(self.example.documents, known, self.judgements, strict=True)


async def detect(example: ContestedClaim, labeller: Labeller) -> DetectionResult:
    """Decide whether an example's documents conflict over its claim.

    There is a conflict exactly where some document is labelled SUPPORTS and some CONTRADICTS. The
    example is undetermined where unreadable labels leave that open, as a claim is in ConflictScore.

    What is known of the documents is not shown to the labeller.

    Raises:
        InputError: Claim and documents cannot be labelled.
        ServingError: No server can be had, or a document does not fit the context.
    """
    labelled = await labeller([example.claim], example.documents)
    relations = [judgement.relation for judgement in labelled.judgements]
    conflict = in_conflict(relations)
    return DetectionResult(
        id=example.id,
        example=example,
        status="invalid" if conflict is None else "labelled",
        judgements=labelled.judgements,
        conflict=conflict,
        truncations=labelled.truncations,
    )
