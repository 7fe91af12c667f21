"""Conflict Detection over a file of examples, by one or several judges in one run folder."""

from collections.abc import Sequence
from functools import partial

from pipelines.conflictscore.detection.detect import RIGHT, DetectionResult, detect
from pipelines.conflictscore.detection.tables import PAGE
from pipelines.conflictscore.relations import OF_EXAMPLES
from pipelines.conflictscore.settings import DetectionOptions
from pipelines.experiment.cost import judging as judging_cost
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs, judge_needs
from pipelines.experiment.options import judging
from pipelines.judge.examples import Bench, ContestedClaim, read
from pipelines.judge.run_judge import threshold_of
from pipelines.judge.settings import JudgeSettings
from pipelines.runs.folder import file_name


def plan(options: DetectionOptions) -> Plan[ContestedClaim, DetectionResult]:
    """Read the examples, each one claim with its documents, and plan their judgements."""
    bench = read(options.data, limit=options.limit)
    settings = judging(options.judging, options.on_overflow)
    name = file_name(settings.kind if options.name is None else options.name)
    needs = judge_needs(options, settings)

    entry = f"{EXPERIMENT.name}.{name}"

    def work(models: RunModels) -> Sequence[Work[ContestedClaim, DetectionResult]]:
        judge = models.judge(settings)
        config = {
            "data": {"name": bench.name, "sha256": bench.digest},
            "settings": settings.judging(),
            "prompts": {prompt.name: prompt.digest for prompt in judge.prompts},
            "sampling": {"temperature": 0.0, "seed": 0},
            "judge": {"name": name, "identity": judge.label.identity},
            **judge.about(),
        }
        return [Work(entry, config, partial(detect, judge=judge.label), judge=judge)]

    return Plan(
        bench.examples,
        needs,
        work,
        _summary(bench, name, settings, needs),
        cost=lambda example: judging_cost(settings, len(example.documents), claims=1),
        entries=lambda _: [entry],
    )


def _summary(bench: Bench, name: str, settings: JudgeSettings, needs: Needs) -> str:
    judged = [
        (example.claim, document.as_read())
        for example in bench.examples
        for document in example.documents
    ]
    pairs = len(set(judged))
    summary = (
        f"{len(bench.examples):,} examples from {bench.name}, "
        f"{sum(example.conflict for example in bench.examples):,} of them with conflict\n"
        f"{len(judged):,} pairs of claim and document, {pairs:,} of them distinct, "
        f"to be judged by {name}"
    )
    if settings.judge == "cascade" and needs.tagger is not None:
        summary += f"\n{threshold_of(settings, needs.tagger).in_words()}"
    return summary


EXPERIMENT = Experiment(
    name="conflict-detection",
    title="Conflict Detection",
    options=DetectionOptions,
    result=DetectionResult,
    plan=plan,
    failed=DetectionResult.failed,
    page=PAGE,
    common=("data",),
    metrics=(RIGHT,),
    verdict=lambda result: result.verdict,
    cluster=lambda result: result.example.group,
    labellings=OF_EXAMPLES,
)
