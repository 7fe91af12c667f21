"""ConflictScore beside people, on the page."""

from dataclasses import replace
from functools import partial

from pipelines.conflictscore import view as scored
from pipelines.conflictscore.both_sides import tables
from pipelines.conflictscore.both_sides.result import JudgedResult
from pipelines.conflictscore.both_sides.signs import BASELINES
from pipelines.data.wikicontradict import FROM_BOTH
from pipelines.evidence.judge import judge_named
from pipelines.experiment.publish import Publication, Runs
from pipelines.report import glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import Example, ExperimentView, Facet, Part
from pipelines.report.table import MISSING
from pipelines.report.texts import Block, Chip
from pipelines.report.views import listed

_NAME = "both-sides"


def publication(runs: Runs[JudgedResult]) -> Publication:
    """Tables and view of what a folder has."""
    results = runs.results
    made = tables.all_tables(results)
    configs = list(runs.configs.values())
    figures = [
        (f"{sign}, {run}", tables.signed(run, sign, own).area)
        for run, own in results.items()
        for sign in ("1 − CS-C", "both sides")
    ]
    one = next(iter(results.items()))
    beside = [(sign, tables.signed(one[0], sign, one[1]).area) for sign in BASELINES]
    unscored = sum(each.status != "scored" for own in results.values() for each in own)
    finding = glance.Finding(
        question="Does ConflictScore tell answers that show both sides, as people do?",
        data=glance.data_of(results, runs.configs, "answer"),
        models="; ".join(f"{run}: {judge_named(runs.configs[run])}" for run in results),
        found="Area under the ROC curve, by people's verdicts: "
        f"{glance.with_figures(figures, glance.figure) or MISSING}. Guessing has 0.50.",
        beside=glance.with_figures(beside, glance.figure),
        failed=glance.failed((unscored, "answers that could not be scored: {}")),
        examples=glance.fewest(each for _, each in figures),
        figures=figures,
        baselines=beside,
    )
    models = dict.fromkeys(each.model for own in results.values() for each in own)
    view = ExperimentView(
        name=_NAME,
        title="Both sides, by people",
        finding=finding,
        parts=(Part("By people", tuple(made)),),
        facets=(
            Facet("People", tuple(_SAID.values())),
            Facet("Model", tuple(models)),
            Facet("Prompt", tuple(FROM_BOTH.values())),
        ),
        runs={run: run for run in results},
        noun=("answer", "answers"),
        models=glance.judge_models(*configs),
        **listed(results, example),
    )
    return Publication(view, made)


_SAID = {True: "both sides", False: "not both sides"}


def example(run: str, result: JudgedResult) -> Example:
    """An answer in the list: what people say before what ConflictScore says."""
    shown = scored.example(run, result)
    people = Chip(_SAID[result.correct], "support" if result.correct else "outline")
    return replace(
        shown,
        blocks=partial(_content, result),
        chips=(people, *shown.chips),
        facets={
            "People": [_SAID[result.correct]],
            "Model": [result.model],
            "Prompt": [result.prompt],
        },
    )


def _content(result: JudgedResult) -> list[Block]:
    people = fact("People", result.people.lower())
    said = Facts((people, fact("ConflictScore", *result.figures())))
    return [said, *scored.content(result)]
