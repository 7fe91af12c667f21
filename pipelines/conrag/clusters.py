"""Evidence clusters: communities of the similarity graph, with the side that each takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.conrag.tagged import SIDES, TaggedPassage, evidence_mass
from pipelines.evidence.judgement import RELATIONS, Relation
from pipelines.metrics.kappa import kappa

if TYPE_CHECKING:
    import networkx as nx

LETTER = {Relation.SUPPORTS: "S", Relation.CONTRADICTS: "R", Relation.IRRELEVANT: "I"}


@dataclass(frozen=True)
class Cluster:
    """An evidence group g_j (ConRAG, section 2, cluster schema).

    Attributes:
        name: "S1", "R1", "I1": the dominant tag and a number, the most confident first.
        members: Ids of its passages: those of the dominant tag first, each kind by confidence. The
            first one is its representative.
        tag: The dominant tag.
        confidence: The confidences of the members with that tag, summed; at least 0.
    """

    name: str
    members: tuple[str, ...]
    tag: Relation
    confidence: float


def communities(graph: "nx.Graph") -> list[frozenset[str]]:
    """Communities by greedy modularity (Clauset, Newman and Moore 2004); ConRAG, section 2.

    Passages without an edge are communities of their own.
    """
    import networkx as nx

    if not graph.number_of_edges():
        return [frozenset({node}) for node in graph]
    return list(nx.community.greedy_modularity_communities(graph, weight="weight"))


def dominant_tag(members: Sequence[TaggedPassage]) -> Relation:
    """The tag with the largest sum of confidences; of equals the first of `RELATIONS`."""
    return max(RELATIONS, key=lambda relation: evidence_mass(members, relation))


def clusters(tagged: Sequence[TaggedPassage], groups: Sequence[frozenset[str]]) -> list[Cluster]:
    """The clusters of a partition of passages, supporting ones first, the most confident first.

    `groups` are ids; each passage is in one of them.
    """
    by_id = {each.id: each for each in tagged}
    found: dict[Relation, list[tuple[float, tuple[str, ...]]]] = {tag: [] for tag in RELATIONS}
    for group in groups:
        members = [by_id[name] for name in group]
        tag = dominant_tag(members)
        members.sort(key=lambda each: (each.relation is not tag, -each.confidence, each.id))
        found[tag].append((evidence_mass(members, tag), tuple(each.id for each in members)))
    return [
        Cluster(f"{LETTER[tag]}{number}", names, tag, confidence)
        for tag, own in found.items()
        for number, (confidence, names) in enumerate(
            sorted(own, key=lambda cluster: (-cluster[0], cluster[1])), 1
        )
    ]


def cluster_conflict_score(clusters: Sequence[Cluster]) -> float:
    """Kappa over clusters: passage sums replaced by cluster sums (ConRAG, section 2, extensions).

    A cluster counts on the side of its dominant tag alone, with its aggregate confidence.
    """
    return kappa(*(sum(each.confidence for each in clusters if each.tag is side) for side in SIDES))
