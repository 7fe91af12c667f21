"""The page of one answer: its sentences, both sides of the evidence, the graph, the table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pipelines.conrag.answer import Answer, Evidence
from pipelines.conrag.clusters import Cluster
from pipelines.evidence.judgement import Relation
from pipelines.report.page import Section, fragment
from pipelines.report.text import visible

ANCHOR = "answer"
WIDTH, HEIGHT, MARGIN = 520, 340, 26
"""Of the drawing of the graph, in its own units."""

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Side:
    """A cluster as the page shows it.

    Attributes:
        cluster: The cluster.
        rows: Its passages that are in the packet.
        others: How many are not.
    """

    cluster: Cluster
    rows: tuple[Evidence, ...]
    others: int


def section(answer: Answer) -> Section:
    """The answer as a section of a page; nothing in it is taken from documents as HTML."""
    body = fragment(
        _HERE,
        "page.html.j2",
        anchor=ANCHOR,
        answer=answer,
        supporting=sides(answer, Relation.SUPPORTS),
        refuting=sides(answer, Relation.CONTRADICTS),
        graph=graph(answer) if answer.clusters else None,
        rows=[(row, *marked(row)) for row in answer.evidence],
    )
    return Section(
        anchor=ANCHOR,
        title="Answer",
        body=body,
        contents=(
            (ANCHOR, "Answer"),
            (f"{ANCHOR}-sides", "Both sides"),
            (f"{ANCHOR}-graph", "Evidence graph"),
            (f"{ANCHOR}-table", "Evidence table"),
        ),
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        script=(_HERE / "page.js").read_text(encoding="utf-8"),
    )


def sides(answer: Answer, relation: Relation) -> list[Side]:
    """The clusters of one side, the most confident first."""
    by_id = {row.passage.id: row for row in answer.evidence}
    found = []
    for cluster in answer.clusters:
        if cluster.tag is relation:
            rows = tuple(by_id[name] for name in cluster.members if name in by_id)
            found.append(Side(cluster, rows, len(cluster.members) - len(rows)))
    return found


def marked(row: Evidence) -> tuple[str, str, str]:
    """The passage's text before, in and after the sentence that decided."""
    text = row.passage.text
    start = text.find(row.rationale) if row.rationale else -1
    if row.rationale is None or start < 0:
        return text, "", ""
    end = start + len(row.rationale)
    return text[:start], text[start:end], text[end:]


def graph(answer: Answer) -> Markup:
    """The evidence graph as inline SVG: a point per passage, a line per edge.

    Points that are joined lie near each other (spring layout, always the same for one answer).
    Those of the packet have their number.
    """
    places = layout(answer)
    number = {row.passage.id: row.number for row in answer.evidence}
    title = {row.passage.id: row.passage.title or row.passage.id for row in answer.evidence}
    drawn = Markup("")
    for one, other, weight in answer.edges:
        (x1, y1), (x2, y2) = places[one], places[other]
        drawn += Markup(
            '<line class="edge" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" '
            'stroke-width="{:.1f}"/>'
        ).format(x1, y1, x2, y2, 0.5 + 3 * min(weight, 1.0))
    for cluster in answer.clusters:
        for name in cluster.members:
            x, y = places[name]
            cited = name in number
            said = visible(f"{cluster.name}: {title.get(name, name)}")
            drawn += Markup(
                '<g class="node tone-{0}"{1}><circle cx="{2:.1f}" cy="{3:.1f}" r="{4}"/>'
                "<title>{5}</title>"
            ).format(
                cluster.tag.value,
                Markup(' data-number="{}"').format(number[name]) if cited else "",
                x,
                y,
                12 if cited else 6,
                said,
            )
            if cited:
                drawn += Markup('<text x="{:.1f}" y="{:.1f}">{}</text>').format(
                    x, y + 4, number[name]
                )
            drawn += Markup("</g>")
    return Markup(
        '<svg class="evidence-graph" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(WIDTH, HEIGHT, "Evidence graph", drawn)


def layout(answer: Answer) -> Mapping[str, tuple[float, float]]:
    """Where each passage lies in the drawing."""
    import networkx as nx  # noqa: PLC0415  only where a graph is drawn

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
