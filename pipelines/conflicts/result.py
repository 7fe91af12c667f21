"""One query under every classifier and strategy: a line of `conflicts.NAME.jsonl`."""

from typing import Literal

from pydantic import BaseModel

from pipelines.conflicts.answer import Answer
from pipelines.conflicts.judges.verdicts import Verdicts
from pipelines.conflicts.prediction import Classifier, Prediction
from pipelines.conflicts.question import Query
from pipelines.evidence.judgement import Truncation

Strategy = Literal["vanilla", "pipeline", "taxonomy-aware", "oracle"]
"""How an answer is asked for (CONFLICTS, section 5.1)."""


class Outcome(BaseModel, frozen=True):
    """What a strategy makes of a query: an answer, and verdicts on one that could be read."""

    answer: Answer
    judged: Verdicts = Verdicts()


class QueryResult(BaseModel, frozen=True):
    """One query, asked with its sources and gold labels; the id is that within its data set.

    Attributes:
        status: "answered"; "incomplete" where something could not be asked, "failed" where nothing
            could. The last two are tried again when the run is resumed.
        truncations: Sources that the writer saw only in part.
        error: One line for "failed".
    """

    id: str
    asked: Query
    status: Literal["answered", "incomplete", "failed"]
    predictions: dict[Classifier, Prediction] = {}
    outcomes: dict[Strategy, Outcome] = {}
    truncations: tuple[Truncation, ...] = ()
    error: str | None = None
