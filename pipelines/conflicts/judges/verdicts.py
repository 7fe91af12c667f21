"""What judges say of an answer, each with its evidence."""

from enum import StrEnum

from pydantic import BaseModel

from pipelines.conflicts.taxonomy import ConflictType
from pipelines.evidence.judgement import Judgement


class Adherence(BaseModel, frozen=True):
    """Whether an answer behaves as its conflict type wants (CONFLICTS, section 4).

    Attributes:
        adheres: The verdict; None in a tie, or where the reply could not be read.
        type: The type whose behaviour was expected.
        probability: That it adheres, in [0, 1]; None where the judge gives none.
        mass: Then, the probability that the judge names a verdict at all, in [0, 1].
        reason: Why, in the judge's words.
        problem: Why the reply could not be read, or that verdicts tie, in one line.
        raw: The reply as it came, where it could not be read.
    """

    adheres: bool | None
    type: ConflictType
    probability: float | None = None
    mass: float | None = None
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
