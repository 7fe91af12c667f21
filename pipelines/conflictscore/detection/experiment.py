"""Conflict Detection over a file of examples, by one or several judges in one run folder."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from pipelines.conflictscore.detection.detect import RIGHT, DetectionResult, detect
from pipelines.conflictscore.detection.tables import PAGE
from pipelines.conflictscore.relations import OF_EXAMPLES
from pipelines.conflictscore.settings import DETECTION_AS_IN_PAPER, RunName
from pipelines.experiment.cost import judging as judging_cost
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs, judge_needs
from pipelines.experiment.options import JudgedOptions, Overflow, RunOptions, judging
from pipelines.judge.examples import SAMPLES, Bench, ContestedClaim, read
from pipelines.judge.run_judge import threshold_of
from pipelines.judge.settings import JudgeSettings
from pipelines.option import Option
from pipelines.runs.folder import file_name

HELP = """Detect conflicting documents, and count how often a judge is right.

Leaves in the run folder: `conflict-detection.NAME.jsonl` (every example, label and decision),
`tables/` and `report.html`. Run it again with another judge and the same folder to have both in one
table.

Examples:
    contested run conflict-detection --judge tagger --out results-detection

    contested run conflict-detection --data bench.jsonl --out results-bench
"""


class DetectionOptions(RunOptions, JudgedOptions):
    """Options of Conflict Detection."""

    PRESETS: ClassVar = {"as_in_paper": DETECTION_AS_IN_PAPER}

    data: Annotated[
        Path,
        Option(
            "JSONL file of examples, of `contested lab conflictbench` or your own; see "
            "docs/conflict-detection.md.",
            shown="bundled samples",
        ),
    ] = SAMPLES
    name: RunName = None
    on_overflow: Overflow = "error"
    judging: JudgeSettings = JudgeSettings()


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
        cost=lambda each: judging_cost(settings, len(each.documents), claims=1),
        entries=lambda _: [entry],
    )


def _summary(bench: Bench, name: str, settings: JudgeSettings, needs: Needs) -> str:
    judged = [(claim, document.as_read()) for claim, document in bench.pairs()]
    pairs = len(set(judged))
    told = (
        f"{len(bench.examples):,} examples from {bench.name}, "
        f"{sum(example.conflict for example in bench.examples):,} of them with conflict\n"
        f"{len(judged):,} pairs of claim and document, {pairs:,} of them different, "
        f"to be judged by {name}"
    )
    if settings.judge == "cascade" and needs.tagger is not None:
        told += f"\n{threshold_of(settings, needs.tagger).in_words()}"
    return told


EXPERIMENT = Experiment(
    name="conflict-detection",
    title="Conflict Detection",
    help=HELP,
    counted="examples",
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
