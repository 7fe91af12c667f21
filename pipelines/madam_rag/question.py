"""A question with its documents, and what the data say of both."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.data.records import Document, Text

Kind = Literal["correct", "misinfo", "noise"]
"""What a document is to its question (RAMDocs, section 3): it supports a gold answer, it supports a
wrong one, or it answers nothing."""


class GivenDocument(BaseModel):
    """A document of a question.

    Attributes:
        document: What an agent reads.
        kind: What it is to the question; None where the data do not say.
        answer: The answer that it gives; None where it gives none, or the data do not say.
    """

    model_config = ConfigDict(frozen=True)

    document: Document
    kind: Kind | None = None
    answer: str | None = None


class Question(BaseModel):
    """A question.

    Attributes:
        id: Its name, unique within its data set.
        question: What is asked.
        documents: At least one, with distinct ids.
        gold: Right answers; each is a list of its names, of which one is enough.
        wrong: Answers that only misinformation supports.
        one_answer: Whether the gold answers are all the answers there are, so that every other one
            is wrong (FaithEval); else only those in `wrong` are.
        level: Of a construction of section 6, how many documents the varied answer has.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    question: Text
    documents: Annotated[tuple[GivenDocument, ...], Field(min_length=1)]
    gold: tuple[tuple[Text, ...], ...] = ()
    wrong: tuple[Text, ...] = ()
    one_answer: bool = False
    level: int | None = None
