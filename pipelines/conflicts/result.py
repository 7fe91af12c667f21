"""One query under every classifier and strategy: a line of `conflicts.NAME.jsonl`."""

from typing import Literal

from pydantic import BaseModel

from pipelines.conflicts.judges.verdicts import Verdicts
from pipelines.conflicts.prediction import Classifier, Prediction
from pipelines.conflicts.question import Query
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.evidence.judgement import Truncation

Strategy = Literal["vanilla", "pipeline", "taxonomy-aware", "oracle"]
"""How an answer is asked for (CONFLICTS, section 5.1)."""


class Sentence(BaseModel, frozen=True):
    """One sentence, without its citations.

    It cites sources by their numbers from 1, each once, in the order cited. Numbers that are no
    source's are unknown.
    """

    text: str
    cites: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()


class Answer(BaseModel, frozen=True):
    """What a strategy answers.

    Attributes:
        text: As the model wrote it, with citations; empty where the reply could not be read.
        told: The conflict type that the model was told; None where it was told none.
        prediction: Of the taxonomy-aware strategy, the type that it gave with its answer.
        finished: False where the answer was cut by the limit of tokens.
        problem: Why the reply could not be read, in one line.
        raw: The reply as it came, where it could not be read.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    told: ConflictType | None = None
    prediction: Prediction | None = None
    finished: bool = True
    problem: str | None = None
    raw: str | None = None


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
