"""Precision against recall of citations (ConRAG, Figure 4).

The paper's figure has a point per method and task. Where records have what it takes, a line leads
on from each point: citations are given up whose passage the tagger is less and less unsure of.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from pipelines.conrag import paper
from pipelines.conrag.answer import Outcome
from pipelines.conrag.evidence import SIDES
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import figures
from pipelines.conrag.tables.figures import Citations, Results
from pipelines.report.plots import Place, plane
from pipelines.report.table import HERE, Column, Measure, Quoted, Table, estimate_of

THRESHOLDS: Final = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Least confidence of what is cited; at 0 the answer is as it is."""

_ORDER = ("RelRAG", "NLI-RAG", figures.OURS, "CiteRAG", figures.ORACLE)
"""Of the lines, so that a method has the colour that it has in Figure 6."""

_WANTED = ("dataset", "method", "figures", "precision", "recall")
POINTS: Final[tuple[Quoted, ...]] = tuple(
    {key: row[key] for key in _WANTED} for row in paper.TABLE_V
)
"""The paper's points: its Table V."""


class Point(NamedTuple):
    """A method on a data set, with the citations of at least a confidence."""

    dataset: str
    method: str
    least: float
    worth: Citations
    kept: int


def sure_citations(outcome: Outcome, result: ClaimResult, least: float) -> Outcome:
    """The outcome without citations of passages that are less surely on a side than `least`.

    A passage that the tagger finds on neither side has confidence 0. Of the citations that a
    policy took away, which precision counts as wrong, the less sure ones are given up, too.
    """
    sure = {each.id: each.confidence for each in result.passages if each.tag in SIDES}

    def kept(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if sure.get(name, 0.0) >= least)

    statements = tuple(
        said.model_copy(update={"cites": kept(said.cites), "dropped": kept(said.dropped)})
        for said in outcome.statements
    )
    return outcome.model_copy(update={"statements": statements})


def points(dataset: str, own: Sequence[ClaimResult], method: str) -> Iterator[Point]:
    """Precision and recall at every threshold; of questions only as they are.

    What a passage says of a claim is known, so it is counted anew. What several say together of a
    sentence was judged for the citations that there are, and for no part of them.
    """
    for least in THRESHOLDS[:1] if figures.of_questions(own) else THRESHOLDS:
        kept = [
            each.model_copy(
                update={
                    "outcomes": {method: sure_citations(each.outcomes[method], each, least)},
                }
            )
            for each in own
        ]
        cites = sum(len(said.cites) for one in kept for said in one.outcomes[method].statements)
        yield Point(dataset, method, least, figures.citations(kept, method), cites)


def tradeoffs(results: Results) -> dict[str, list[Point]]:
    """The points of every data set whose answers cite."""
    return {
        name: [
            point
            for method in figures.shown_methods(own)
            for point in points(name, own, method)
            if point.worth.precision is not None and point.worth.recall is not None
        ]
        for name, own in results.items()
        if figures.labelled(own)
    }


def precision_recall(found: dict[str, list[Point]]) -> Table:
    """The points of Figure 4."""
    return Table.of(
        [point for own in found.values() for point in own],
        name="conrag_precision_recall",
        title="Precision against recall of citations",
        caption="A point per method, and further ones without its less sure citations.",
        columns=[
            Column("dataset", "Data"),
            Column("method", "Method"),
            HERE,
            Column("least", "Confidence from", lambda one: f"{one.least:g}"),
            Measure("precision", "Citation precision", lambda one: one.worth.precision),
            Measure("recall", "Citation recall", lambda one: one.worth.recall),
            Column("kept", "Citations"),
        ],
        quoted=POINTS,
        notes=(
            "The paper's points are of methods and tasks; it varies nothing else. Here a threshold "
            "varies, too: a citation is kept where the tagger puts its passage on a side with at "
            "least that confidence. The text stays, so a sentence that loses all its citations is "
            "not borne out. From 0 on, the answer is as it is.",
            "Answers to questions (alce) have one point each: passages were judged together, as "
            "they are cited, which does not say what a part of them would bear out.",
        ),
    )


def plots(found: dict[str, list[Point]]) -> Iterator[Markup]:
    """Figure 4: a drawing per data set; of ALCE with the paper's points, hollow."""
    for name, own in found.items():
        lines: dict[str, list[Place]] = {}
        for point in sorted(own, key=lambda one: _ORDER.index(one.method)):
            precision, recall = point.worth.precision, point.worth.recall
            if precision is not None and recall is not None:
                told = f"confidence from {point.least:g}" if point.least else "all citations"
                at = Place(recall.value, precision.value, f"{point.method}, {told}")
                lines.setdefault(point.method, []).append(at)
        beside = {
            str(row["method"]): place
            for row in POINTS
            if str(row["dataset"]).lower() == name
            and row["method"] in lines
            and (place := _place_of(row)) is not None
        }
        if lines:
            yield plane(
                lines, f"Citations, {name}", ("citation recall", "citation precision"), beside
            )


def _place_of(row: Quoted) -> Place | None:
    precision, recall = estimate_of(row["precision"]), estimate_of(row["recall"])
    if precision is None or recall is None:
        return None
    return Place(recall.value, precision.value, f"{row['method']}, paper")
