"""Reads CLIMATE-FEVER (Diggelmann et al. 2020).

Format of `climate-fever.jsonl` in github.com/tdiggelm/climate-fever-dataset: one object per line
with `claim_id`, `claim`, `claim_label` and five `evidences`, each with `evidence_id`,
`evidence_label`, `article`, `evidence`, `entropy` and five `votes` (None for a missing vote). The
release on the Hugging Face hub stores labels as numbers, in the order of `LABELS`; both forms are
read.
"""

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records

EvidenceLabel = Literal["SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO"]
ClaimLabel = Literal["SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO", "DISPUTED"]

LABELS: tuple[ClaimLabel, ...] = get_args(ClaimLabel)
"""The hub's numbering."""


def _named(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(LABELS):
        return LABELS[value]
    return value


class Evidence(BaseModel, frozen=True):
    """One Wikipedia sentence, "ARTICLE:SENTENCE", and its majority label for a claim.

    A missing vote is None; the entropy of votes is in nats, 0 if all agree.
    """

    evidence_id: Text
    evidence_label: Annotated[EvidenceLabel, BeforeValidator(_named)]
    article: str
    evidence: Text
    entropy: float | None = None
    votes: tuple[str | None, ...] = ()


class ClimateClaim(BaseModel, frozen=True):
    """One claim about the climate, with five sentences of evidence.

    The label follows from theirs; a "DISPUTED" claim has both supporting and refuting sentences.
    """

    claim_id: Text
    claim: Text
    claim_label: Annotated[ClaimLabel, BeforeValidator(_named)]
    evidences: NonEmpty[Evidence]


def read(path: Path) -> list[ClimateClaim]:
    """The claims of a CLIMATE-FEVER file, in its order; raises as `read_records`."""
    return read_records(path, ClimateClaim, "CLIMATE-FEVER")
