"""What a Conflict Detection run contributes to the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipelines.conflictscore.detection.confidences import stated
from pipelines.conflictscore.detection.decisions import Mistake, mistakes
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.metrics.estimate import Estimate
from pipelines.report.curves import STYLE as CURVE_STYLE
from pipelines.report.curves import reliability_diagram
from pipelines.report.page import Section, fragment
from pipelines.report.plots import dots
from pipelines.report.table import Table, html

ANCHOR = "conflict-detection"

MISTAKES_SHOWN = 60
"""Mistakes that the page shows; all stand in `conflict-detection-errors.jsonl`."""

CHARACTERS_SHOWN = 1_500
"""Characters of a document that are shown around the passage that decided."""

_HERE = Path(__file__).parent


def section(results: Mapping[str, Sequence[DetectionResult]], made: Sequence[Table]) -> Section:
    """Table 2 of this run, F1 by source, labels and confidences, mistakes and failures.

    Args:
        results: Labeller -> its results.
        made: The tables of these results, from `tables.all_tables`.
    """
    named = {table.name: table for table in made}
    wrong = mistakes(results)
    failed = named["conflict_detection_failures"]
    body = fragment(
        _HERE,
        "page.html.j2",
        anchor=ANCHOR,
        plots=[
            dots(rows, f"F1, {source}")
            for source, rows in f1_by_source(named["conflict_detection"]).items()
        ],
        detection=html(named["conflict_detection"]),
        documents=html(named["conflict_detection_documents"]),
        confusions=html(named["conflict_detection_confusion"]),
        diagrams=[
            reliability_diagram([(name, own.bins())], f"Reliability, {name}")
            for name, own in stated(results).items()
        ],
        confidences=html(named["conflict_detection_confidences"]),
        mistakes=[(each, *evidence(each)) for each in wrong[:MISTAKES_SHOWN]],
        left_out=max(0, len(wrong) - MISTAKES_SHOWN),
        failures=html(failed) if failed.rows else None,
    )
    return Section(
        anchor=ANCHOR,
        title="Conflict Detection",
        body=body,
        contents=(
            (f"{ANCHOR}-figures", "Figures"),
            (f"{ANCHOR}-documents", "Labels of documents"),
            (f"{ANCHOR}-confidences", "Confidences"),
            (f"{ANCHOR}-errors", "Mistakes"),
            (f"{ANCHOR}-failures", "Failures and truncations"),
        ),
        style=(_HERE / "page.css").read_text(encoding="utf-8") + CURVE_STYLE,
    )


def f1_by_source(detection: Table) -> dict[str, list[tuple[str, Estimate | None]]]:
    """Source -> (detector, F1) of each of its rows in the table of detection."""
    keys = [column.key for column in detection.columns]
    source, detector, score = (keys.index(key) for key in ("source", "detector", "f1"))
    found: dict[str, list[tuple[str, Estimate | None]]] = {}
    for row in detection.rows:
        value = row[score]
        estimate = value if isinstance(value, Estimate) else None
        found.setdefault(str(row[source]), []).append((str(row[detector]), estimate))
    return found


def evidence(mistake: Mistake) -> tuple[str, str, str]:
    """The document's text before, in and after the passage that decided, cut to what is shown.

    The passage is empty where the labeller named none, or one that the document does not have.
    """
    text = mistake.evidence
    start = text.find(mistake.snippet) if mistake.snippet else -1
    if start < 0 or mistake.snippet is None:
        return _cut_end(text, CHARACTERS_SHOWN), "", ""
    end = start + len(mistake.snippet)
    half = CHARACTERS_SHOWN // 2
    before = text[:start] if start <= half else f"…{text[start - half : start]}"
    return before, text[start:end], _cut_end(text[end:], half)


def _cut_end(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
