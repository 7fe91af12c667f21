"""What ConflictScore leaves behind for one response: one line of `conflictscore.jsonl`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Truncation


class Result(BaseModel):
    """One response scored, or the reason why it was not.

    Attributes:
        status: "scored"; "invalid" (the reply to the decomposition could not be read, or no claim
            could be judged); "failed" (the pipeline stopped; asked again when the run is resumed).
        claims: The claims judged, in order, without repetitions.
        claims_capped: Whether the list of claims ended at its bound, so that some may be missing.
        copied_claims: What the model gave back of its prompt's examples in place of claims.
        judgements: One per (claim, document), ordered by claim, then document.
        cs_c, cs_r: CS-Count and CS-Ratio in [0, 1], or None where no claim could enter it.
        undetermined_claims: Claims left out of CS-C, for unreadable judgements may make them a
            conflict.
        unread_claims: Claims left out of CS-R, for having an unreadable judgement.
        error: One line for "invalid" and "failed".
        raw: The unreadable reply behind "invalid".
    """

    model_config = ConfigDict(frozen=True)

    id: str
    group: str
    variant: str | None = None
    question: str | None = None
    response: str
    documents: tuple[Document, ...]
    status: Literal["scored", "invalid", "failed"]
    claims: tuple[str, ...] = ()
    claims_capped: bool = False
    copied_claims: tuple[str, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    cs_c: float | None = None
    cs_r: float | None = None
    undetermined_claims: int = 0
    unread_claims: int = 0
    truncations: tuple[Truncation, ...] = ()
    error: str | None = None
    raw: str | None = None

    def figures(self) -> tuple[str, str]:
        """Both scores in words: "CS-C 0.50" and "CS-R –", where there is none."""
        shown = ("–" if score is None else f"{score:.2f}" for score in (self.cs_c, self.cs_r))
        count, ratio = shown
        return f"CS-C {count}", f"CS-R {ratio}"
