"""Beside citation figures: who judged them, and whether it was a judge in its own case."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pipelines.conrag.citation_judge import judge_told
from pipelines.conrag.tables import figures
from pipelines.report.table import Table

JUDGED = (
    "conrag_citations",
    "conrag_precision_recall",
    "conrag_ablations",
    "conrag_paired",
    "conrag_conflict_bins",
    "conrag_errors",
)
"""Tables with figures of what passages say of sentences."""


def with_judges(
    made: Iterable[Table], results: figures.Results, configs: Mapping[str, Mapping[str, Any]]
) -> list[Table]:
    """The tables with a note of who judged each data set of questions.

    Results and configurations of `run.json` are by data set.
    """
    notes = [
        f"{name}: {told}."
        for name, own in results.items()
        if figures.of_questions(own) and (told := _told(configs[name]))
    ]
    return [
        replace(table, notes=(*table.notes, *notes)) if table.name in JUDGED else table
        for table in made
    ]


def _told(config: Mapping[str, Any]) -> str:
    """Who judged; of older runs the labeller did, in its own case."""
    return judge_told({"citations": {"model": config["model"]}, **config})
