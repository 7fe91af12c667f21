"""Reads CLIMATE-FEVER (Diggelmann et al. 2020).

Format of `climate-fever.jsonl` in github.com/tdiggelm/climate-fever-dataset: one object per line
with `claim_id`, `claim`, `claim_label` and five `evidences`, each with `evidence_id`,
`evidence_label`, `article`, `evidence`, `entropy` and five `votes`. A claim's label follows from
those of its evidence and is not read. The release on the Hugging Face hub stores labels as numbers,
in the order of `LABELS`; both forms are read.
"""

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records

EvidenceLabel = Literal["SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO"]

LABELS: tuple[EvidenceLabel, ...] = get_args(EvidenceLabel)
"""The hub's numbering."""


def _named(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(LABELS):
        return LABELS[value]
    return value


class Evidence(BaseModel, frozen=True):
    """One Wikipedia sentence, with its majority label for a claim."""

    evidence_label: Annotated[EvidenceLabel, BeforeValidator(_named)]
    article: str
    evidence: Text


class ClimateClaim(BaseModel, frozen=True):
    """One claim about the climate, with five sentences of evidence."""

    claim_id: Text
    claim: Text
    evidences: NonEmpty[Evidence]


def read(path: Path) -> list[ClimateClaim]:
    """The claims of a CLIMATE-FEVER file, in its order; raises as `read_records`."""
    return read_records(path, ClimateClaim, "CLIMATE-FEVER")
