"""What a method makes of a claim, in terms that all methods share."""

from pydantic import BaseModel

from pipelines.conrag.answer import SIDE, About
from pipelines.conrag.stance import Stance
from pipelines.evidence.judgement import Relation


class Statement(BaseModel, frozen=True):
    """A sentence of an answer, without citation marks; ids of passages are in the order cited.

    Attributes:
        cites: Passages that it cites.
        dropped: Passages that it cited as it was written, until a policy took the citation away.
    """

    text: str
    about: About
    cites: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def side(self) -> Relation | None:
        """The side that it takes: what a passage that bears it out says of the claim."""
        return SIDE.get(self.about)


class Sorted(BaseModel, frozen=True):
    """What a language model made of a passage of the packet, and why, in its words.

    The reason is None of a passage that it did not sort, which stays as tagged.
    """

    id: str
    relation: Relation
    reason: str | None


class Outcome(BaseModel, frozen=True):
    """A stance, and an answer from a packet of passages.

    Attributes:
        packet: Ids of the k' passages that the answer was written from.
        sorted: The packet as a language model sorted it; empty where none was asked to.
        support: How far the method holds the claim to be supported, in [0, 1]; see
            `pipelines.conrag.methods.support_share`.
        undecided: Whether the stance is unknown: the reply that was to give it could not be read.
        unbound: Sentences whose citations are wrong; all that they cite is dropped.
        cut: Whether the answer breaks off, for tokens or sentences ran out.
        problem: Why there is no answer, in one line; `raw` is the reply that could not be read.
    """

    stance: Stance
    packet: tuple[str, ...]
    statements: tuple[Statement, ...] = ()
    sorted: tuple[Sorted, ...] = ()
    support: float = 0.0  # older results do not have it, and need it for nothing
    undecided: bool = False
    unbound: int = 0
    cut: bool = False
    problem: str | None = None
    raw: str | None = None

    @property
    def cited(self) -> tuple[str, ...]:
        """What the answer shows as its evidence: each passage it cites, once, in order."""
        return tuple(dict.fromkeys(name for each in self.statements for name in each.cites))
