"""A question with its documents, and what the data say of both."""

from typing import Literal, Self

from pydantic import BaseModel

from pipelines.data.records import Document, NonEmpty, Text

Kind = Literal["correct", "misinfo", "noise"]
"""What a document is to its question (RAMDocs, section 3): it supports a gold answer, it supports a
wrong one, or it answers nothing."""


class GivenDocument(BaseModel, frozen=True):
    """A document of a question, its kind and its answer; None where the data do not say."""

    document: Document
    kind: Kind | None = None
    answer: str | None = None


class Question(BaseModel, frozen=True):
    """A question, whose id is unique within its data set; its documents have distinct ids.

    Attributes:
        gold: Right answers; each is a list of its names, of which one is enough.
        wrong: Answers that only misinformation supports.
        one_answer: Whether the gold answers are all the answers there are, so that every other one
            is wrong (FaithEval); else only those in `wrong` are.
        level: Of a construction of section 6, how many documents the varied answer has.
    """

    id: str
    question: Text
    documents: NonEmpty[GivenDocument]
    gold: tuple[tuple[Text, ...], ...] = ()
    wrong: tuple[Text, ...] = ()
    one_answer: bool = False
    level: int | None = None

    def untitled(self) -> Self:
        """The question, its documents without titles."""
        documents = tuple(
            each.model_copy(update={"document": each.document.model_copy(update={"title": None})})
            for each in self.documents
        )
        return self.model_copy(update={"documents": documents})
