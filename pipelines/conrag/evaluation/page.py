"""What an evaluation contributes to the report: the paper's tables and figures, for this run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipelines.conrag.evaluation import figures
from pipelines.conrag.evaluation.hallucination import passage_auc, token_f1
from pipelines.conrag.evaluation.methods import METHODS
from pipelines.conrag.evaluation.result import ClaimResult
from pipelines.report.curves import STYLE as CURVE_STYLE
from pipelines.report.curves import curve
from pipelines.report.page import Section, fragment
from pipelines.report.plots import dots, shares
from pipelines.report.table import Table, html

ANCHOR = "conrag"

FIFTHS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
"""Bins of the conflict score in the figures."""

SMALLEST_BIN = 5
"""Claims that a point of a figure must have behind it."""

_BY_DATA = (("citations", "Citations"), ("hallucination", "Hallucinations"))
"""Tables that not every data set has, and what they are called in the contents."""

_HERE = Path(__file__).parent


def section(results: Mapping[str, Sequence[ClaimResult]], made: Sequence[Table]) -> Section:
    """Tables IV to IX of this run, and Figures 2, 3, 5 and 6.

    Args:
        results: Data set -> its results.
        made: The tables of these results, from `tables.all_tables`.
    """
    done = figures.answered(results)
    named = {table.name.removeprefix("conrag_"): table for table in made}
    body = fragment(
        _HERE,
        "page.html.j2",
        anchor=ANCHOR,
        accuracies=[
            dots(
                [
                    (method, figures.stance_accuracy(own, method))
                    for method in figures.shown_methods(own)
                ],
                f"Stance accuracy, {name}",
            )
            for name, own in done.items()
            if any(each.stance for each in own)
        ],
        scores=shares(
            [(name, score_counts(own)) for name, own in done.items()],
            {f"score-{n}": f"{low:g} to {high:g}" for n, (low, high) in enumerate(FIFTHS)},
            "Claims by conflict score",
        ),
        rates=[
            curve(
                [
                    (method, rate_by_score(own, method))
                    for method in ("RelRAG", "NLI-RAG", figures.OURS)
                ],
                f"Contradiction rate by conflict score, {name}",
                "conflict score",
                "contradiction rate",
            )
            for name, own in done.items()
            if not figures.of_responses(own)
        ],
        hallucinations=[
            dots(
                [(method, figure(figures.checked(own, method))) for method in METHODS],
                f"{called}, {name}",
            )
            for name, own in done.items()
            if figures.of_responses(own)
            for called, figure in (("Token F1", token_f1), ("Passage AUC", passage_auc))
        ],
        tables={name: html(table) if table.rows else "" for name, table in named.items()},
    )
    return Section(
        anchor=ANCHOR,
        title="ConRAG",
        body=body,
        contents=(
            (f"{ANCHOR}-stance", "Stance and evidence"),
            (f"{ANCHOR}-conflict", "Conflict score"),
            *((f"{ANCHOR}-{name}", title) for name, title in _BY_DATA if named[name].rows),
            (f"{ANCHOR}-ablations", "Ablations"),
            (f"{ANCHOR}-errors", "Errors"),
            (f"{ANCHOR}-failures", "Failures and truncations"),
        ),
        style=(_HERE / "page.css").read_text(encoding="utf-8") + CURVE_STYLE,
    )


def score_counts(own: Sequence[ClaimResult]) -> dict[str, int]:
    """Claims in each fifth of the conflict score (Figure 2)."""
    return {
        f"score-{n}": len(figures.in_bin(own, low, high)) for n, (low, high) in enumerate(FIFTHS)
    }


def rate_by_score(own: Sequence[ClaimResult], method: str) -> list[tuple[float, float]]:
    """(middle of a fifth, contradiction rate in it) where enough claims are (Figure 6)."""
    points = []
    for low, high in FIFTHS:
        inside = figures.in_bin(own, low, high)
        rate = figures.contradiction_rate(inside, method)
        if rate is not None and len(inside) >= SMALLEST_BIN:
            points.append(((low + high) / 2, rate.value))
    return points
