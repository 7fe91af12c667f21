"""The record of what one document says of one claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel


class Relation(StrEnum):
    """How a document relates to a claim (ConflictScore, section 3 and Table 7).

    `INVALID` is not a relation: the judge's reply could not be read, labels tie, or the claim was
    too long to be judged. It is kept and counted, and never treated as `IRRELEVANT`.
    """

    SUPPORTS = "SUPPORTS"
    CONTRADICTS = "CONTRADICTS"
    IRRELEVANT = "IRRELEVANT"
    INVALID = "INVALID"


RELATIONS = (Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT)
"""The three labels a judge may give, in the order prompts name them."""


NEAR_TIE = 0.15
"""A label is shown as unsure if its lead in probability over the next is smaller; our value."""


def nearly_tied(probabilities: Mapping[Relation, float] | None) -> bool:
    """Whether the likeliest label leads the next by less than `NEAR_TIE`; False without any."""
    if probabilities is None:
        return False
    second, first = sorted(probabilities.values())[-2:]
    return first - second < NEAR_TIE


def conflicting(relations: Sequence[Relation]) -> bool:
    """Whether some document supports the claim and some other contradicts it.

    ConflictScore, section 3.
    """
    return Relation.SUPPORTS in relations and Relation.CONTRADICTS in relations


def in_conflict(relations: Sequence[Relation]) -> bool | None:
    """Whether a claim is in conflict, as far as its judgements could be read.

    A side that was seen stays seen, whatever could not be read. So SUPPORTS, CONTRADICTS, INVALID
    is a conflict; IRRELEVANT, INVALID is not, for one document cannot be on both sides; and
    SUPPORTS, INVALID is open.

    Returns:
        None if the unreadable judgements could make it a conflict, or if none was read.
    """
    if conflicting(relations):
        return True
    unread = relations.count(Relation.INVALID)
    if not unread:
        return False
    lacking = sum(side not in relations for side in (Relation.SUPPORTS, Relation.CONTRADICTS))
    return None if unread >= lacking or unread == len(relations) else False


class Judgement(BaseModel, frozen=True):
    """The judgement of one pair of claim and document (by id).

    Attributes:
        probabilities: Label -> probability in [0, 1], summing to 1; None if the judge gives none
            (JSON replies).
        raw_probabilities: Those before a correction (see `judge.correction`); None without one.
        label_mass: Share of the model's probability, in [0, 1], that fell on the labels at all.
            A low value says that the model wanted to write something else.
        snippet: Deciding passage as the judge quoted it, or the tagger's deciding sentence; None if
            the tagger's label is irrelevant, which no sentence decides.
        reasoning: The model's reasoning, the tagger's label of every view of a claim that reports
            several, or why the pair could not be judged.
        snippet_found: Whether the document really contains the snippet (case and typography
            aside); None without a snippet.
        raw: The raw reply, or which labels tie; kept for `INVALID` so that a person can see why.
        reply_cut: Whether snippet or reasoning reached its length limit, so its end may be missing.
        read_tokens: Tokens of the document that the judge saw, if only a part.
        source: Judge and mode: "model-choice", "model-json", "model-together", "tagger"; in a
            cascade "cascade-tagger" or "cascade-model".
    """

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
        """Why the pair could not be judged at all; None if there was a reply."""
        unasked = self.relation is Relation.INVALID and self.raw is None
        return self.reasoning if unasked else None

    @property
    def confidence(self) -> float | None:
        """Probability of the label given, in [0, 1]; None if the judge gives none."""
        return (self.probabilities or {}).get(self.relation)


class Truncation(BaseModel, frozen=True):
    """A text ("document ID" or "response") with only its first `kept` tokens seen by the model."""

    text: str
    tokens: int
    kept: int


@dataclass(frozen=True)
class Judgements:
    """One judgement per (claim, document), ordered by claim, then document; and what was cut."""

    judgements: tuple[Judgement, ...]
    truncations: tuple[Truncation, ...] = ()
