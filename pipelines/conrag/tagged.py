"""What the analysis works on: retrieved passages, each with its relation to the query."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, prod

from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.metrics.kappa import kappa

SIDES = (Relation.SUPPORTS, Relation.CONTRADICTS)

NEAR_TIE = 0.15
"""A tag whose label leads the next by less is shown as unsure; ours."""


@dataclass(frozen=True)
class TaggedPassage:
    """A retrieved passage p_i as the tagger sees it (ConRAG, section 2).

    Attributes:
        relevance: rel_i, normalised over what was retrieved, in [0, 1].
        relation: t_i; `INVALID` where there is no label; such a passage is in no cluster.
        confidence: u_i, the probability of that relation, in [0, 1].
        rationale: The sentence of the passage that decided; None where none did.
        quality: Weight of the passage, at least 0: the reliability of its source, where known.
        probabilities: Of every relation, where the tagger gives them.
        label_mass: As in `Judgement`.
    """

    passage: Document
    relevance: float
    relation: Relation
    confidence: float
    rationale: str | None = None
    quality: float = 1.0
    probabilities: Mapping[Relation, float] | None = None
    label_mass: float | None = None

    @property
    def id(self) -> str:
        """The passage's."""
        return self.passage.id

    @property
    def unsure(self) -> bool:
        """Whether the tag is nearly a tie; False without probabilities."""
        shares = self.probabilities
        return shares is not None and lead(shares.values()) < NEAR_TIE


def lead(probabilities: Collection[float]) -> float:
    """The largest of two or more probabilities less the next, in [0, 1]; ours."""
    second, first = sorted(probabilities)[-2:]
    return first - second


def evidence_mass(tagged: Sequence[TaggedPassage], relation: Relation) -> float:
    """U_sup or U_ref: the confidences of the passages with a relation, summed (ConRAG, section 2).

    Each is weighted by its passage's quality, which is 1 unless sources are weighted.
    """
    return fsum(each.quality * each.confidence for each in tagged if each.relation is relation)


def conflict_score(tagged: Sequence[TaggedPassage]) -> float:
    """kappa(q, P) over passages, in [0, 1] (ConRAG, section 2)."""
    return kappa(*(evidence_mass(tagged, side) for side in SIDES))


def probability_of_both_sides(tagged: Sequence[TaggedPassage]) -> float:
    """That at least one passage supports and at least one contradicts, in [0, 1]; ours.

    Passages taken as independent, 1 - prod(1 - s) - prod(1 - c) + prod(1 - s - c), where s and c
    are a passage's probabilities of the two. Kappa sees labels alone, and asks how even the sides
    are; this asks whether both are there, and a passage that contradicts with probability 0.4
    counts though it is labelled irrelevant. Without probabilities the confidence of the label is
    all there is. Qualities of sources have no part in it.
    """
    supports, contradicts = (
        [
            each.probabilities[side]
            if each.probabilities
            else each.confidence * (each.relation is side)
            for each in tagged
        ]
        for side in SIDES
    )
    nobody = prod(1 - s for s in supports) + prod(1 - c for c in contradicts)
    neither = prod(1 - s - c for s, c in zip(supports, contradicts, strict=True))
    return min(max(1 - nobody + neither, 0.0), 1.0)
