"""Evidence clusters: communities of the similarity graph, with the side that each takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.conrag.tagged import TaggedPassage, evidence_mass
from pipelines.evidence.judgement import RELATIONS, Relation

if TYPE_CHECKING:
    import networkx as nx

LETTER = {Relation.SUPPORTS: "S", Relation.CONTRADICTS: "R", Relation.IRRELEVANT: "I"}


@dataclass(frozen=True)
class Cluster:
    """An evidence group g_j (ConRAG, section 2, cluster schema).

    Attributes:
        name: "S1", "R1", "I1": the dominant tag and a number, the most confident first.
        members: Ids of its passages: those of the dominant tag first, each kind by confidence.
        tag: The dominant tag.
        confidence: The confidences of the members with that tag, summed; at least 0.
        representative: Id of the member that is the surest of that tag.
    """

    name: str
    members: tuple[str, ...]
    tag: Relation
    confidence: float
    representative: str


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
    """The clusters of a partition, supporting ones first, the most confident first.

    Args:
        tagged: The passages; each has a tag.
        groups: Their ids, each in one group.
    """
    by_id = {each.id: each for each in tagged}
    found: dict[Relation, list[Cluster]] = {relation: [] for relation in RELATIONS}
    for group in groups:
        members = [by_id[name] for name in group]
        tag = dominant_tag(members)
        members.sort(key=lambda each: (each.relation is not tag, -each.confidence, each.id))
        found[tag].append(
            Cluster(
                "",
                tuple(each.id for each in members),
                tag,
                evidence_mass(members, tag),
                members[0].id,
            )
        )
    named = []
    for tag, own in found.items():
        own.sort(key=lambda each: (-each.confidence, each.members))
        named += [
            Cluster(f"{LETTER[tag]}{number}", each.members, tag, each.confidence,
                    each.representative)
            for number, each in enumerate(own, 1)
        ]  # fmt: skip
    return named
