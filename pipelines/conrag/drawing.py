"""The evidence graph as a drawing: a point per passage, a line per edge."""

from collections.abc import Mapping
from typing import Final

from pipelines.conrag.answer import Answer
from pipelines.evidence.judgement import Relation
from pipelines.report.blocks import Edge, Graph, Node
from pipelines.report.texts import Tone

WIDTH, HEIGHT, MARGIN = 520, 340, 26
"""Of the drawing, in its own units."""

TONES: Final[Mapping[Relation, Tone]] = {
    Relation.SUPPORTS: "support",
    Relation.CONTRADICTS: "contradict",
    Relation.IRRELEVANT: "irrelevant",
    Relation.INVALID: "invalid",
}


def drawing(answer: Answer) -> Graph:
    """The passages that were retrieved; those of the packet have their number.

    Points that are joined lie near each other (spring layout, always the same for one answer).
    """
    places = layout(answer)
    number = {row.passage.id: row.number for row in answer.evidence}
    title = {row.passage.id: row.passage.title or row.passage.id for row in answer.evidence}
    relations = answer.relations
    clusters = {name: cluster.name for cluster in answer.clusters for name in cluster.members}
    position = {name: place for place, name in enumerate(clusters)}
    return Graph(
        "Evidence graph",
        WIDTH,
        HEIGHT,
        tuple(
            Node(
                f"{cluster}: {title.get(name, name)}",
                *places[name],
                TONES[relations[name]],
                number.get(name, 0),
            )
            for name, cluster in clusters.items()
        ),
        tuple(
            Edge(position[one], position[other], 0.5 + 3 * min(weight, 1.0))
            for one, other, weight in answer.edges
        ),
    )


def layout(answer: Answer) -> Mapping[str, tuple[float, float]]:
    """Where each passage lies in the drawing."""
    import networkx as nx
    import numpy as np

    drawn = nx.Graph()
    drawn.add_nodes_from(sorted(name for each in answer.clusters for name in each.members))
    drawn.add_weighted_edges_from(answer.edges)
    places = nx.spring_layout(drawn, seed=0, k=1.6 / len(drawn) ** 0.5)
    points = np.array(list(places.values()))
    low, width = points.min(axis=0), np.ptp(points, axis=0)
    shares = np.where(width > 0, (points - low) / np.where(width > 0, width, 1), 0.5)
    scaled = MARGIN + shares * (np.array([WIDTH, HEIGHT]) - 2 * MARGIN)
    return {name: (x, y) for name, (x, y) in zip(places, scaled.tolist(), strict=True)}
