"""Reads RAMDocs (Wang et al. 2025, "Retrieval-Augmented Generation with Conflicting Evidence").

Format of `RAMDocs_test.jsonl` in github.com/HanNight/RAMDocs: one object per line with `question`,
`documents` (each with `text`, `type` in correct / misinfo / noise, and `answer`: the answer that
the document gives, "unknown" for noise), `disambig_entity`, `gold_answers`, `wrong_answers`.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records

UNKNOWN = "unknown"
"""The answer of a noise document."""


class RamDocument(BaseModel, frozen=True):
    """One document: "correct" ones support a gold answer, "noise" answers nothing.

    In "misinfo" ones an entity was replaced, so that they support a wrong answer.
    """

    text: Text
    type: Literal["correct", "misinfo", "noise"]
    answer: Text


class RamQuestion(BaseModel, frozen=True):
    """One question, often ambiguous: several gold answers, each for another entity of the name.

    Entities may be None. Some gold and some wrong answers have no document, and some wrong ones
    repeat.
    """

    question: Text
    documents: NonEmpty[RamDocument]
    disambig_entity: tuple[str | None, ...] = ()
    gold_answers: NonEmpty[Text]
    wrong_answers: tuple[str, ...] = ()


def read(path: Path) -> list[RamQuestion]:
    """The questions of a RAMDocs file, in its order; raises as `read_records`."""
    return read_records(path, RamQuestion, "RAMDocs")
