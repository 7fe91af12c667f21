"""Reads FoolMeTwice (Eisenschlos et al. 2021).

Format of `dataset/{train,dev,test}.jsonl` in github.com/google-research/fool-me-twice: one object
per line with `id`, `text` (the claim), `label` (SUPPORTS or REFUTES), `gold_evidence` and
`retrieved_evidence` (lists of `section_header` and `text`), `wikipedia_page`, `category`, votes.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records


class Sentence(BaseModel, frozen=True):
    """One sentence of a Wikipedia page."""

    text: Text
    section_header: str = ""


class GameClaim(BaseModel, frozen=True):
    """One claim that a player wrote to fool the others, with one or two sentences as evidence.

    Some ten sentences of the same page were retrieved; gold ones may be among them.
    """

    id: Text
    text: Text
    label: Literal["SUPPORTS", "REFUTES"]
    gold_evidence: NonEmpty[Sentence]
    retrieved_evidence: tuple[Sentence, ...] = ()
    wikipedia_page: str = ""


def read(path: Path) -> list[GameClaim]:
    """The claims of a FoolMeTwice file, in its order; raises as `read_records`."""
    return read_records(path, GameClaim, "FoolMeTwice")
