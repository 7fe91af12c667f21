"""What detectors of hallucination and coverage errors contribute to the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipelines.metrics.estimate import Estimate
from pipelines.npov.evaluation.areas import Results
from pipelines.npov.evaluation.result import KINDS, ROUGE
from pipelines.report.glance import Finding, count, failed, fewest, figure, joined, with_figures
from pipelines.report.page import Section, fragment
from pipelines.report.plots import dots
from pipelines.report.table import MISSING, Cell, Table, estimate_of, html, own_rows

ANCHOR = "npov-detection"
TITLE = "Faithfulness of neutral responses"

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
        title=TITLE,
        body=body,
        contents=tuple((anchor, title) for anchor, title, _ in parts),
    )


def finding(
    results: Results, made: Sequence[Table], configs: Sequence[Mapping[str, Any]]
) -> Finding:
    """What the page's first screen says: areas under the ROC curve beside those of ROUGE.

    Args:
        results: What a run is called -> its results.
        made: The tables of these results, from `tables.all_tables`.
        configs: The runs' configurations, from `run.json`.
    """
    rows = [row for table in made if table.name == "npov_detection" for row in own_rows(table)]
    ours = [row for row in rows if row["detector"] != ROUGE]
    shared = [row for row in rows if row["detector"] == ROUGE]
    several = len({row["detector"] for row in ours}) > 1
    every = [each for own in results.values() for each in own]
    lost = sum(each.status == "failed" for each in every)
    shown = [area for kind in KINDS for _, area in _areas(ours, kind, several)]
    of = count(len(every), "result")
    by = joined(
        f"{'gradients of' if config['detector'] == 'salience' else 'the classifier'} "
        f"{config['model']['name']}"
        for config in configs
    )
    return Finding(
        experiment=TITLE,
        question="Can errors in a neutral response be found: content added, arguments left out?",
        ran=f"{count(len({each.id for each in every}), 'response')}, "
        f"{joined(str(config['data']['name']) for config in configs)}",
        by=by,
        found=f"AUC (1 finds every error first, 0.5 is chance). {_both(ours, several)}",
        beside=f"Words shared with the arguments (ROUGE). {_both(shared, False)}" if shared else "",
        failed=failed((lost, f"{{}} of {of} could not be scored")),
        anchor=ANCHOR,
        examples=fewest(shown),
    )


def _both(rows: Sequence[Mapping[str, Cell]], several: bool) -> str:
    """The areas of both kinds of error, one sentence each; a dash where there are none."""
    said = [
        f"{name}: {with_figures(areas, figure)}."
        for kind, name in (("hallucination", "Content added"), ("coverage", "Arguments left out"))
        if (areas := _areas(rows, kind, several))
    ]
    return " ".join(said) or MISSING


def _areas(
    rows: Sequence[Mapping[str, Cell]], kind: str, several: bool
) -> list[tuple[str, Estimate | None]]:
    """Test set, with the detector where there are several, and area; rows without are left out."""
    return [
        (f"{row['test_set']}, {row['detector']}" if several else str(row["test_set"]), area)
        for row in rows
        if (area := estimate_of(row[kind])) is not None
    ]


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
