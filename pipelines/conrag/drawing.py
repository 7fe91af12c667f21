"""The evidence graph as a drawing: a point per passage, a line per edge."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

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
    tags = {name: each for each in answer.clusters for name in each.members}
    position = {name: place for place, name in enumerate(tags)}
    return Graph(
        "Evidence graph",
        WIDTH,
        HEIGHT,
        tuple(
            Node(
                f"{cluster.name}: {title.get(name, name)}",
                *places[name],
                TONES[cluster.tag],
                number.get(name, 0),
            )
            for name, cluster in tags.items()
        ),
        tuple(
            Edge(position[one], position[other], 0.5 + 3 * min(weight, 1.0))
            for one, other, weight in answer.edges
        ),
    )


def layout(answer: Answer) -> Mapping[str, tuple[float, float]]:
    """Where each passage lies in the drawing."""
    import networkx as nx

    drawn = nx.Graph()
    drawn.add_nodes_from(sorted(name for each in answer.clusters for name in each.members))
    drawn.add_weighted_edges_from(answer.edges)
    places: dict[str, Sequence[Any]] = nx.spring_layout(drawn, seed=0, k=1.6 / len(drawn) ** 0.5)
    across = [float(place[0]) for place in places.values()]
    down = [float(place[1]) for place in places.values()]
    return {
        name: (
            _scaled(float(place[0]), across, WIDTH),
            _scaled(float(place[1]), down, HEIGHT),
        )
        for name, place in places.items()
    }


def _scaled(value: float, every: Sequence[float], size: int) -> float:
    low, high = min(every), max(every)
    share = (value - low) / (high - low) if high > low else 0.5
    return MARGIN + share * (size - 2 * MARGIN)
