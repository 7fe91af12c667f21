"""The stance: which side the evidence takes, if any."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pipelines.conrag.tagged import SIDES, TaggedPassage, evidence_mass
from pipelines.evidence.judgement import Relation

DELTA = 0.10
"""Table III, margin for the stance decision."""

Margin = Literal["sum", "share"]
"""Whether the margin is of sums, as in the paper, or of shares."""


class Stance(StrEnum):
    """The label s of a claim (ConRAG, section 2, adjudicate)."""

    SUPPORT = "SUPPORT"
    REFUTE = "REFUTE"
    NOT_ENOUGH_INFO = "NOT_ENOUGH_INFO"


STANCE_OF = {
    Relation.SUPPORTS: Stance.SUPPORT,
    Relation.CONTRADICTS: Stance.REFUTE,
    Relation.IRRELEVANT: Stance.NOT_ENOUGH_INFO,
    Relation.INVALID: Stance.NOT_ENOUGH_INFO,
}
"""The stance that a single label gives."""

STATUS = {
    Stance.SUPPORT: "supported by evidence",
    Stance.REFUTE: "refuted by evidence",
    Stance.NOT_ENOUGH_INFO: "insufficient evidence",
}
"""What is said of a question's answer in place of a stance; see `Adjudication.status`."""


@dataclass(frozen=True)
class Adjudication:
    """A stance by the delta rule, and what it rests on.

    Attributes:
        support, refute: U_sup and U_ref.
        disputed: Whether the conflict score kappa reaches tau, whatever the stance.
    """

    stance: Stance
    support: float
    refute: float
    kappa: float
    disputed: bool

    @property
    def status(self) -> str:
        """The stance in words, as for questions: "disputed" where no side has the margin."""
        if self.stance is Stance.NOT_ENOUGH_INFO and self.disputed:
            return "disputed"
        return STATUS[self.stance]


def delta_rule(support: float, refute: float, *, delta: float = DELTA) -> Stance:
    """Support if U_sup - U_ref > delta, Refute if U_ref - U_sup > delta, else neither.

    ConRAG, section 2, adjudicate, and line 8 of its pseudocode. All three are at least 0.
    """
    if support - refute > delta:
        return Stance.SUPPORT
    return Stance.REFUTE if refute - support > delta else Stance.NOT_ENOUGH_INFO


def adjudicate(
    tagged: Sequence[TaggedPassage],
    kappa: float,
    *,
    delta: float = DELTA,
    tau: float = 0.50,
    margin: Margin = "sum",
) -> Adjudication:
    """The stance that passages give by the delta rule.

    The paper sums confidences, so that of twenty passages two sums are seldom within 0.10 of each
    other and a disputed claim still gets a side. With `share` the sums are divided by what both
    have together; then delta means the same for few passages and for many.

    From a conflict score of `tau` on the evidence is called disputed.
    """
    support, refute = (evidence_mass(tagged, side) for side in SIDES)
    whole = support + refute if margin == "share" and support + refute > 0 else 1.0
    stance = delta_rule(support / whole, refute / whole, delta=delta)
    return Adjudication(stance, support, refute, kappa, kappa >= tau)
