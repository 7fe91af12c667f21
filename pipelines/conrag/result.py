"""The record of one claim under every method: one line of `conrag.DATASET.jsonl`."""

from typing import Any, Literal, Self

from pydantic import BaseModel, Field, field_serializer

from pipelines.conrag.answer import Outcome
from pipelines.conrag.data import Query, ResponseSentence
from pipelines.conrag.evidence import Stance, TaggedPassage
from pipelines.judge.judgement import Relation, Truncation
from pipelines.metrics.alce import CitationCounts


class AnswerWorth(BaseModel, frozen=True):
    """The quality of one answer to a question.

    Attributes:
        citations: By ALCE's rules, over sentences, or over the items of a list.
        statements: Sentences that may contradict the packet: all but those about the conflict or
            about nothing.
        contradicting_strict: Number of sentences that contradict the packet.
        contradicting: Number of these whose contradiction the answer does not disclose.
        recall: Share of the gold answer that is given, in [0, 1]: short answers by whole words,
            lists by recall-5.
        str_em: Share of short answers given by ALCE's rule, which accepts parts of words; None for
            lists, and in older results.
        list_precision: Share of a list's items that are an alias of a gold answer; None for other
            answers.
    """

    citations: CitationCounts
    statements: int = Field(ge=0)
    contradicting: int = Field(ge=0)
    contradicting_strict: int = Field(ge=0)
    recall: float | None
    str_em: float | None = None
    list_precision: float | None = None


class JudgedAnswers(BaseModel, frozen=True):
    """The quality of the methods' answers, by a judge; and a question's first answer.

    Attributes:
        unreadable: Number of unreadable labels of the judge, which back nothing.
        truncations: Texts that the judge read in part.
        first_answer: The statements that tags refer to.
        problem: Why they are missing, in one line, with the unreadable reply in `raw`; None if the
            passages have no answer.
        cut: Whether the first answer broke off, or had more parts than are read.
    """

    worth: dict[str, AnswerWorth]
    unreadable: int = 0
    truncations: tuple[Truncation, ...] = ()
    first_answer: tuple[str, ...] = ()
    problem: str | None = None
    raw: str | None = None
    cut: bool = False


KNOWN = ("id", "claim", "stance", "disputed", "evidence", "response")
"""Fields that a result copies from its query."""


class ClaimResult(BaseModel, frozen=True):
    """One claim.

    Attributes:
        status: "answered", or "failed" (tried again when the run is resumed).
        stance: The gold stance; None if unknown.
        disputed: Whether its evidence disagrees; None if the data do not say.
        evidence: Alternative sets of ids of gold evidence.
        passages: The k passages, the most relevant first.
        truth: Passage id -> its gold relation, if known.
        kappa: Conflict score over the passages, in [0, 1].
        outcomes: Method -> its stance and answer.
        response: Position of the claim, if it is a sentence of a response.
        question: The judged answers, if it is a question. Tags then refer to its first answer, and
            `truth` to the gold answer.
        generated: The judged answers, if a language model wrote about a sentence of a response.
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
        """The result of a query, with the fields that are known beforehand."""
        known = {name: getattr(query, name) for name in KNOWN}
        return cls(status=status, **known, **more)

    @field_serializer("evidence", when_used="json")
    def _in_order(self, evidence: tuple[frozenset[str], ...]) -> list[list[str]]:
        # A set is unordered: a line that is read and written again must stay the same.
        return [sorted(units) for units in evidence]

    @property
    def judged(self) -> JudgedAnswers | None:
        """A judge's view of the answers; None if the data's labels decide."""
        return self.question or self.generated

    @property
    def tags(self) -> dict[str, Relation]:
        """Passage id -> its tag."""
        return {passage.id: passage.relation for passage in self.passages}
