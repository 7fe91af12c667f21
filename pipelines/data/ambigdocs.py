"""Reads AmbigDocs (Lee et al. 2024, "Reasoning across Documents on Different Entities").

Format of `train.json`, `dev.json` and `test.json`, as github.com/lilys012/AmbigDocs describes and
reads it: one list of objects with `question`, `ambiguous_entity`, `qid` and `documents`, each with
`title` (the disambiguated entity), `text`, `pid` (a passage of psgs_w100.tsv) and `answer`. Ids may
be numbers or strings, since the release does not say which.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from pipelines.data.records import Text
from pipelines.data.released import read_records


class EntityDocument(BaseModel, frozen=True):
    """A passage about one entity with the ambiguous name, and the answer for that entity."""

    title: Text
    text: Text
    answer: Text


class AmbiguousQuestion(BaseModel, frozen=True):
    """A question about a name that several entities share; two or more, with a document each."""

    question: Text
    ambiguous_entity: str = ""
    qid: int | str | None = None
    documents: Annotated[tuple[EntityDocument, ...], Field(min_length=2)]


def read(path: Path) -> list[AmbiguousQuestion]:
    """The questions of an AmbigDocs file, in its order; raises as `read_records`."""
    return read_records(path, AmbiguousQuestion, "AmbigDocs")
