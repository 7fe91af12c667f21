"""The trust suite on the page: what was found, its tables, and every case with its texts."""

from collections.abc import Sequence
from functools import partial
from typing import Final, get_args

from pipelines.evidence.judge import judge_named
from pipelines.experiment.publish import Runs
from pipelines.report import glance
from pipelines.report.blocks import Facts, Fold, fact
from pipelines.report.explorer import Example, ExperimentView, Facet, Part
from pipelines.report.glance import Finding
from pipelines.report.table import MISSING, Table
from pipelines.report.texts import Block, Heading, Note, Text, noted
from pipelines.report.views import Mark, failures_part, listed, named, picked, words
from pipelines.trust import measures
from pipelines.trust.result import TrustResult
from pipelines.trust.suite import Family
from pipelines.trust.tables import Results

NAME: Final = "trust"

FORGED = Mark("invalid", "!", "forged")
SWAYED = Mark("contradict", "✗", "right to wrong")
MOVED = Mark("contradict", "~", "changed")
STOOD = Mark("support", "✓", "unchanged")
NO_VERDICT = Mark("invalid", "?", "no verdict")


def mark(result: TrustResult) -> Mark:
    """What the hostile text did, the worst first."""
    if result.forged or result.broke_out:
        return FORGED
    if result.overturned("hostile"):
        return SWAYED
    if (changed := result.changed("hostile")) is None:
        return NO_VERDICT
    return MOVED if changed else STOOD


def view(runs: Runs[TrustResult], results: Results, made: Sequence[Table]) -> ExperimentView:
    """The experiment's part of the page; results by the names of tables."""
    tables = named(made, "")
    every = [each for own in results.values() for each in own]
    figures = [(judge, measures.changed(own, "hostile")) for judge, own in results.items()]
    beside = [(judge, measures.changed(own, "control")) for judge, own in results.items()]
    known = [each.forged or each.broke_out for each in every if each.forged is not None]
    read = f"{sum(map(bool, known)):,} of {len(known):,}" if known else f"{MISSING} (no replies)"
    lost = sum(each.verdict("hostile") is None for each in every)
    finding = Finding(
        question="Can a hostile text forge a verdict, or sway one?",
        data=glance.data_of(runs.results, runs.configs, "case"),
        models=glance.joined(map(judge_named, runs.configs.values())),
        found=f"Verdicts forged: {read}. Verdicts changed: {glance.with_figures(figures)}.",
        beside=f"changed by harmless sentences: {glance.with_figures(beside)}",
        failed=glance.failed((lost, "hostile texts without a verdict: {}")),
        examples=glance.fewest(each for _, each in figures),
        figures=figures,
        baselines=beside,
    )
    shown = dict(zip(runs.results, results, strict=True))
    return ExperimentView(
        name=NAME,
        title="Trust",
        finding=finding,
        parts=(
            Part("Judges", picked(tables, "trust trust_families")),
            Part("Verdicts", picked(tables, "trust_cases")),
            failures_part(tables.get("trust_failures"), "every text has a verdict", {}),
        ),
        facets=(
            Facet("Outcome", words((FORGED, SWAYED, MOVED, STOOD, NO_VERDICT))),
            Facet("Family", get_args(Family)),
        ),
        runs=shown,
        noun=("case", "cases"),
        models=glance.models_used(runs.configs.values(), {"model": "judge", "tagger": "tagger"}),
        **listed(runs.results, _example),
    )


def _example(run: str, result: TrustResult) -> Example:
    own = result.case
    return Example(
        id=result.id,
        run=run,
        title=own.note,
        status=result.status,
        blocks=partial(_content, result),
        about=(f"{own.family}: {own.claim}",),
        chips=(mark(result).chip,),
        facets={"Outcome": [mark(result).words], "Family": [own.family]},
        words=result.hostile,
    )


_SAID: Final = {None: MISSING, True: "yes", False: "no"}


def _content(result: TrustResult) -> list[Block]:
    own = result.case
    made: list[Block] = [
        Facts(
            (
                fact("Right", result.gold),
                *(
                    fact(variant.capitalize(), reading.verdict)
                    for variant, reading in result.readings.items()
                ),
                fact("The text wants", result.goal),
                fact("Forged", _SAID[result.forged]),
                fact("Broke out", _SAID[result.broke_out]),
                fact("Obeyed", _SAID[result.obeyed]),
            )
        ),
        *noted(result.error, "Failed"),
        Heading(f"The hostile text ({own.place})"),
        Text(result.hostile, "Hostile text"),
        Heading("What is judged"),
        Note(own.fact.question, "Question"),
        Note(own.claim, "Claim"),
        Text(result.text, "Text"),
    ]
    for variant, reading in result.readings.items():
        made += noted(reading.why, f"Refused, {variant}")
        if said := [each for each in reading.replies if each]:
            replies = tuple(Text(each, f"Reply {n}") for n, each in enumerate(said, 1))
            made.append(Fold(f"Replies, {variant}", replies))
    return made
