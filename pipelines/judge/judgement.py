"""The record of what one document says of one claim."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict


class Relation(StrEnum):
    """How a document relates to a claim (ConflictScore, section 3 and Table 7).

    `INVALID` is no relation: the judge's reply could not be read, several labels tie, or the
    claim was too long to be judged. It is kept and counted, and never taken for `IRRELEVANT`.
    """

    SUPPORTS = "SUPPORTS"
    CONTRADICTS = "CONTRADICTS"
    IRRELEVANT = "IRRELEVANT"
    INVALID = "INVALID"


RELATIONS = (Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT)
"""The three labels a judge may give, in the order prompts name them."""


def conflicting(relations: Sequence[Relation]) -> bool:
    """Whether some document supports the claim and some other contradicts it.

    ConflictScore, section 3.
    """
    return Relation.SUPPORTS in relations and Relation.CONTRADICTS in relations


def in_conflict(relations: Sequence[Relation]) -> bool | None:
    """Whether a claim is in conflict, as far as its judgements could be read.

    A side that was seen stays seen, whatever could not be read. So SUPPORTS, CONTRADICTS, INVALID
    is a conflict; IRRELEVANT, INVALID is none, for one document cannot be on both sides; and
    SUPPORTS, INVALID is open.

    Returns:
        None where the unreadable judgements could make it a conflict, or where none was read.
    """
    if conflicting(relations):
        return True
    unread = relations.count(Relation.INVALID)
    if not unread:
        return False
    lacking = sum(side not in relations for side in (Relation.SUPPORTS, Relation.CONTRADICTS))
    return None if unread >= lacking or unread == len(relations) else False


class Judgement(BaseModel):
    """One (claim, document) pair judged; the document by its id.

    Attributes:
        probabilities: Label -> probability in [0, 1], summing to 1; None where the judge gives
            none (JSON replies).
        raw_probabilities: As the judge gave them, where they were corrected (see
            `judge.correction`); else None.
        label_mass: Share of the model's probability, in [0, 1], that fell on the labels at all.
            A low value says that the model wanted to write something else.
        snippet: Passage of the document that decided, as the judge quoted it; of the NLI tagger,
            the sentence that decided; None of its irrelevant labels, which no sentence makes.
        snippet_found: Whether the document really contains the snippet (case and typography
            aside); None without a snippet.
        raw: The reply as it came, or which labels tie; kept for `INVALID` so that a person can see
            why.
        reply_cut: Whether snippet or reasoning ended at its bound, so that its end may be missing.
        read_tokens: Tokens of the document that the judge saw, where it saw only a part.
        source: Judge and mode: "model-choice", "model-json", "model-together", "tagger"; in a
            cascade "cascade-tagger" or "cascade-model".
    """

    model_config = ConfigDict(frozen=True)

    claim: str
    document: str
    relation: Relation
    probabilities: dict[Relation, float] | None = None
    raw_probabilities: dict[Relation, float] | None = None
    label_mass: float | None = None
    snippet: str | None = None
    snippet_found: bool | None = None
    reasoning: str | None = None
    raw: str | None = None
    reply_cut: bool = False
    read_tokens: int | None = None
    source: str

    @property
    def refusal(self) -> str | None:
        """Why the pair could not be judged at all; None if something was replied."""
        unasked = self.relation is Relation.INVALID and self.raw is None
        return self.reasoning if unasked else None

    @property
    def confidence(self) -> float | None:
        """Probability of the label given, in [0, 1]; None where the judge gives none."""
        return (self.probabilities or {}).get(self.relation)


@dataclass(frozen=True)
class Excerpt:
    """A text that fits the context; of one that was cut, the first `kept` of its `tokens`.

    Both are 0 for a whole text, which need not be counted.
    """

    text: str
    tokens: int = 0
    kept: int = 0


class Truncation(BaseModel):
    """A text ("document ID" or "response") of which the model saw `kept` of its tokens only."""

    model_config = ConfigDict(frozen=True)

    text: str
    tokens: int
    kept: int

    @classmethod
    def of(cls, text: str, fitted: Excerpt) -> tuple[Self, ...]:
        """The truncation of a text that was made to fit; none where all of it did."""
        if fitted.kept >= fitted.tokens:
            return ()
        return (cls(text=text, tokens=fitted.tokens, kept=fitted.kept),)


@dataclass(frozen=True)
class Judgements:
    """One judgement per (claim, document), ordered by claim, then document; and what was cut."""

    judgements: tuple[Judgement, ...]
    truncations: tuple[Truncation, ...] = ()
