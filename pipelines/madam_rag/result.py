"""The record of one question under every method: one line of `madam-rag.NAME.jsonl`."""

from typing import Literal

from pydantic import BaseModel

from pipelines.madam_rag.astute_rag import Consolidation
from pipelines.madam_rag.question import Question
from pipelines.madam_rag.transcript import Conclusion, Debate, Reliability


class Outcome(BaseModel, frozen=True):
    """What a method concluded, how MADAM-RAG or Astute RAG got there, and replies that it took.

    Replies from the cache are counted as calls, too.
    """

    concluded: Conclusion
    calls: int
    debate: Debate | None = None
    consolidation: Consolidation | None = None


class QuestionResult(BaseModel, frozen=True):
    """One question.

    Attributes:
        id: Name of the question within its data set, and of the level where that is varied.
        status: "answered"; "incomplete" where some method could not be asked, "failed" where none
            could. The last two are tried again when the run is resumed.
        outcomes: Method -> what it makes of the question; see `methods.METHODS`.
        borne_out: For each document, how the others relate to the answer that it gives by the data:
            what an aggregator would be told of agents that read without a mistake. None of a
            document without an answer; empty where reliability was not asked for.
    """

    id: str
    asked: Question
    status: Literal["answered", "incomplete", "failed"]
    outcomes: dict[str, Outcome] = {}
    borne_out: tuple[Reliability | None, ...] = ()
    error: str | None = None
