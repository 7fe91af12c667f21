"""The conflict score kappa: how much retrieved evidence disagrees over the query."""

from collections.abc import Sequence

from pipelines.conrag.clusters import Cluster
from pipelines.conrag.tagged import TaggedPassage, evidence_mass
from pipelines.evidence.judgement import Relation
from pipelines.metrics.kappa import kappa


def conflict_score(tagged: Sequence[TaggedPassage]) -> float:
    """kappa(q, P) over passages, the definition that the paper evaluates with."""
    return kappa(
        evidence_mass(tagged, Relation.SUPPORTS), evidence_mass(tagged, Relation.CONTRADICTS)
    )


def cluster_conflict_score(clusters: Sequence[Cluster]) -> float:
    """Kappa over clusters: passage sums replaced by cluster sums (ConRAG, section 2, extensions).

    A cluster counts on the side of its dominant tag alone, with its aggregate confidence.
    """

    def mass(relation: Relation) -> float:
        return sum(each.confidence for each in clusters if each.tag is relation)

    return kappa(mass(Relation.SUPPORTS), mass(Relation.CONTRADICTS))
