"""What ConflictScore leaves behind for one response: one line of `conflictscore.jsonl`."""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Truncation

MEASURES: Final[Mapping[str, str]] = {
    "cs_c": "CS-C",
    "cs_r": "CS-R",
    "supported": "Supported by any",
    "evidence": "Evidence",
    "both_sides": "Both sides",
}
"""What responses are scored by: fields of a result, and how people call them."""


class Result(BaseModel):
    """One response scored, or the reason why it was not.

    Attributes:
        status: "scored"; "invalid" (the reply to the decomposition could not be read, or no claim
            could be judged); "failed" (the pipeline stopped; asked again when the run is resumed).
        claims: The claims judged, in order, without repetitions.
        claims_capped: Whether the list of claims ended at its bound, so that some may be missing.
        copied_claims: What the model gave back of its prompt's examples in place of claims.
        judgements: One per (claim, document), ordered by claim, then document.
        cs_c, cs_r: CS-Count and CS-Ratio in [0, 1]; None where no claim could enter it, or where no
            document takes a side.
        supported, evidence, both_sides: As `supported_share`, `evidence_share` and `both_sides` of
            `scores`.
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
    supported: float | None = None
    evidence: float | None = None
    both_sides: float | None = None
    undetermined_claims: int = 0
    unread_claims: int = 0
    truncations: tuple[Truncation, ...] = ()
    error: str | None = None
    raw: str | None = None

    def figures(self) -> list[str]:
        """The scores in words: "CS-C 0.50", and "CS-R –" where it is None."""
        scores = {title: getattr(self, name) for name, title in MEASURES.items()}
        return [f"{title} {'–' if n is None else f'{n:.2f}'}" for title, n in scores.items()]
