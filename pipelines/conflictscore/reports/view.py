"""What report writing puts on the page: scores by prompt, and every report to read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pipelines.conflictscore import view as of_responses
from pipelines.conflictscore.reports.writing import PROMPTINGS, ReportResult
from pipelines.conflictscore.result import MEASURES
from pipelines.metrics.estimate import Estimate
from pipelines.report import glance
from pipelines.report.explorer import Example, ExperimentView, Facet, Part
from pipelines.report.table import MISSING, Table, estimate_of, own_rows
from pipelines.report.texts import Block, Note
from pipelines.report.views import dot_plots, failures_part, links, listed, named, picked

NAME = "report-writing"
TITLE = "Report writing"


def view(
    results: Mapping[str, Sequence[ReportResult]],
    made: Sequence[Table],
    entries: Mapping[str, Mapping[str, Any]],
) -> ExperimentView:
    """Scores of writers and prompts, and the reports of the runs in a folder.

    Results and entries of `run.json` are by the name of a run; `made` is of `tables.all_tables`.
    """
    configs = {run: entry["config"] for run, entry in entries.items()}
    tables = named(made, "reports_")
    every = "every report was written and scored, and everything could be read"
    scores = {measure: f"{title} by prompt, {{}}" for measure, title in MEASURES.items()}
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, tables.get("scores"), configs),
        parts=(
            Part(
                "Reports",
                picked(tables, "scores differences"),
                dot_plots(tables.get("scores"), "run", "prompting", scores),
                "Do reports admit that their documents disagree, and do prompts that ask for "
                "balance help?",
            ),
            failures_part(tables.get("failures"), every, links(NAME, results), ("run", "report")),
        ),
        facets=(Facet("Prompt", tuple(PROMPTINGS.values())), of_responses.WITH),
        runs={run: run for run in results},
        noun=("report", "reports"),
        models=glance.judge_models(*configs.values()),
        facts=tuple(
            (run, f"{config['data']['name']} ({len(results[run]):,} reports)")
            for run, config in configs.items()
        ),
        **listed(results, _example),
    )


def finding(
    results: Mapping[str, Sequence[ReportResult]],
    scores: Table | None,
    configs: Mapping[str, Mapping[str, Any]],
) -> glance.Finding:
    """What the page's first screen says: mean CS-C by prompt, beside a document that is copied."""
    several = len(results) > 1

    def means(measure: str, *, copies: bool = False) -> list[tuple[str, Estimate | None]]:
        return [
            (
                f"{row['prompting']} ({row['run']})" if several else str(row["prompting"]),
                estimate_of(row[measure]),
            )
            for row in (own_rows(scores) if scores else ())
            if (row["prompting"] == PROMPTINGS["copied"]) is copies
        ]

    written, copied = means("cs_c"), means("cs_c", copies=True)
    every = [result for own in results.values() for result in own]
    unscored = sum(result.status != "scored" for result in every)
    return glance.Finding(
        question="Do written reports admit that their documents disagree?",
        data=glance.data_of(results, configs, "report"),
        models="; ".join(
            dict.fromkeys(
                f"written by {config['writer']['name']}; judged by {glance.judges(config)}"
                for config in configs.values()
            )
        ),
        found="Claims of a report that some documents support and others contradict, on average: "
        f"{glance.with_figures(written) or MISSING}. Lower is better. How well the side that is "
        f"shown least is backed: {glance.with_figures(means('both_sides')) or MISSING}. Higher is "
        "better.",
        beside=f"A document copied as it is: {glance.with_figures(copied)}." if copied else "",
        failed=glance.failed(
            (unscored, f"{{}} of {glance.count(len(every), 'report')} could not be scored"),
            (sum(each.evidence == 0 for each in every), "reports without evidence: {}"),
        ),
        examples=glance.fewest(mean for _, mean in written),
        figures=tuple((f"CS-C, {name}", mean) for name, mean in written),
        baselines=tuple(copied),
    )


def _example(run: str, result: ReportResult) -> Example:
    base = of_responses.example(run, result)
    prompt = str(result.variant)
    return replace(
        base,
        blocks=partial(_content, result),
        facets={"Prompt": [prompt], "With": base.facets["With"]},
        words=f"{base.words}\n{result.entity or ''}",
    )


def _content(result: ReportResult) -> list[Block]:
    """What the report is about, then what any response shows."""
    made: list[Block] = []
    if result.entity:
        by = "named by the model" if result.entity_source == "model" else "named by rule"
        made.append(Note(f"{result.entity} ({by})", "About"))
    if not result.finished:
        made.append(Note("The report was cut for its length."))
    return [*made, *of_responses.content(result)]
