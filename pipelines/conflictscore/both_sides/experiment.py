"""Does ConflictScore tell answers that show both sides of a contradiction, as people do?"""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pipelines.conflictscore.both_sides.result import JudgedResult
from pipelines.conflictscore.both_sides.signs import DECISIONS
from pipelines.conflictscore.cost import scoring
from pipelines.conflictscore.decomposition import decomposition_prompt
from pipelines.conflictscore.example_scores import SCORES, verdict
from pipelines.conflictscore.experiment import config
from pipelines.conflictscore.pipeline import Scorer, conflict_score
from pipelines.conflictscore.presets import AS_IN_PAPER
from pipelines.conflictscore.relations import OF_RESPONSES
from pipelines.conflictscore.settings import Settings
from pipelines.data.jsonl import Dataset
from pipelines.data.records import Document, Example
from pipelines.data.released import Part, in_part
from pipelines.data.wikicontradict import JudgedAnswer, judged_answers
from pipelines.errors import InputError
from pipelines.experiment.bounds import Cost, Tokens
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import judge_needs
from pipelines.experiment.options import JudgedOptions, Overflow, RunOptions, judging
from pipelines.experiment.publish import Publication, Runs
from pipelines.experiment.scores import Score, of_each
from pipelines.files import read_bytes
from pipelines.option import Option
from pipelines.runs.folder import file_name

SAMPLES: Final = Path(__file__).parents[2] / "data" / "samples" / "both_sides.jsonl"
"""Answers of our own in the release's format, which show how it works and not how well."""

HELP = """Measure ConflictScore by people who say whether answers show both sides.

Answers are WikiContradict's: five models, two passages that contradict each other, two prompts.
Leaves areas under the ROC curve, agreement, and rank correlation of models, beside answer length
and hedging words. Runs with other labellers in the same folder stand in one table.

Examples:
    contested run both-sides --labeller nli --claims sentences --out results-both

    contested run both-sides --data wiki_contradict_simple_humaneval.jsonl --dry-run
"""


class BothSidesOptions(RunOptions, JudgedOptions):
    """What a user may choose about ConflictScore beside people."""

    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path,
        Option("wiki_contradict_simple_humaneval.jsonl of WikiContradict.", shown="a few of ours"),
    ] = SAMPLES
    half: Annotated[Part, Option("Which half of the questions.")] = "all"
    name: Annotated[
        str | None,
        Option("What to call this run within its folder.", shown="nli-sentences, llm-atomic, ..."),
    ] = None
    on_overflow: Overflow = "error"
    metric: Settings = Settings()


def _example(own: JudgedAnswer) -> Example:
    """The answer as a response to its passages."""
    documents = (
        Document(id=f"passage {number}", text=text) for number, text in enumerate(own.passages, 1)
    )
    return Example(
        id=own.id,
        group=own.question,
        variant=f"{own.model}, {own.prompt}",
        question=own.question,
        response=own.answer,
        documents=tuple(documents),
    )


def _result(own: JudgedAnswer, **outcome: object) -> JudgedResult:
    about = {"model": own.model, "prompt": own.prompt, "people": own.people}
    return JudgedResult.model_validate(dict(_example(own)) | about | outcome)


def plan(options: BothSidesOptions) -> Plan[JudgedAnswer, JudgedResult]:
    """Read the answers; each is scored against its two passages.

    Raises:
        InputError: The file cannot be used, or no answer is in the half.
        ServingError: There is no such profile, or no such tagger.
    """
    every = judged_answers(options.data)
    answers = in_part(every, options.half, lambda each: each.question)[: options.limit]
    if not answers:
        raise InputError(f"{options.data} has no answer in the half '{options.half}'; take all")
    settings = judging(options.metric, options.on_overflow)
    name = file_name(options.name or f"{settings.labeller}-{settings.claims}")
    needs = judge_needs(options, settings, asks=settings.needs_model(claims_given=False))
    digest, entry = hashlib.sha256(read_bytes(options.data)).hexdigest(), f"{NAME}.{name}"

    def work(models: RunModels) -> Sequence[Work[JudgedAnswer, JudgedResult]]:
        prompt = decomposition_prompt(settings.claims, models.prompts)
        scorer = Scorer(settings, models.judge(settings), models.client, prompt)
        about = config(Dataset(options.data.name, digest, ()), scorer) | {"half": options.half}
        return [Work(entry, about, partial(_scored, scorer=scorer), judge=scorer.judge)]

    questions = len({each.question for each in answers})
    both = sum(each.both_sides for each in answers)
    told = (
        f"{len(answers):,} answers to {questions:,} questions, half: {options.half}; people say of "
        f"{both:,} that they show both sides"
    )
    return Plan(
        answers,
        needs,
        work,
        told,
        cost=partial(cost, settings=settings),
        entries=lambda _: [entry],
    )


def cost(own: JudgedAnswer, tokens: Tokens, settings: Settings) -> Cost:
    """As `scoring`: a call that splits the answer, and a judgement per claim and passage."""
    return scoring(settings, tokens, own.answer, _example(own).documents)


async def _scored(item: JudgedAnswer, scorer: Scorer) -> JudgedResult:
    return _result(item, **dict(await conflict_score(_example(item), scorer)))


def _publication(runs: Runs[JudgedResult]) -> Publication:
    from pipelines.conflictscore.both_sides.view import publication

    return publication(runs)


def _right(decision: str) -> Score[JudgedResult]:
    says = DECISIONS[decision]

    def right(result: JudgedResult) -> bool | None:
        said = says(result)
        return None if said is None else said == result.both_sides

    return Score(f"Agrees with people, by: {decision}", of_each(right), test="McNemar")


NAME = "both-sides"

EXPERIMENT = Experiment(
    name=NAME,
    title="Both sides, by people",
    help=HELP,
    counted="answers",
    options=BothSidesOptions,
    result=JudgedResult,
    plan=plan,
    failed=lambda item, reason: _result(item, status="failed", error=reason),
    publish=_publication,
    common=("data", "half"),
    scores={
        **SCORES,
        "right_by_conflict": _right("no claim in conflict"),
        "right_by_support": _right("both passages support a claim"),
    },
    verdict=verdict,
    cluster=lambda result: result.group,
    labellings=OF_RESPONSES,
)
"""The declaration."""
