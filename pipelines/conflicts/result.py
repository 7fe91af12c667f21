"""One query under every classifier and strategy: types, answers, and what judges say."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

from pipelines.conflicts.data import Query
from pipelines.conflicts.taxonomy import Classifier, ConflictType, Prediction
from pipelines.judge.judgement import Judgement, Truncation


class Adherence(BaseModel, frozen=True):
    """Whether an answer behaves as its conflict type wants (CONFLICTS, section 4).

    Attributes:
        adheres: The verdict; None where the reply could not be read.
        type: The type whose behaviour was expected.
        reason: Why, in the judge's words.
        problem: Why the reply could not be read, in one line.
        raw: The reply as it came, where it could not be read.
    """

    adheres: bool | None
    type: ConflictType
    reason: str = ""
    problem: str | None = None
    raw: str | None = None


class Inclusion(BaseModel, frozen=True):
    """Whether an answer includes the gold answer in meaning (section 4, answer recall).

    Attributes:
        gold: What was looked for.
        reason: Of the NLI judge, the statement that it looked for.
        judgement: Of the NLI judge, how the answer relates to that statement.
        included, problem, raw: As in `Adherence`.
    """

    included: bool | None
    gold: str
    reason: str = ""
    judgement: Judgement | None = None
    problem: str | None = None
    raw: str | None = None


class Grounds(StrEnum):
    """How a sentence stands to its sources (section 4, factual grounding)."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTORY = "contradictory"
    NO_FACT = "no factual information"


class SentenceGrounding(BaseModel, frozen=True):
    """The verdict on one sentence; None where the reply could not be read.

    Attributes:
        sources: Numbers of the sources that it was judged by.
        quote: Passage of a source that decided; None without one.
        judgements: Of the NLI judge, how each source relates to the sentence.
        reason, problem, raw: As in `Adherence`.
    """

    grounds: Grounds | None
    sources: tuple[int, ...] = ()
    reason: str = ""
    quote: str | None = None
    judgements: tuple[Judgement, ...] = ()
    problem: str | None = None
    raw: str | None = None


class Grounding(BaseModel, frozen=True):
    """The sentences of an answer, in order."""

    sentences: tuple[SentenceGrounding, ...]

    @property
    def share(self) -> float | None:
        """Share of supported sentences among those with factual information (section 4).

        It is in [0, 1]; None where no sentence has any. What could not be judged counts nowhere.
        """
        verdicts = [each.grounds for each in self.sentences]
        factual = [each for each in verdicts if each not in {None, Grounds.NO_FACT}]
        return factual.count(Grounds.SUPPORTED) / len(factual) if factual else None


class Verdicts(BaseModel, frozen=True):
    """What all judges say of one answer.

    Attributes:
        adherence: Of the expected behaviour; None where no type is known.
        inclusion: Of the gold answer; None where the question has no single right one.
        grounding: Of its sentences; None where nobody was asked.
    """

    adherence: Adherence | None = None
    inclusion: Inclusion | None = None
    grounding: Grounding | None = None


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
