"""Does ConflictScore tell answers that show both sides of a contradiction, as people do?"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pipelines.conflictscore.claims import decomposition_prompt
from pipelines.conflictscore.cost import scoring
from pipelines.conflictscore.experiment import config
from pipelines.conflictscore.pipeline import (
    METRICS,
    Scorer,
    conflict_score,
    relations_by_claim,
    verdict,
)
from pipelines.conflictscore.relations import OF_RESPONSES
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import probability
from pipelines.conflictscore.settings import AS_IN_PAPER, Settings
from pipelines.data.jsonl import Dataset
from pipelines.data.records import Document, Example
from pipelines.data.released import Part, in_part
from pipelines.data.wikicontradict import JudgedAnswer, Verdict, judged_answers
from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, Tokens
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import judge_needs
from pipelines.experiment.options import JudgedOptions, Overflow, RunOptions, judging
from pipelines.experiment.publish import Publication, Runs
from pipelines.files import read_bytes
from pipelines.judge.judgement import Relation
from pipelines.option import Option
from pipelines.runs.folder import file_name


class JudgedResult(Result):
    """The ConflictScore of an answer, which model wrote it how, and what people say of it.

    Its group is the question. `prompt` is one of `wikicontradict.FROM_BOTH`.
    """

    model: str
    prompt: str
    people: Verdict

    @property
    def correct(self) -> bool:
        """Whether people say that it gives the answers of both passages."""
        return self.people == "Correct"


Sign = Callable[[Result], float | None]
"""A number of an answer, higher where it rather shows both sides; None where it cannot be had."""

HEDGES: Final = re.compile(
    r"\b(?:however|although|though|while|whereas|but|according to|on the other hand|in contrast|"
    r"contradict\w*|conflict\w*|inconsisten\w*|discrepan\w*|disagree\w*|differ\w*)\b",
    re.IGNORECASE,
)
"""Words that set views side by side; the list was made before any answer was scored."""


def agreed(result: Result) -> float | None:
    """1 - CS-C: the share of claims that the passages do not dispute, in [0, 1]."""
    return None if result.cs_c is None else 1 - result.cs_c


def uncontradicted(result: Result) -> float | None:
    """1 - CS-R: one less the mean share of contradiction, in [0, 1]."""
    return None if result.cs_r is None else 1 - result.cs_r


def not_overstated(result: Result) -> bool | None:
    """Whether no claim is supported by one passage and contradicted by another."""
    return None if result.cs_c is None else result.cs_c == 0


def all_backed(result: Result) -> bool | None:
    """Whether every passage supports some claim; None where unreadable labels leave it open."""
    rows = relations_by_claim(result.judgements, len(result.documents))
    columns = list(zip(*rows, strict=True))
    backed = [Relation.SUPPORTS in column for column in columns]
    if not columns or all(backed):
        return all(backed) if columns else None
    open_ = (
        Relation.INVALID in column for column, own in zip(columns, backed, strict=True) if not own
    )
    return None if all(open_) else False


def least_support(result: Result) -> float | None:
    """Of the passage that supports the answer least, its greatest P(support), in [0, 1].

    A label without probabilities has 1 or 0; None if no passage was read.
    """
    best: dict[str, float] = {}
    for judgement in result.judgements:
        if judgement.relation is not Relation.INVALID:
            support = probability(judgement, Relation.SUPPORTS)
            best[judgement.document] = max(best.get(judgement.document, 0.0), support)
    return min(best.values(), default=None)


def hedges(result: Result) -> float:
    """How many `HEDGES` an answer has."""
    return float(len(HEDGES.findall(result.response)))


def length(result: Result) -> float:
    """How many words an answer has."""
    return float(len(result.response.split()))


def as_number(sign: Callable[[Result], bool | None]) -> Sign:
    """A sign of a yes or no: 1 or 0."""

    def number(result: Result) -> float | None:
        said = sign(result)
        return None if said is None else float(said)

    return number


SIGNS: Final[Mapping[str, Sign]] = {
    "1 − CS-C": agreed,
    "1 − CS-R": uncontradicted,
    "no claim in conflict": as_number(not_overstated),
    "both passages support a claim": as_number(all_backed),
    "least support of a passage": least_support,
    "both sides": lambda result: result.both_sides,
    "hedging words": hedges,
    "words": length,
}
"""By name, those of a model first."""

BASELINES: Final = ("hedging words", "words")
"""Those of `SIGNS` that need none."""

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
        Option(
            "What to call this run within its folder.", shown="tagger-sentences, model-atomic, ..."
        ),
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
    name = file_name(options.name or f"{settings.judge}-{settings.claims}")
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
    from pipelines.conflictscore.both_sides.tables import publication

    return publication(runs)


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
    metrics=METRICS,
    verdict=verdict,
    cluster=lambda result: result.group,
    labellings=OF_RESPONSES,
)
"""The declaration."""
