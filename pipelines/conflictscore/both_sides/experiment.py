"""Does ConflictScore tell answers that show both sides of a contradiction, as people do?"""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pipelines.conflictscore.both_sides.tables import PAGE, JudgedResult
from pipelines.conflictscore.pipeline import Scorer, conflict_score, scorer_of, scoring
from pipelines.conflictscore.relations import OF_RESPONSES
from pipelines.conflictscore.result import METRICS, verdict
from pipelines.conflictscore.settings import AS_IN_PAPER, RunName, ScoredOptions, Settings
from pipelines.data.records import Document, Example
from pipelines.data.released import Part, in_part
from pipelines.data.wikicontradict import JudgedAnswer, judged_answers
from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, Tokens
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import judge_needs
from pipelines.files import read_bytes
from pipelines.option import Option
from pipelines.runs.folder import file_name

SAMPLES: Final = Path(__file__).parents[2] / "data" / "samples" / "both_sides.jsonl"
"""Answers of our own in the release's format, which show how it works and not how well."""

HELP = """Measure ConflictScore by people who say whether answers show both sides.

Answers are WikiContradict's: five models, two passages that contradict each other, two prompts.
Leaves areas under the ROC curve, beside answer length and hedging words. Runs with other judges
in the same folder stand in one table.

Examples:
    contested run both-sides --judge tagger --claims sentences --out results-both

    contested run both-sides --data wiki_contradict_simple_humaneval.jsonl --dry-run
"""


class BothSidesOptions(ScoredOptions):
    """What a user may choose about ConflictScore beside people."""

    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path,
        Option("wiki_contradict_simple_humaneval.jsonl of WikiContradict.", shown="a few of ours"),
    ] = SAMPLES
    half: Annotated[Part, Option("Which half of the questions.")] = "all"
    name: RunName = None


def plan(options: BothSidesOptions) -> Plan[JudgedAnswer, JudgedResult]:
    """Read the answers; each is scored against its two passages.

    Raises:
        InputError: The file cannot be used, or no answer is in the half.
        ServingError: There is no such profile, or no such tagger.
    """
    every = judged_answers(options.data)
    answers = in_part(every, options.half, lambda answer: answer.question)[: options.limit]
    if not answers:
        raise InputError(f"{options.data} has no answer in the half '{options.half}'; take all")
    settings = options.scoring
    name = file_name(options.name or f"{settings.judge}-{settings.claims}")
    needs = judge_needs(options, settings, asks=settings.needs_model(claims_given=False))
    digest, entry = hashlib.sha256(read_bytes(options.data)).hexdigest(), f"{NAME}.{name}"

    def work(models: RunModels) -> Sequence[Work[JudgedAnswer, JudgedResult]]:
        scorer = scorer_of(settings, models)
        config = scorer.config(options.data.name, digest) | {"half": options.half}
        return [Work(entry, config, partial(_scored, scorer=scorer), judge=scorer.judge)]

    questions = len({answer.question for answer in answers})
    both = sum(answer.both_sides for answer in answers)
    return Plan(
        answers,
        needs,
        work,
        f"{len(answers):,} answers to {questions:,} questions, half: {options.half}; people say of "
        f"{both:,} that they show both sides",
        cost=partial(cost, settings=settings),
        entries=lambda _: [entry],
    )


def cost(answer: JudgedAnswer, tokens: Tokens, settings: Settings) -> Cost:
    """As `scoring`: a call that splits the answer, and a judgement per claim and passage."""
    return scoring(settings, tokens, answer.answer, _example(answer).documents)


def _example(answer: JudgedAnswer) -> Example:
    """The answer as a response to its passages."""
    documents = (
        Document(id=f"passage {number}", text=text)
        for number, text in enumerate(answer.passages, 1)
    )
    return Example(
        id=answer.id,
        group=answer.question,
        variant=f"{answer.model}, {answer.prompt}",
        question=answer.question,
        response=answer.answer,
        documents=tuple(documents),
    )


async def _scored(answer: JudgedAnswer, scorer: Scorer) -> JudgedResult:
    return _result(answer, **dict(await conflict_score(_example(answer), scorer)))


def _result(answer: JudgedAnswer, **outcome: object) -> JudgedResult:
    about = {"model": answer.model, "prompt": answer.prompt, "people": answer.people}
    return JudgedResult.model_validate(dict(_example(answer)) | about | outcome)


NAME = "both-sides"

EXPERIMENT = Experiment(
    name=NAME,
    title="Both sides, by people",
    help=HELP,
    counted="answers",
    options=BothSidesOptions,
    result=JudgedResult,
    plan=plan,
    failed=lambda answer, reason: _result(answer, status="failed", error=reason),
    page=PAGE,
    common=("data", "half"),
    metrics=METRICS,
    verdict=verdict,
    cluster=lambda result: result.group,
    labellings=OF_RESPONSES,
)
"""The declaration."""
