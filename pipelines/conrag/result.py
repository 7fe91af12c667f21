"""The record of one claim under every method: one line of `conrag.DATASET.jsonl`."""

from typing import Any, Literal, Self

from pydantic import BaseModel, Field, field_serializer

from pipelines.conrag.answer import Outcome
from pipelines.conrag.data import Query
from pipelines.conrag.evidence import Stance, TaggedPassage
from pipelines.conrag.hallucination import ResponseSentence
from pipelines.judge.judgement import Relation, Truncation
from pipelines.metrics.alce import CitationCounts


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
        list_precision: Share of the items of a list that are an alias of a gold answer; None where
            the answer is none.
    """

    citations: CitationCounts
    statements: int = Field(ge=0)
    contradicting: int = Field(ge=0)
    contradicting_strict: int = Field(ge=0)
    recall: float | None
    str_em: float | None = None
    list_precision: float | None = None


class JudgedAnswers(BaseModel, frozen=True):
    """What the methods' answers are worth, by a judge; and a question's first answer.

    Attributes:
        unreadable: Labels that could not be read when answers were judged; they bear nothing out.
        truncations: Texts of which the judge read a part.
        first_answer: The statements that tags are relations to.
        problem: Why there is none, in one line; None where the passages have no answer. What could
            not be read is `raw`.
        cut: Whether the first answer breaks off, or had more parts than are read.
    """

    worth: dict[str, AnswerWorth]
    unreadable: int = 0
    truncations: tuple[Truncation, ...] = ()
    first_answer: tuple[str, ...] = ()
    problem: str | None = None
    raw: str | None = None
    cut: bool = False


KNOWN = ("id", "claim", "stance", "disputed", "evidence", "response")
"""What a result has of its query."""


class ClaimResult(BaseModel, frozen=True):
    """One claim.

    Attributes:
        status: "answered", or "failed" (tried again when the run is resumed).
        stance: The gold stance; None where the data have none.
        disputed: Whether its evidence is known to disagree; None where the data do not say.
        evidence: Alternative sets of ids of gold evidence.
        passages: The k passages, the most relevant first.
        truth: Passage id -> what the data say of it, where they do.
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
    passages: tuple[TaggedPassage, ...] = ()
    truth: dict[str, Relation] = {}
    kappa: float = 0.0
    outcomes: dict[str, Outcome] = {}
    truncations: tuple[Truncation, ...] = ()
    response: ResponseSentence | None = None
    question: JudgedAnswers | None = None
    generated: JudgedAnswers | None = None
    error: str | None = None

    @classmethod
    def of(cls, query: Query, status: Literal["answered", "failed"], **more: Any) -> Self:
        """What a query comes to, with all that is known of it beforehand."""
        known = {name: getattr(query, name) for name in KNOWN}
        return cls(status=status, **known, **more)

    @field_serializer("evidence", when_used="json")
    def _in_order(self, evidence: tuple[frozenset[str], ...]) -> list[list[str]]:
        # A set has no order of its own: a line that is read and written again must stay as it is.
        return [sorted(units) for units in evidence]

    @property
    def judged(self) -> JudgedAnswers | None:
        """What a judge says of the answers; None where the data's own labels do."""
        return self.question or self.generated

    @property
    def tags(self) -> dict[str, Relation]:
        """Passage id -> what the tagger says of it."""
        return {one.id: one.relation for one in self.passages}
