"""Drift on the page: what was found, its tables, and every claim as each run judged it."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.detection.view import content
from pipelines.experiment.publish import Runs
from pipelines.report import glance
from pipelines.report.explorer import Example, ExperimentView, Facet, Part
from pipelines.report.glance import Finding
from pipelines.report.table import MISSING, Table
from pipelines.report.views import Mark, failures_part, listed, named, picked, words
from pipelines.trust.drift.measures import Drift
from pipelines.trust.drift.tables import UNCHANGED, JudgeRuns

NAME: Final = "drift"

FLIPS = Mark("contradict", "✗", "a label flips")
MOVES = Mark("outline", "~", "probabilities shift")
SAME = Mark("support", "✓", "the same every time")
UNKNOWN = Mark("invalid", "?", "not judged again")

Judged = Mapping[str, DetectionResult]
"""Run -> what it made of one claim, the first run first."""


def view(
    runs: Runs[DetectionResult], own: Sequence[JudgeRuns], made: Sequence[Table]
) -> ExperimentView:
    """The experiment's part of the page."""
    tables = named(made, "")
    flips = [(each.name, each.whole.flipped()) for each in own]
    control = [
        (f"{each.judge}, unchanged", each.flipped())
        for judge in own
        for each in judge.drifts
        if each.condition == UNCHANGED
    ]
    shifts = "; ".join(f"{each.name} {_largest(each)}" for each in own)
    lost = sum(each.status != "labelled" for results in runs.results.values() for each in results)
    finding = Finding(
        question="Does a judge say the same when it is asked again?",
        data=glance.data_of({each.entry: [*each.first] for each in own}, runs.configs, "claim"),
        models=glance.joined(glance.judges(each.config) for each in own),
        found=f"Labels that flip: {glance.with_figures(flips)}. Largest shift of a probability: "
        f"{shifts}.",
        beside=f"asked again: {glance.with_figures(control)}" if control else "",
        failed=glance.failed((lost, "claims of all runs without a verdict: {}")),
        examples=glance.fewest(each for _, each in flips),
        figures=flips,
        baselines=control,
    )
    claims = {each.entry: _claims(each) for each in own}
    return ExperimentView(
        name=NAME,
        title="Drift",
        finding=finding,
        parts=(
            Part("Asked again", picked(tables, "drift")),
            Part("Pairs", picked(tables, "drift_pairs")),
            failures_part(tables.get("drift_failures"), "every claim was judged every time", {}),
        ),
        facets=(Facet("Outcome", words((FLIPS, MOVES, SAME, UNKNOWN))),),
        runs={each.entry: each.name for each in own},
        noun=("claim", "claims"),
        models=glance.judge_models(*(each.config for each in own)),
        **listed(claims, _example),
    )


def _largest(own: JudgeRuns) -> str:
    """The largest shift of a judge, and under which condition it came."""
    found = [(shift, each.condition) for each in own.drifts if (shift := each.largest_shift())]
    if not found:
        return "0" if own.whole.largest_shift() == 0 else MISSING
    shift, condition = max(found, key=lambda each: each[0])
    return f"{shift:.4f} ({condition})"


def _claims(own: JudgeRuns) -> list[Judged]:
    """Each claim of a judge with all that its runs made of it, as the page names them."""
    later = {
        f"{condition} {number}": claims
        for condition, runs in own.later.items()
        for number, claims in enumerate(runs.values(), 1)
    }
    return [
        {"first": first} | {run: claims[name] for run, claims in later.items() if name in claims}
        for name, first in own.first.items()
    ]


def _example(run: str, judged: Judged) -> Example:
    first, *later = judged.values()
    again = {str(number): {first.id: each} for number, each in enumerate(later)}
    mark = _mark(Drift("", "", {first.id: first}, again))
    return Example(
        id=first.id,
        run=run,
        title=first.example.claim,
        status=first.status,
        blocks=partial(content, judged),
        about=(glance.count(len(first.example.documents), "document"),),
        chips=(mark.chip,),
        facets={"Outcome": [mark.words]},
        words=first.example.question or "",
    )


def _mark(drift: Drift) -> Mark:
    """What became of one claim, the worst first."""
    if not drift.pairs:
        return UNKNOWN
    if drift.flips():
        return FLIPS
    return MOVES if drift.largest_shift() else SAME
