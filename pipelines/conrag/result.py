"""The record of one claim under every method: one line of `conrag.DATASET.jsonl`."""

from typing import Literal

from pydantic import BaseModel, Field, field_serializer

from pipelines.conrag.answer import Outcome
from pipelines.conrag.evidence import Stance
from pipelines.conrag.hallucination import ResponseSentence
from pipelines.conrag.query import ListWorth
from pipelines.judge.judgement import Relation, Truncation
from pipelines.metrics.alce import CitationCounts


class Passage(BaseModel, frozen=True):
    """A retrieved passage.

    Attributes:
        relevance: Normalised over what was retrieved, in [0, 1].
        tag: What the tagger says of it; `INVALID` where that could not be read.
        confidence: Of the tag, in [0, 1].
        truth: What the data say of it; None where they say nothing.
        label_mass: As in `Judgement`.
        rationale, unsure: As in `TaggedPassage`; older results do not have them.
    """

    id: str
    title: str | None
    text: str
    relevance: float
    tag: Relation
    confidence: float
    truth: Relation | None
    label_mass: float | None = None
    rationale: str | None = None
    unsure: bool = False


class AnswerWorth(BaseModel, frozen=True):
    """What one answer to a question is worth.

    Attributes:
        citations: By ALCE's rules; every sentence counts, of a list every item.
        statements: Sentences that may contradict the packet: all but those about the conflict and
            those that say that nothing was found.
        contradicting_strict: Sentences that contradict the packet.
        contradicting: Those of them that the answer does not disclose.
        recall: Share of what is to be said that is said, in [0, 1]: of short answers by whole
            words, of lists recall-5.
        str_em: Share of the short answers that are said by ALCE's rule, as parts of words; None of
            lists, and in older results.
        listed: What a list is worth; None where the answer is none.
    """

    citations: CitationCounts
    statements: int = Field(ge=0)
    contradicting: int = Field(ge=0)
    contradicting_strict: int = Field(ge=0)
    recall: float | None
    str_em: float | None = None
    listed: ListWorth | None = None


class JudgedAnswers(BaseModel, frozen=True):
    """What the methods' answers are worth, by a judge.

    Attributes:
        unreadable: Labels that could not be read when answers were judged; they bear nothing out.
        truncations: Texts of which the judge read a part.
    """

    worth: dict[str, AnswerWorth]
    unreadable: int = 0
    truncations: tuple[Truncation, ...] = ()


class AnsweredQuestion(JudgedAnswers):
    """What is kept of a question beside the methods' outcomes.

    Attributes:
        first_answer: The statements that tags are relations to.
        problem: Why there is none, in one line; None where the passages have no answer.
        cut: Whether the first answer breaks off, or had more parts than are read.
    """

    first_answer: tuple[str, ...]
    problem: str | None
    raw: str | None
    cut: bool = False


class ClaimResult(BaseModel, frozen=True):
    """One claim.

    Attributes:
        status: "answered", or "failed" (tried again when the run is resumed).
        stance: The gold stance; None where the data have none.
        disputed: Whether its evidence is known to disagree; None where the data do not say.
        evidence: Alternative sets of ids of gold evidence.
        passages: The k passages, the most relevant first.
        kappa: Conflict score over them, in [0, 1].
        outcomes: Method -> what it makes of the claim.
        response: Where the claim stands, if it is a sentence of a response.
        question: What is kept of a question's answers, if it is one. Tags are relations to its
            first answer then, and `truth` to the gold one.
        generated: What is worth that a language model wrote of a sentence of a response.
    """

    id: str
    claim: str
    status: Literal["answered", "failed"]
    stance: Stance | None
    disputed: bool | None
    evidence: tuple[frozenset[str], ...] = ()
    passages: tuple[Passage, ...] = ()
    kappa: float = 0.0
    outcomes: dict[str, Outcome] = {}
    truncations: tuple[Truncation, ...] = ()
    response: ResponseSentence | None = None
    question: AnsweredQuestion | None = None
    generated: JudgedAnswers | None = None
    error: str | None = None

    @field_serializer("evidence", when_used="json")
    def _in_order(self, evidence: tuple[frozenset[str], ...]) -> list[list[str]]:
        # A set has no order of its own: a line that is read and written again must stay as it is.
        return [sorted(units) for units in evidence]

    @property
    def judged(self) -> JudgedAnswers | None:
        """What a judge says of the answers; None where the data's own labels do."""
        return self.question or self.generated

    @property
    def truth(self) -> dict[str, Relation]:
        """Passage id -> what the data say of it, where they do."""
        return {each.id: each.truth for each in self.passages if each.truth is not None}

    @property
    def tags(self) -> dict[str, Relation]:
        """Passage id -> what the tagger says of it."""
        return {each.id: each.tag for each in self.passages}
