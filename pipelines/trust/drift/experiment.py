"""The determinism meter as an experiment: does a judge say the same when it is asked again?"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from pipelines.conflictscore.detection.detect import DetectionResult, detect
from pipelines.conflictscore.detection.example_scores import SCORES
from pipelines.conflictscore.detection.experiment import config
from pipelines.errors import InputError
from pipelines.evidence.examples import SAMPLES, ContestedClaim, read
from pipelines.evidence.judge import Judge
from pipelines.evidence.known_drift import keep_drift
from pipelines.evidence.settings import JudgeSettings
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import judge_needs
from pipelines.experiment.options import (
    Overflow,
    RunOptions,
    ServerOptions,
    judging,
    source_of,
)
from pipelines.experiment.publish import Publication, Runs
from pipelines.option import Option, one_of, refuse_given
from pipelines.runs.folder import named_after
from pipelines.trust.drift.conditions import CONDITIONS, FIRST, OF_A_MODEL, Condition, Rerun
from pipelines.trust.subjects import behind
from serving.calls import Anew

HELP = """Measure whether a labeller says the same when it is asked again: the determinism meter.

Every claim is judged by its documents once, and then N times under each condition: unchanged (the
control), one pair at a time, claims shuffled, other pairs beside each one; of a language model also
with a warm and a cold prefix cache, and by each replica. No cache answers. Labels that flip, shifts
of probabilities, and what that does to verdicts and scores stand in one table.

What comes out is kept for this judge, and the report of every run by it has a line that says so.
See docs/drift.md.

Examples:
    contested run drift --limit 8 --repeat 3 --out results-drift

    contested run drift --labeller llm --condition unchanged --condition alone --dry-run
"""


class DriftOptions(RunOptions, ServerOptions):
    """Who is asked again, how often, and under which conditions."""

    data: Annotated[
        Path,
        Option(
            "JSONL file of claims with their documents; see docs/conflict-detection.md.",
            shown="bundled samples",
        ),
    ] = SAMPLES
    repeat: Annotated[
        int, Field(ge=1), Option("Ask everything N times anew under each condition.", metavar="N")
    ] = 2
    conditions: Annotated[
        list[str] | None,
        Option(
            f"What is changed: {', '.join(CONDITIONS[:-1])} or {CONDITIONS[-1]}. Repeatable.",
            name="--condition",
            metavar="NAME",
            shown="all that can matter to the labeller",
        ),
    ] = None
    on_overflow: Overflow = "error"
    judge: JudgeSettings = JudgeSettings(labeller="nli")


def plan(options: DriftOptions) -> Plan[ContestedClaim, DetectionResult]:
    """Read the claims, and say under which conditions they are judged again.

    Raises:
        InputError: The data cannot be read; an option cannot be used, or has no effect.
        ServingError: There is no such profile, or no such tagger.
    """
    if options.ray is not None:
        raise InputError("--ray spreads a run, so that no condition could be kept; leave it out")
    refuse_given(options, ("cache",), "a run that no cache answers")
    bench = read(options.data, limit=options.limit)
    settings = judging(options.judge, options.on_overflow)
    reruns = _reruns(options, settings)

    def works(models: RunModels) -> Sequence[Work[ContestedClaim, DetectionResult]]:
        # The store of judgements has no part in it, and the client is asked anew each time.
        first = models.client and models.client.anew(Anew())
        judge = replace(models, client=first).judge(settings, stored=False)
        about = config(bench, settings, judge, settings.kind)
        asked = f"-{named_after(first.model.name)}" if first else ""
        entry = f"{EXPERIMENT.name}.{settings.kind}{asked}"
        plain = Work(
            entry,
            about | {"condition": FIRST},
            partial(detect, labeller=judge.labeller),
            client=first,
        )
        again = [_again(rerun, entry, about, judge, models) for rerun in reruns]
        return [plain, *again]

    def _again(
        rerun: Rerun, entry: str, about: dict[str, Any], judge: Judge, models: RunModels
    ) -> Work[ContestedClaim, DetectionResult]:
        client = models.client and models.client.anew(rerun.how)
        inner = behind(judge.labeller, client, lambda tagger: tagger)
        together = settings.by_model and settings.evidence == "together"
        labeller = rerun.labeller(inner, bench.examples, together=together)
        return Work(
            f"{entry}.{rerun.condition}.repeat-{rerun.number}",
            about | {"condition": rerun.condition, "repeat": rerun.number},
            partial(detect, labeller=labeller),
            # The tagger counts the pairs of all runs; the last one tells them.
            judge=judge if rerun is reruns[-1] else None,
            client=client,
            items=rerun.order(bench.examples),
        )

    def afterwards(models: RunModels) -> None:
        from pipelines.trust.drift.tables import judges, measured

        runs = EXPERIMENT.runs(models.folder)
        for own in judges(runs):
            keep_drift(own.config, measured(own))

    told = (
        f"{len(bench.examples):,} claims from {bench.name}, "
        f"{len(bench.pairs()):,} pairs of claim and document, judged by {settings.kind}: once, "
        f"and again {len(reruns):,} times "
        f"({', '.join(dict.fromkeys(each.condition for each in reruns))})"
    )
    needs = judge_needs(options, settings)
    return Plan(bench.examples, needs, works, told, afterwards=afterwards)


def _reruns(options: DriftOptions, settings: JudgeSettings) -> list[Rerun]:
    """The runs after the first, in the order of `CONDITIONS`."""
    where = source_of(options, "judge")
    servers = where.replicas(where.model or where.profiled) if settings.by_model else 0
    idle: dict[Condition, str] = {}
    if not settings.by_model:
        named = f"--labeller {settings.labeller}, which asks no language model"
        idle = dict.fromkeys(OF_A_MODEL, named)
    elif servers == 1:
        idle["replica"] = "one server alone"
    chosen = one_of(options.conditions, CONDITIONS, "--condition")
    for each in chosen if options.conditions else ():
        if each in idle:
            raise InputError(f"--condition {each} has no effect with {idle[each]}; leave it out")
    return [
        Rerun(each, number)
        for each in chosen
        if each not in idle
        for number in range(1, 1 + (servers if each == "replica" else options.repeat))
    ]


def _publication(runs: Runs[DetectionResult]) -> Publication:
    from pipelines.trust.drift.tables import all_tables, judges
    from pipelines.trust.drift.view import view

    own = judges(runs)
    made = all_tables(own)
    return Publication(view(runs, own, made), made)


EXPERIMENT = Experiment(
    name="drift",
    title="Drift",
    help=HELP,
    counted="claims",
    options=DriftOptions,
    result=DetectionResult,
    plan=plan,
    failed=DetectionResult.failed,
    publish=_publication,
    common=("data",),
    scores=SCORES,
    verdict=lambda result: result.verdict,
    cluster=lambda result: result.example.group,
)
"""The declaration."""
