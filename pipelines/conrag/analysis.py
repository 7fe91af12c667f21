"""The analysis stage: what tagged passages say together, and which of them are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.conrag.answer import Evidence, evidence_table
from pipelines.conrag.clusters import Cluster, clusters, communities
from pipelines.conrag.graph import similarity_graph
from pipelines.conrag.packet import Packet, select
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.stance import Adjudication, adjudicate
from pipelines.conrag.tagged import TaggedPassage, conflict_score

if TYPE_CHECKING:
    import networkx as nx

Grouping = Callable[["nx.Graph"], Sequence[frozenset[str]]]
"""The nodes of a graph, each in one group."""


@dataclass(frozen=True)
class Analysis:
    """What the generation stage starts from.

    Clusters are a partition of the graph's passages; the table has the packet's, sorted and
    numbered.
    """

    graph: "nx.Graph"
    clusters: tuple[Cluster, ...]
    packet: Packet
    table: tuple[Evidence, ...]
    adjudication: Adjudication


def analyse(
    tagged: Sequence[TaggedPassage],
    settings: ConragSettings,
    grouping: Grouping = communities,
) -> Analysis:
    """Cluster, score, select and adjudicate (ConRAG, section 2, pseudocode, steps 3 to 8).

    All passages have a label. `grouping` makes clusters of the graph.
    """
    if settings.weights == "relevance":
        tagged = [replace(each, quality=each.quality * each.relevance) for each in tagged]
    graph = similarity_graph(tagged, settings.edges)
    groups = tuple(clusters(tagged, grouping(graph)))
    kappa = conflict_score(tagged)
    packet = select(tagged, groups, kappa, settings.packet)
    adjudication = adjudicate(
        tagged, kappa, delta=settings.delta, tau=settings.packet.tau, margin=settings.margin
    )
    return Analysis(graph, groups, packet, evidence_table(packet, groups), adjudication)
