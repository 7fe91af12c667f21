"""Reads RAMDocs (Wang et al. 2025, "Retrieval-Augmented Generation with Conflicting Evidence").

Format of `RAMDocs_test.jsonl` in github.com/HanNight/RAMDocs: one object per line with `question`,
`documents` (each with `text`, `type` in correct / misinfo / noise, and `answer`: the answer that
the document gives, "unknown" for noise), `disambig_entity`, `gold_answers`, `wrong_answers`.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.data.records import Text
from pipelines.data.released import read_records

UNKNOWN = "unknown"
"""The answer of a noise document."""


class RamDocument(BaseModel):
    """One document of a question.

    Attributes:
        text: What it says.
        type: "correct" (supports one of the gold answers), "misinfo" (an entity was exchanged so
            that it supports a wrong answer) or "noise" (answers nothing).
        answer: The answer that it gives; "unknown" for noise.
    """

    model_config = ConfigDict(frozen=True)

    text: Text
    type: Literal["correct", "misinfo", "noise"]
    answer: Text


class RamQuestion(BaseModel):
    """One question.

    Attributes:
        question: Often ambiguous: several gold answers, each for another entity of that name.
        documents: At least one.
        disambig_entity: The entity that each gold answer belongs to; entries may be None.
        gold_answers: One per entity. Some have no document.
        wrong_answers: What misinformation says. Some have no document, and some repeat.
    """

    model_config = ConfigDict(frozen=True)

    question: Text
    documents: Annotated[tuple[RamDocument, ...], Field(min_length=1)]
    disambig_entity: tuple[str | None, ...] = ()
    gold_answers: Annotated[tuple[Text, ...], Field(min_length=1)]
    wrong_answers: tuple[str, ...] = ()


def read(path: Path) -> list[RamQuestion]:
    """The questions of a RAMDocs file, in its order.

    Raises:
        InputError: The file cannot be read or an entry is of another format.
    """
    return read_records(path, RamQuestion, "RAMDocs")
