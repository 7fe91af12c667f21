"""Planted conflicts: how well a labeller, or somebody's answers, notice them."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pipelines.conflictscore.decomposition import decomposition_prompt
from pipelines.conflictscore.detection.detect import detect
from pipelines.conflictscore.detection.example_scores import SCORES
from pipelines.conflictscore.experiment import config
from pipelines.conflictscore.pipeline import Scorer, conflict_score
from pipelines.conflictscore.planted import answers
from pipelines.conflictscore.planted.result import ANSWER, COPY, PlantedResult
from pipelines.conflictscore.presets import AS_IN_PAPER
from pipelines.conflictscore.relations import OF_EXAMPLES
from pipelines.conflictscore.settings import Settings
from pipelines.data.jsonl import Dataset, read_bytes
from pipelines.data.records import Example
from pipelines.errors import InputError
from pipelines.evidence.examples import Bench, ContestedClaim, read
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import judge_needs
from pipelines.experiment.options import Overflow, RunOptions, ServerOptions, judging
from pipelines.experiment.publish import Publication, Runs
from pipelines.option import Option, refuse_given
from pipelines.runs.folder import file_name

NAME: Final = "planted"

SAMPLES: Final = Path(__file__).parents[2] / "data" / "samples" / "planted.jsonl"
"""What `contested plant --limit 12 --keep-unchecked` makes of the bundled documents."""

HELP = """Measure who notices the conflicts that `contested plant` has put into documents.

Labels every document, and counts by kind how often a labeller finds the conflict and how often it
sees one where there is none. With --responses it scores answers of your own to the same examples,
too: does what they say of the planted fact admit the conflict? Leaves `planted.NAME.jsonl`,
`planted-errors.jsonl`, `tables/` and `report.html`. Runs with other labellers in the same folder
stand in one table.

Examples:
    contested run planted --data planted.jsonl --labeller nli --out results-planted

    contested run planted --data planted.jsonl --responses responses.jsonl --out results-planted
"""


class PlantedOptions(RunOptions, ServerOptions):
    """What a user may choose about planted conflicts."""

    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[Path, Option("The file of `contested plant`.", shown="bundled samples")] = (
        SAMPLES
    )
    responses: Annotated[
        Path | None,
        Option(
            "Answers of your own to score: JSON Lines with the `id` of an example and `response`."
        ),
    ] = None
    name: Annotated[
        str | None,
        Option(
            "What to call this run, so that one folder can hold two of a kind.",
            shown="nli, cascade, llm-choice, ...; with --responses and the file's name",
        ),
    ] = None
    on_overflow: Overflow = "error"
    metric: Settings = Settings()


def plan(options: PlantedOptions) -> Plan[ContestedClaim, PlantedResult]:
    """Read the examples, and answers to them; each is a claim with two documents.

    Raises:
        InputError: A file cannot be used, holds no plants, or options have no effect.
        ServingError: There is no such profile, or no such tagger.
    """
    bench = read(options.data, limit=options.limit)
    if bare := next((each for each in bench.examples if each.plant is None), None):
        raise InputError(
            f"{options.data}: '{bare.id}' is no planted example; make the file with `contested "
            "plant`, or take `contested run conflict-detection`"
        )
    settings = judging(options.metric, options.on_overflow)
    if options.responses is None:
        refuse_given(options.metric, ("claims", "k", "unevidenced"), "a run without --responses")
        given: Mapping[str, str] = {}
    else:
        given = answers.read(options.responses, bench.examples)
    name = file_name(options.name or _name(settings, options.responses))
    asks = settings.needs_model(claims_given=not given)
    needs = judge_needs(
        options,
        settings,
        asks=asks,
        unasked=f"--labeller {settings.labeller}"
        f"{f' --claims {settings.claims}' if given else ''}, which asks no language model",
    )

    def work(models: RunModels) -> Sequence[Work[ContestedClaim, PlantedResult]]:
        prompt = decomposition_prompt(settings.claims, models.prompts) if given else None
        scorer = Scorer(settings, models.judge(settings), models.client, prompt)
        each = partial(measured, scorer=scorer, given=given)
        about = _config(bench, scorer, options.responses)
        return [Work(f"{NAME}.{name}", about, each, judge=scorer.judge)]

    return Plan(bench.examples, needs, work, _summary(bench, given, name))


async def measured(
    example: ContestedClaim, scorer: Scorer, given: Mapping[str, str]
) -> PlantedResult:
    """Label the documents of an example; where there is an answer to it, score that, too.

    Beside it the first document is scored, as the answer of somebody who copies it. Raises what
    `conflict_score` raises.
    """
    found = await detect(example, scorer.judge.labeller)
    scored = {}
    if example.id in given:
        responses = {ANSWER: given[example.id], COPY: example.documents[0].text}
        for who, response in responses.items():
            asked = Example(
                id=f"{example.id}/{who}",
                group=example.group,
                variant=who,
                question=example.question,
                response=response,
                documents=example.documents,
            )
            scored[who] = await conflict_score(asked, scorer)
    return PlantedResult.model_validate(dict(found) | {"answers": scored})


def _name(settings: Settings, responses: Path | None) -> str:
    kind = settings.kind
    return kind if responses is None else f"{kind}-{responses.name.split('.')[0]}"


def _config(bench: Bench, scorer: Scorer, responses: Path | None) -> dict[str, Any]:
    """Everything that decides a result, for `run.json`."""
    about = config(Dataset(bench.name, bench.digest, ()), scorer)
    if responses is None:
        return about | {"settings": scorer.settings.judging()}
    digest = hashlib.sha256(read_bytes(responses)).hexdigest()
    return about | {"responses": {"name": responses.name, "sha256": digest}}


def _summary(bench: Bench, given: Mapping[str, str], name: str) -> str:
    examples = bench.examples
    told = (
        f"{len(examples):,} examples from {bench.name}, "
        f"{sum(each.conflict for each in examples):,} of them with a planted conflict, "
        f"to be judged by {name}"
    )
    if given:
        answered = sum(each.id in given for each in examples)
        told += f"\n{answered:,} of them have an answer, scored beside the first document"
    return told


def _publication(runs: Runs[PlantedResult]) -> Publication:
    from pipelines.conflictscore.planted.view import publication

    return publication(runs)


EXPERIMENT = Experiment(
    name=NAME,
    title="Planted conflicts",
    help=HELP,
    counted="examples",
    options=PlantedOptions,
    result=PlantedResult,
    plan=plan,
    failed=PlantedResult.failed,
    publish=_publication,
    common=("data",),
    scores=SCORES,
    verdict=lambda result: result.verdict,
    cluster=lambda result: result.example.group,
    labellings=OF_EXAMPLES,
)
"""The declaration."""
