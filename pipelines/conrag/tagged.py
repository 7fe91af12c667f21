"""What the analysis works on: retrieved passages, each with its relation to the query."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.metrics.kappa import kappa

SIDES = (Relation.SUPPORTS, Relation.CONTRADICTS)


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


def evidence_mass(tagged: Sequence[TaggedPassage], relation: Relation) -> float:
    """U_sup or U_ref: the confidences of the passages with a relation, summed (ConRAG, section 2).

    Each is weighted by its passage's quality, which is 1 unless sources are weighted.
    """
    return fsum(each.quality * each.confidence for each in tagged if each.relation is relation)


def expected_mass(tagged: Sequence[TaggedPassage], relation: Relation) -> float:
    """The expected number of passages with a relation: their probabilities of it, summed.

    Where `evidence_mass` counts a passage for its label alone, here a passage that is refuting with
    probability 0.4 counts 0.4 against, whatever its label. Without probabilities the confidence of
    the label is all there is to count.
    """
    return fsum(
        each.quality * each.probabilities[relation]
        if each.probabilities
        else each.quality * each.confidence * (each.relation is relation)
        for each in tagged
    )


def conflict_score(
    tagged: Sequence[TaggedPassage],
    mass: Callable[[Sequence[TaggedPassage], Relation], float] = evidence_mass,
) -> float:
    """kappa(q, P) over passages, in [0, 1]; the paper evaluates with `evidence_mass`."""
    return kappa(*(mass(tagged, side) for side in SIDES))
