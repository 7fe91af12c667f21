"""ConflictScore over a file of responses, as often as is wanted."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, TypeAdapter, ValidationError

from pipelines.conflictscore.claims import decomposition_prompt
from pipelines.conflictscore.cost import scoring
from pipelines.conflictscore.drift import TAGGER_IS_STEADY, drift_table
from pipelines.conflictscore.pipeline import METRICS, Scorer, conflict_score, result, verdict
from pipelines.conflictscore.relations import OF_RESPONSES
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.settings import AS_IN_PAPER, Settings
from pipelines.data.jsonl import SAMPLES, Dataset, Skipped, read
from pipelines.data.records import Example
from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, Tokens
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs, judge_needs
from pipelines.experiment.options import JudgedOptions, Overflow, RunOptions, judging
from pipelines.experiment.publish import Publication, Runs
from pipelines.files import read_bytes, replace_text
from pipelines.judge.risk import ChosenThreshold, choose_threshold
from pipelines.judge.run_judge import judge_named, model_of
from pipelines.judge.tagger import calibrated
from pipelines.option import Option
from pipelines.report.table import brief, write
from pipelines.runs.folder import RunFolder

HELP = """Score every response of a file with ConflictScore.

Leaves in the run folder: `conflictscore.jsonl` (every claim, judgement and score), `tables/`, and
`report.html`, the page to read.

Examples:
    contested run conflictscore --data answers.jsonl --out results

    contested run conflictscore --data answers.jsonl --dry-run

    contested run conflictscore --judge tagger --claims sentences --out results-tagged
