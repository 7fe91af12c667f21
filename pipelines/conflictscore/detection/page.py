"""What a Conflict Detection run contributes to the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipelines.conflictscore.detection.baselines import ALWAYS
from pipelines.conflictscore.detection.bench import HARD
from pipelines.conflictscore.detection.confidences import stated
from pipelines.conflictscore.detection.decisions import Mistake, detectors, mistakes
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.detection.tables import OVERALL, right_of, shared
from pipelines.metrics.estimate import Estimate
from pipelines.report.curves import STYLE as CURVE_STYLE
from pipelines.report.curves import reliability_diagram
from pipelines.report.glance import (
    Finding,
    count,
    failed,
    fewest,
    figure,
    joined,
    judges,
    with_figures,
)
from pipelines.report.page import Section, fragment
from pipelines.report.plots import dots
from pipelines.report.table import MISSING, Cell, Table, estimate_of, html, own_rows, two_places

ANCHOR = "conflict-detection"
TITLE = "Conflict Detection"

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
    lost = named["conflict_detection_failures"]
    judged = named.get("conflict_detection_judges")
    body = fragment(
        _HERE,
        "page.html.j2",
        anchor=ANCHOR,
        plots=[
            dots(rows, f"F1, {source}")
            for source, rows in f1_by_source(named["conflict_detection"]).items()
        ],
        detection=html(named["conflict_detection"]),
        judges=html(judged) if judged else None,
        documents=html(named["conflict_detection_documents"]),
        confusions=html(named["conflict_detection_confusion"]),
        diagrams=[
            reliability_diagram([(name, own.bins())], f"Reliability, {name}")
            for name, own in stated(results).items()
        ],
        confidences=html(named["conflict_detection_confidences"]),
        mistakes=[(each, *evidence(each)) for each in wrong[:MISTAKES_SHOWN]],
        left_out=max(0, len(wrong) - MISTAKES_SHOWN),
        failures=html(lost) if lost.rows else None,
    )
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        body=body,
        contents=(
            (f"{ANCHOR}-figures", "Figures"),
            *([(f"{ANCHOR}-judges", judged.title)] if judged else []),
            (f"{ANCHOR}-documents", "Labels of documents"),
            (f"{ANCHOR}-confidences", "Confidences"),
            (f"{ANCHOR}-errors", "Mistakes"),
            (f"{ANCHOR}-failures", "Failures and truncations"),
        ),
        style=(_HERE / "page.css").read_text(encoding="utf-8") + CURVE_STYLE,
    )


def finding(
    results: Mapping[str, Sequence[DetectionResult]],
    made: Sequence[Table],
    data: str,
    configs: Sequence[Mapping[str, Any]],
) -> Finding:
    """What the page's first screen says: F1 of every labeller beside finding a conflict everywhere.

    Args:
        results: Labeller -> its results.
        made: The tables of these results, from `tables.all_tables`.
        data: Name of the data.
        configs: The labellers' configurations, from `run.json`.
    """
    rows = own_rows(next(table for table in made if table.name == "conflict_detection"))
    source = _headline(rows)
    scores = {
        str(row["detector"]): estimate_of(row["f1"]) for row in rows if row["source"] == source
    }
    called = _short(list(results))
    sizes = {name: len(own) for name, own in results.items()}
    same = len({*sizes.values()}) == 1
    found = [
        (called[name] if same else f"{called[name]} ({count(sizes[name], 'claim')})", scores[name])
        for name in results
        if name in scores
    ]
    always = scores.get(ALWAYS)
    every = [result for own in results.values() for result in own]
    unread = sum(result.status == "invalid" for result in every)
    lost = sum(result.status == "failed" for result in every)
    cut = sum(len(result.truncations) for result in every)
    scored = with_figures(found, figure) or MISSING
    whole = f"F1 of finding the claims whose documents conflict (1 is best): {scored}."
    return Finding(
        experiment=TITLE,
        question="Can a model tell whether documents conflict over a claim?",
        ran=f"{count(len({result.id for result in every}), 'claim')} with their documents, {data}",
        by=f"documents labelled by {joined(map(judges, configs))}",
        found=" ".join([whole, *_together(results, called)]),
        beside=f"Always saying 'conflict': F1 {two_places(always.value)}." if always else "",
        failed=failed(
            (lost, "claims that could not be judged: {}"),
            (unread, "claims with a label that could not be read: {}"),
            (cut, "documents read only in part: {}"),
        ),
        anchor=ANCHOR,
        examples=fewest(estimate for _, estimate in found),
    )


def _headline(rows: Sequence[Mapping[str, Cell]]) -> str:
    """The source that stands for all: they together, else the only one that is no hard one."""
    sources = [str(row["source"]) for row in rows]
    if OVERALL in sources:
        return OVERALL
    return next((source for source in sources if source != HARD), sources[0] if sources else "")


def _short(labellers: Sequence[str]) -> dict[str, str]:
    """Labellers by their models alone, where those tell them apart."""
    models = {name: name.partition(": ")[2] or name for name in labellers}
    return models if len({*models.values()}) == len(models) else {name: name for name in labellers}


def _together(
    results: Mapping[str, Sequence[DetectionResult]], called: Mapping[str, str]
) -> list[str]:
    """One sentence on the examples that all labellers judged; none where there are none."""
    together = shared(detectors(results))
    if not together:
        return []
    parts: list[str] = []
    for name, own in together.items():
        right, known = right_of(own)
        undecided = f" ({len(own) - known:,} undecided)" if known < len(own) else ""
        verb = "" if parts else "is right "
        parts.append(f"{called[name]} {verb}on {right:,}{undecided}")
    claims = count(len(next(iter(together.values()))), "claim")
    judged = "both" if len(together) == 2 else "all"
    return [f"On the {claims} that {judged} judged, {', '.join(parts)}."]


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
