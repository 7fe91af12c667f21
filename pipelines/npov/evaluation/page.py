"""What detectors of hallucination and coverage errors contribute to the report."""

from collections.abc import Sequence
from pathlib import Path

from pipelines.metrics.estimate import Estimate
from pipelines.report.page import Section, fragment
from pipelines.report.plots import dots
from pipelines.report.table import Table, html

ANCHOR = "npov-detection"

_PARTS = (
    ("npov_detection", "By detector"),
    ("npov_comparisons", "Differences"),
    ("npov_pairs", "Pairs"),
    ("npov_words", "Words"),
    ("npov_aggregations", "Aggregations"),
    ("npov_classifiers", "Classifiers"),
    ("npov_overlap", "Shared words"),
    ("npov_failures", "Not scored"),
)
"""Tables, and what they are called in the contents; those without rows are left out."""

_HERE = Path(__file__).parent


def section(made: Sequence[Table]) -> Section:
    """The tables of a folder's runs, with the areas of the first one drawn.

    Args:
        made: From `tables.all_tables`.
    """
    named = {table.name: table for table in made if table.rows}
    parts = [
        (f"{ANCHOR}-{name.removeprefix('npov_')}", title, html(named[name]))
        for name, title in _PARTS
        if name in named
    ]
    body = fragment(
        _HERE,
        "page.html.j2",
        plots=_plots(named["npov_detection"]) if "npov_detection" in named else [],
        parts=parts,
    )
    return Section(
        anchor=ANCHOR,
        title="Faithfulness of neutral responses",
        body=body,
        contents=tuple((anchor, title) for anchor, title, _ in parts),
    )


def _plots(detection: Table) -> list[object]:
    """Per test set and error a plot of the detectors' areas."""
    keys = [column.key for column in detection.columns]
    found: dict[str, list[tuple[str, Estimate | None]]] = {}
    for kind in ("hallucination", "coverage"):
        for row in detection.rows:
            area = row[keys.index(kind)]
            title = f"{row[0]}, {kind} errors"
            found.setdefault(title, []).append(
                (str(row[1]), area if isinstance(area, Estimate) else None)
            )
    return [dots(rows, title) for title, rows in found.items() if any(area for _, area in rows)]
