"""An answer, sentence by sentence with its citations."""

from pydantic import BaseModel

from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.taxonomy import ConflictType


class Sentence(BaseModel, frozen=True):
    """One sentence.

    Attributes:
        text: Without its citations.
        cites: Numbers of sources from 1, each once, in the order cited.
        unknown: Numbers that are no source's, likewise.
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
        finished: False where the answer was cut by the limit of tokens; within JSON, by that of
            characters.
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
