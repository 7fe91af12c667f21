"""ConflictScore over a file of responses."""

from collections.abc import Sequence
from functools import partial

from pipelines.conflictscore.pipeline import conflict_score, result, scorer_of, scoring
from pipelines.conflictscore.relations import OF_RESPONSES
from pipelines.conflictscore.result import METRICS, Result, verdict
from pipelines.conflictscore.settings import ScoreOptions, Settings
from pipelines.conflictscore.view import PAGE
from pipelines.data.jsonl import Dataset, read
from pipelines.data.records import Example
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs, judge_needs
from pipelines.judge.run_judge import threshold_of
from pipelines.report import glance


def plan(options: ScoreOptions) -> Plan[Example, Result]:
    """Read the responses and plan their scores."""
    dataset = read(options.data, on_error=options.on_error, limit=options.limit)
    settings = options.scoring
    # Read the whole file despite the limit, since the run can be resumed without one.
    unlimited = read(options.data, on_error="skip") if options.limit else dataset
    all_given = all(example.claims is not None for example in unlimited.examples)
    given = f"--judge {settings.judge} on responses that come with claims"
    needs = judge_needs(
        options,
        settings,
        asks=settings.needs_model(claims_given=all_given),
        unasked=f"{given}, which asks no language model" if settings.splits else "",
    )

    def work(models: RunModels) -> Sequence[Work[Example, Result]]:
        scorer = scorer_of(settings, models)
        return [
            Work(
                EXPERIMENT.name,
                scorer.config(dataset.name, dataset.digest),
                partial(conflict_score, scorer=scorer),
                judge=scorer.judge,
                facts={"skipped": dataset.skipped},
            )
        ]

    skipped = [f"line {bad.line} is skipped: {bad.error}" for bad in dataset.skipped]
    count = f"bad records skipped: {len(skipped):,}, listed in tables/failures"
    return Plan(
        dataset.examples,
        needs,
        work,
        "\n".join([_summary(dataset, settings, needs), *skipped]),
        remarks=[f"{count}; the first: {skipped[0]}"] if skipped else [],
        cost=lambda example: scoring(
            settings, example.response, len(example.documents), example.claims
        ),
        entries=lambda _: [EXPERIMENT.name],
    )


def _summary(data: Dataset, settings: Settings, needs: Needs) -> str:
    claims = "" if settings.claims == "atomic" else f", claims: {settings.claims}"
    responses = glance.count(len(data.examples), "response")
    summary = f"{responses} from {data.name}, judged by {settings.judge}{claims}"
    if settings.judge == "cascade" and needs.tagger is not None:
        summary += f"\n{threshold_of(settings, needs.tagger).in_words()}"
    return summary


EXPERIMENT = Experiment(
    name="conflictscore",
    title="ConflictScore",
    options=ScoreOptions,
    result=Result,
    plan=plan,
    failed=lambda example, reason: result(example, status="failed", error=reason),
    page=PAGE,
    metrics=METRICS,
    verdict=verdict,
    cluster=lambda result: result.group,
    labellings=OF_RESPONSES,
)
