"""Reads WiCE (Kamoi et al. 2023).

Format of `data/entailment_retrieval/{claim,subclaim}/{train,dev,test}.jsonl` in
github.com/ryokamoi/wice: one object per line with `label`, `supporting_sentences` (several sets of
indices into `evidence`), `claim`, `evidence` (the sentences of the cited page) and `meta`.
"""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, model_validator

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records


class Meta(BaseModel, frozen=True):
    """Origin of a claim, by id: "dev02986"."""

    id: Text


class CitedClaim(BaseModel, frozen=True):
    """One Wikipedia sentence with the web page that it cites; "not_supported" is not "refuted".

    The first sentence of the page is its title; sentences may be empty. Supporting sentences are
    alternative sets of indices, any one of which suffices; the sets are empty without support.
    """

    claim: Text
    evidence: NonEmpty[str]
    label: Literal["supported", "partially_supported", "not_supported"]
    supporting_sentences: tuple[tuple[int, ...], ...] = ()
    meta: Meta

    @model_validator(mode="after")
    def _check(self) -> Self:
        for index in (index for indices in self.supporting_sentences for index in indices):
            if not 0 <= index < len(self.evidence):
                raise ValueError(
                    f"'supporting_sentences' names sentence {index} "
                    f"of {len(self.evidence)} (counted from 0)"
                )
        return self


def read(path: Path) -> list[CitedClaim]:
    """The claims of a WiCE file, in its order; raises as `read_records`."""
    return read_records(path, CitedClaim, "WiCE")
