"""Reads SciFact (Wadden et al. 2020): scientific claims with rationales in abstracts.

Format of `data.tar.gz` in github.com/allenai/scifact. `claims_train.jsonl` and `claims_dev.jsonl`
have one claim per line with `id`, `claim`, `evidence` (document id -> rationales, each with `label`
SUPPORT or CONTRADICT and `sentences`, indices into the abstract) and `cited_doc_ids`.
`corpus.jsonl` has one abstract per line with `doc_id`, `title`, `abstract` (its sentences) and
`structured`. Citation-Integrity (Sarol et al. 2024) uses this format, too: it has REFUTE, for any
citation error, in place of CONTRADICT, and documents without text.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records

NAME = "SciFact"


class Rationale(BaseModel, frozen=True):
    """Sentences of an abstract, as indices from 0, that together support or contradict a claim."""

    label: Annotated[
        Literal["SUPPORT", "CONTRADICT"],
        BeforeValidator(lambda label: "CONTRADICT" if label == "REFUTE" else label),
    ]
    sentences: NonEmpty[Annotated[int, Field(ge=0)]]


class ScientificClaim(BaseModel, frozen=True):
    """One claim; its evidence is document id -> rationales, all of one label.

    It is empty if the cited abstracts do not decide the claim.
    """

    id: int
    claim: Text
    evidence: dict[str, NonEmpty[Rationale]]
    cited_doc_ids: tuple[int, ...] = ()


class Abstract(BaseModel, frozen=True):
    """One document, split into sentences."""

    doc_id: int
    title: str
    abstract: tuple[str, ...]


def read(path: Path) -> list[ScientificClaim]:
    """The claims of a labelled SciFact file, in its order; raises as `read_records`."""
    return read_records(path, ScientificClaim, NAME)


def read_corpus(path: Path) -> dict[str, Abstract]:
    """Document id, as used in claims -> abstract; raises as `read_records`."""
    return {str(abstract.doc_id): abstract for abstract in read_records(path, Abstract, NAME)}
