"""The judge of behaviour beside people, as an experiment (CONFLICTS, section 4)."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from pipelines.conflicts.judges.behaviour import behaviour
from pipelines.conflicts.judges.model import BEHAVIOUR, BehaviourForm, ModelJudge, model_judge
from pipelines.conflicts.judges.validation import (
    SAMPLES,
    LabelledAnswer,
    Rating,
    agreement,
    read,
    read_wikicontradict,
)
from pipelines.conflicts.judges.verdicts import Adherence
from pipelines.conflicts.presets import JUDGE_AS_IN_PAPER
from pipelines.conflicts.tables.judges import agreement_table, joined, verdict_table
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY
from pipelines.data.jsonl import read_bytes
from pipelines.data.released import Part, in_part
from pipelines.errors import InputError
from pipelines.evidence.judge import model_of
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import LlmOptions, RunOptions
from pipelines.experiment.publish import Publication, Runs
from pipelines.experiment.scores import Score, of_each
from pipelines.metrics.estimate import Estimate
from pipelines.option import Only, Option
from pipelines.report import explorer, glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import Example, ExperimentView, Facet
from pipelines.report.table import MISSING, Table
from pipelines.report.texts import Block, Heading, Text, noted, unread
from pipelines.report.views import RIGHT, UNREADABLE, WRONG, Mark, listed, words

NAME = "behaviour-judge"

HELP = """Measure the judge of expected behaviour by people's verdicts.

What a judge says of other answers is worth no more than this: its accuracy and Cohen's kappa, over
all answers and for each type. The bundled answers are our own, eight for each type, half of them as
they should be. With `--wikicontradict` they are five models' answers from two passages that
contradict each other, and people have said whether both sides are shown.

Examples:
    contested run behaviour-judge --behaviour choice --limit 4 --out results-judge

    contested run behaviour-judge --data judged.jsonl --dry-run
"""


class BehaviourOptions(RunOptions, LlmOptions):
    """What is judged, and by which model."""

    PRESETS: ClassVar = {"as_in_paper": JUDGE_AS_IN_PAPER}

    data: Annotated[
        Path, Option("Answers that people have judged; see docs/input.md.", shown="bundled samples")
    ] = SAMPLES
    wikicontradict: Annotated[
        Path | None,
        Option(
            "wiki_contradict_simple_humaneval.jsonl of WikiContradict, in place of --data.",
            only=Only(lambda own: "data" not in own.model_fields_set, "--data"),
        ),
    ] = None
    half: Annotated[
        Part,
        Option(
            "Which half of WikiContradict's questions.",
            only=Only(lambda own: own.wikicontradict is not None, "--data"),
        ),
    ] = "all"
    behaviour: Annotated[
        BehaviourForm,
        Option("Whether it judges with a reason, or with a probability in one token."),
    ] = "json"


class JudgedBehaviour(BaseModel):
    """A labelled answer with the judge's verdict; None of a failed one, with the reason."""

    model_config = ConfigDict(frozen=True)

    id: str
    labelled: LabelledAnswer
    status: Literal["judged", "failed"]
    adherence: Adherence | None = None
    error: str | None = None


def plan(options: BehaviourOptions) -> Plan[LabelledAnswer, JudgedBehaviour]:
    """Read labelled answers; each is judged once by its type.

    Raises:
        InputError: The file cannot be used, or no answer is in the half.
        ServingError: There is no such profile.
    """
    file = options.wikicontradict or options.data
    every = read(file) if options.wikicontradict is None else read_wikicontradict(file)
    answers = in_part(every, options.half, lambda each: each.query)[: options.limit]
    if not answers:
        raise InputError(f"{file} has no answer in the half '{options.half}'; take all")

    def work(models: RunModels) -> Sequence[Work[LabelledAnswer, JudgedBehaviour]]:
        judge = model_judge(models.asked, options.behaviour, models.prompts)
        prompts = [judge.templates[name] for name in BEHAVIOUR.values()]
        config = {
            "data": {"name": file.name, "sha256": hashlib.sha256(read_bytes(file)).hexdigest()},
            "half": options.half,
            "behaviour": options.behaviour,
            "prompts": {prompt.name: prompt.digest for prompt in prompts},
            "sampling": {"temperature": 0.0, "seed": 0},
            "model": model_of(models.asked),
        }
        return [Work(f"{NAME}.{options.behaviour}", config, partial(judged, judge=judge))]

    told = f"{len(answers):,} answers from {file.name}"
    return Plan(answers, Needs(role="judge"), work, told)