"""


class ScoreOptions(RunOptions, JudgedOptions):
    """What a user may choose about a run of ConflictScore."""

    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path,
        Option(
            "JSONL file of responses and documents; see docs/input.md.", shown="bundled samples"
        ),
    ] = SAMPLES
    repeat: Annotated[
        int, Field(ge=1), Option("Ask everything N times anew and measure the drift.")
    ] = 1
    on_overflow: Overflow = "error"
    metric: Settings = Settings()


def plan(options: ScoreOptions) -> Plan[Example, Result]:
    """Read the responses and say who scores them."""
    dataset = read(options.data, on_error=options.on_error, limit=options.limit)
    settings = judging(options.metric, options.on_overflow)
    # Of the whole file, whatever the limit: a run of its beginning is to be resumed without one.
    whole = read(options.data, on_error="skip") if options.limit else dataset
    brought = all(example.claims is not None for example in whole.examples)
    given = f"--judge {settings.judge} on responses that bring their claims along"
    needs = judge_needs(
        options,
        settings,
        asks=settings.needs_model(claims_given=brought),
        unasked=f"{given}, which asks no language model" if settings.splits else "",
    )

    def scorer_of(models: RunModels) -> Scorer:
        prompt = decomposition_prompt(settings.claims, models.prompts)
        return Scorer(settings, models.judge(settings), models.client, prompt)

    def work(models: RunModels, number: int) -> Work[Example, Result]:
        again = models.repeated(number)
        scorer, entry = scorer_of(again), _entry(number)
        return Work(
            entry,
            config(dataset, scorer),
            partial(conflict_score, scorer=scorer),
            judge=scorer.judge,
            client=again.client,
            begun=partial(_keep_skipped, models.folder, entry, dataset.skipped),
        )

    def afterwards(models: RunModels) -> None:
        if options.repeat > 1:
            kept = EXPERIMENT.results(models.folder)
            runs = [kept[_repeat_name(number)] for number in range(options.repeat)]
            write(drift_table(runs), models.folder.tables)

    remarks = [TAGGER_IS_STEADY] if options.repeat > 1 and settings.by_tagger else []
    if bad := dataset.skipped:
        remarks.append(
            f"bad records skipped: {len(bad):,}, listed in {EXPERIMENT.name}.skipped.jsonl; the "
            f"first is on line {bad[0].line}: {bad[0].error}"
        )
    return Plan(
        dataset.examples,
        needs,
        lambda models: [work(models, number) for number in range(options.repeat)],
        _summary(dataset, settings, needs, options.repeat),
        afterwards=afterwards,
        remarks=remarks,
        cost=partial(cost, settings=settings),
        entries=lambda _: [_entry(number) for number in range(options.repeat)],
    )


def cost(example: Example, tokens: Tokens, settings: Settings) -> Cost:
    """As `scoring`: a call that splits the response, and a judgement per claim and document."""
    response, documents = example.response, example.documents
    return scoring(settings, tokens, response, documents, example.claims)


def _summary(data: Dataset, settings: Settings, needs: Needs, repeat: int) -> str:
    claims = "" if settings.claims == "atomic" else f", claims: {settings.claims}"
    again = "" if repeat == 1 else f", {repeat} times"
    told = [
        f"{len(data.examples):,} responses from {data.name}, judged by {settings.judge}"
        f"{claims}{again}"
    ]
    if settings.judge == "cascade" and needs.tagger is not None:
        chosen = choose_threshold(calibrated(needs.tagger), settings.risk, needs.tagger.fitted_on)
        told.append(chosen.in_words())
    told += (f"line {bad.line} is skipped: {bad.error}" for bad in data.skipped)
    return "\n".join(told)


def config(data: Dataset, scorer: Scorer) -> dict[str, Any]:
    """Everything that decides a result, for `run.json`; not how many of them are made.

    `model` is the judge. Beside it stand `tagger` and `cascade` where they are used, and `splitter`
    where a model splits responses and judges nothing.
    """
    about: dict[str, Any] = {
        "data": {"name": data.name, "sha256": data.digest},
        "settings": scorer.settings.model_dump(),
        "prompts": {prompt.name: prompt.digest for prompt in scorer.prompts},
        "sampling": {"temperature": 0.0, "seed": 0},
        **scorer.about(),
    }
    if scorer.judge.model is None and scorer.client is not None:
        about["splitter"] = model_of(scorer.client)
    return about


def _repeat_name(number: int) -> str:
    return f"repeat-{number}" if number else ""


def _entry(number: int) -> str:
    return f"{EXPERIMENT.name}.{_repeat_name(number)}".rstrip(".")


def skipped(folder: RunFolder) -> list[Skipped]:
    """The lines of the input that were no records."""
    path = folder.path / f"{EXPERIMENT.name}.skipped.jsonl"
    try:
        lines = read_bytes(path).split(b"\n")[:-1] if path.exists() else []
        return [TypeAdapter(Skipped).validate_json(line) for line in lines]
    except ValidationError as error:
        raise InputError(
            f"{path} is damaged; run the same command again to have it made again"
        ) from error


def _keep_skipped(folder: RunFolder, entry: str, bad: Sequence[Skipped]) -> None:
    lines = (json.dumps(asdict(each), ensure_ascii=False) + "\n" for each in bad)
    replace_text(folder.path / f"{entry}.skipped.jsonl", "".join(lines))


def _publication(runs: Runs[Result]) -> Publication:
    from pipelines.conflictscore.tables import all_tables
    from pipelines.conflictscore.view import view

    entry, results = runs.entries[""], runs.results[""]
    config = entry["config"]
    chosen = ChosenThreshold.from_json(config["cascade"]) if "cascade" in config else None
    bad = skipped(runs.folder)
    name, data = judge_named(config), config["data"]["name"]
    made = all_tables(results, name, data, bad, chosen)
    shown = brief(made[0], "variant", "responses")
    return Publication(view(results, made, entry, bad, chosen), made, glance=shown)


EXPERIMENT = Experiment(
    name="conflictscore",
    title="ConflictScore",
    help=HELP,
    counted="responses",
    options=ScoreOptions,
    result=Result,
    plan=plan,
    failed=lambda example, reason: result(example, status="failed", error=reason),
    publish=_publication,
    metrics=METRICS,
    verdict=verdict,
    cluster=lambda result: result.group,
    labellings=OF_RESPONSES,
)
