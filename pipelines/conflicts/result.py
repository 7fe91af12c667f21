"""One query under every classifier and strategy: types, answers, and verdicts."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

from pipelines.conflicts.data import Query
from pipelines.conflicts.settings import Classifier
from pipelines.conflicts.taxonomy import ConflictType, Prediction
from pipelines.judge.judgement import Judgement, Truncation


class Explained(BaseModel, frozen=True):
    """A judge's reply.

    Attributes:
        reason: Why, in the judge's words.
        problem: Why the reply could not be read, in one line.
        raw: The unreadable reply, unchanged.
    """

    reason: str = ""
    problem: str | None = None
    raw: str | None = None


class Adherence(Explained, frozen=True):
    """Whether an answer behaves as its conflict type calls for (CONFLICTS, section 4).

    Attributes:
        adheres: The verdict; None if the reply could not be read.
        type: The type whose behaviour was expected.
    """

    adheres: bool | None
    type: ConflictType


class Inclusion(Explained, frozen=True):
    """Whether an answer includes the gold answer in meaning (section 4, answer recall).

    Attributes:
        included: The verdict; None if the reply could not be read.
        gold: The gold answer.
        judgement: For the NLI judge, the answer's relation to the statement that it should support;
            `reason` has that statement.
    """

    included: bool | None
    gold: str
    judgement: Judgement | None = None


class Grounds(StrEnum):
    """How a sentence stands to its sources (section 4, factual grounding)."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTORY = "contradictory"
    NO_FACT = "no factual information"


class SentenceGrounding(Explained, frozen=True):
    """The verdict on one sentence.

    Attributes:
        grounds: The verdict; None if the reply could not be read.
        sources: Numbers of the sources that it was judged by.
        quote: The deciding passage of a source; None without one.
        judgements: For the NLI judge, the relation of every source to the sentence.
    """

    grounds: Grounds | None
    sources: tuple[int, ...] = ()
    quote: str | None = None
    judgements: tuple[Judgement, ...] = ()


class Grounding(BaseModel, frozen=True):
    """The sentences of an answer, in order."""

    sentences: tuple[SentenceGrounding, ...]

    @property
    def share(self) -> float | None:
        """Share of supported sentences among those with factual information (section 4).

        In [0, 1]; None if no sentence has factual information. Sentences that could not be judged
        are ignored.
        """
        verdicts = [sentence.grounds for sentence in self.sentences]
        factual = [verdict for verdict in verdicts if verdict not in {None, Grounds.NO_FACT}]
        return factual.count(Grounds.SUPPORTED) / len(factual) if factual else None


class Verdicts(BaseModel, frozen=True):
    """All verdicts on one answer.

    Attributes:
        adherence: On the expected behaviour; None if no type is known.
        inclusion: On the gold answer; None if the question has no single right one.
        grounding: On its sentences; None if not judged.
    """

    adherence: Adherence | None = None
    inclusion: Inclusion | None = None
    grounding: Grounding | None = None


Strategy = Literal["vanilla", "pipeline", "taxonomy-aware", "oracle"]
"""How an answer is prompted (CONFLICTS, section 5.1)."""


class Sentence(BaseModel, frozen=True):
    """One sentence, without its citations.

    `cites` has the numbers of its sources, from 1, each once, in the order cited; `unknown` has
    the cited numbers that match no source.
    """

    text: str
    cites: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()


class Answer(BaseModel, frozen=True):
    """A strategy's answer.

    Attributes:
        text: As the model wrote it, with citations; empty if the reply could not be read.
        told: The conflict type that the model was given; None without one.
        prediction: For the taxonomy-aware strategy, the type that it gave with its answer.
        finished: False if the answer was cut by the token limit.
        problem: Why the reply could not be read, in one line.
        raw: The unreadable reply, unchanged.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    told: ConflictType | None = None
    prediction: Prediction | None = None
    finished: bool = True
    problem: str | None = None
    raw: str | None = None


class Outcome(BaseModel, frozen=True):
    """A strategy's outcome for a query: an answer, and verdicts if it could be read."""

    answer: Answer
    judged: Verdicts = Verdicts()


class QueryResult(BaseModel, frozen=True):
    """One query with its sources and gold labels, as asked; its id is the one in the data set.

    Attributes:
        status: "answered"; "incomplete" if some call failed, "failed" if all did. The last two are
            tried again when the run is resumed.
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