async def judged(item: LabelledAnswer, judge: ModelJudge) -> JudgedBehaviour:
    """Judge one answer by its type; raises as `behaviour`."""
    verdict = await behaviour(item.query, item.conflict_type, item.answer, judge)
    return JudgedBehaviour(id=item.id, labelled=item, status="judged", adherence=verdict)


def _ratings(results: Sequence[JudgedBehaviour]) -> list[Rating]:
    return [
        Rating(labelled=each.labelled, adherence=each.adherence)
        for each in results
        if each.adherence is not None
    ]


def _publication(runs: Runs[JudgedBehaviour]) -> Publication:
    made: list[tuple[Table, Table]] = []
    figures: list[tuple[str, Estimate | None]] = []
    for run, results in runs.results.items():
        ratings = _ratings(results)
        judge = f"{runs.configs[run]['model']['name']}, {run}"
        figures.append((judge, agreement(ratings).accuracy))
        data = runs.configs[run]["data"]["name"]
        made.append((agreement_table(ratings, judge, data), verdict_table(ratings, judge)))
    agreed, verdicts = (joined(own) for own in zip(*made, strict=True))
    failed = [
        f"{run}: {count:,} failed and are not among the answers."
        for run, own in runs.results.items()
        if (count := sum(each.status == "failed" for each in own))
    ]
    tables = [replace(agreed, notes=(*agreed.notes, *failed)), verdicts]
    every = [each for own in runs.results.values() for each in own]
    yes = agreement(_ratings(every)).always_yes
    lost = sum(each.adherence is None or each.adherence.adheres is None for each in every)
    beside = [("always yes", yes)]
    finding = glance.Finding(
        question="Does the judge of expected behaviour agree with people?",
        data=glance.data_of(runs.results, runs.configs, "answer"),
        models=", ".join(config["model"]["name"] for config in runs.configs.values()),
        found=f"Verdicts that agree: {glance.with_figures(figures) or MISSING}.",
        beside=glance.with_figures(beside),
        failed=glance.failed((lost, "answers without a readable verdict: {}")),
        examples=glance.fewest(each for _, each in figures),
        figures=figures,
        baselines=beside,
    )
    view = ExperimentView(
        name=NAME,
        title=EXPERIMENT.title,
        finding=finding,
        parts=(explorer.Part("Agreement", tuple(tables)),),
        facets=(
            Facet("Verdict", words((RIGHT, WRONG, UNREADABLE))),
            Facet("Type", tuple(each.short for each in TAXONOMY)),
        ),
        runs={run: run for run in runs.results},
        noun=("answer", "answers"),
        models=glance.models_used(runs.configs.values(), {"model": "judge"}),
        **listed(runs.results, _example),
    )
    return Publication(view, tables)


def _said(result: JudgedBehaviour) -> bool | None:
    """The judge's verdict; None where there is none that can be read."""
    return None if result.adherence is None else result.adherence.adheres


def _right(result: JudgedBehaviour) -> bool | None:
    said = _said(result)
    return None if said is None else said == result.labelled.adherent


def _mark(result: JudgedBehaviour) -> Mark:
    return {True: RIGHT, False: WRONG, None: UNREADABLE}[_right(result)]


def _example(run: str, result: JudgedBehaviour) -> Example:
    own = result.labelled
    return Example(
        id=result.id,
        run=run,
        title=own.query,
        status=result.status,
        blocks=partial(_content, result),
        about=(own.note,),
        chips=(_mark(result).chip,),
        facets={
            "Verdict": [_mark(result).words],
            "Type": [CATEGORY[own.conflict_type].short],
        },
        words=own.answer,
    )


_SAID = {True: "adheres", False: "does not", None: "unreadable"}


def _content(result: JudgedBehaviour) -> list[Block]:
    own, said = result.labelled, result.adherence
    verdict = _SAID[_said(result)]
    made: list[Block] = [
        Facts((fact("People", _SAID[own.adherent]), fact("Judge", verdict))),
        Heading("Answer"),
        Text(own.answer, "Answer"),
        *noted(own.note, "People"),
        *noted(result.error, "Failed"),
    ]
    if said is not None:
        made += [*noted(said.reason, "Judge"), *unread(said.problem, said.raw)]
    return made


EXPERIMENT = Experiment(
    name=NAME,
    title="Judge of behaviour",
    help=HELP,
    counted="answers",
    options=BehaviourOptions,
    result=JudgedBehaviour,
    plan=plan,
    failed=lambda item, reason: JudgedBehaviour(
        id=item.id, labelled=item, status="failed", error=reason
    ),
    publish=_publication,
    common=("data", "half"),
    scores={"right": Score("Verdicts that agree", of_each(_right), test="McNemar")},
    verdict=lambda result: _SAID[_said(result)],
    cluster=lambda result: result.labelled.query,
)
"""The declaration."""
