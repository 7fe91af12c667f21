"""Does ConflictScore recognise answers that show both sides of a contradiction, as people do?"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from pipelines.conflictscore import view as scored
from pipelines.conflictscore.pipeline import Scorer, conflict_score, scorer_of, scoring
from pipelines.conflictscore.relations import OF_RESPONSES
from pipelines.conflictscore.result import METRICS, Result, verdict
from pipelines.conflictscore.settings import BothSidesOptions
from pipelines.data.records import Document, Example
from pipelines.data.released import in_part
from pipelines.data.wikicontradict import FROM_BOTH, JudgedAnswer, Verdict, judged_answers
from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import judge_needs
from pipelines.experiment.summary import Figure, Page
from pipelines.files import sha256_of
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ranks import (
    AreaDifference,
    clustered_auc,
    clustered_difference,
    cross_validated,
)
from pipelines.report import explorer
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import Facet
from pipelines.report.table import Column, Measure, Table
from pipelines.report.texts import Block, Chip
from pipelines.runs.folder import file_name


class JudgedResult(Result):
    """The ConflictScore of an answer, the model and prompt that wrote it, and people's verdict.

    Its group is the question. `prompt` is one of `wikicontradict.FROM_BOTH`.
    """

    model: str
    prompt: str
    people: Verdict

    @property
    def correct(self) -> bool:
        """Whether people say that it gives the answers of both passages."""
        return self.people == "Correct"


HEDGES: Final = re.compile(
    r"\b(?:however|although|though|while|whereas|but|according to|on the other hand|in contrast|"
    r"contradict\w*|conflict\w*|inconsisten\w*|discrepan\w*|disagree\w*|differ\w*)\b",
    re.IGNORECASE,
)
"""Words that set views side by side; the list was fixed before any answer was scored."""


def hedges(result: JudgedResult) -> float:
    """Number of `HEDGES` in an answer."""
    return float(len(HEDGES.findall(result.response)))


def _less_from_one(score: float | None) -> float | None:
    return None if score is None else 1 - score


SIGNS: Final[Mapping[str, Callable[[JudgedResult], float | None]]] = {
    "1 − CS-C": lambda result: _less_from_one(result.cs_c),
    "1 − CS-R": lambda result: _less_from_one(result.cs_r),
    "both sides": lambda result: result.both_sides,
    "hedging words": hedges,
    "words": lambda result: float(len(result.response.split())),
}
"""Numbers that are higher for answers that show both sides; those that need a model first."""

BASELINES: Final = ("hedging words", "words")
"""Names of the `SIGNS` that need no model."""

WITHOUT = "no model"
"""Shown instead of a run's name in rows that need no model."""

RunResults = Mapping[str, Sequence[JudgedResult]]


@dataclass(frozen=True)
class Signed:
    """The values of a sign for a run's answers; `without` counts the answers that have none."""

    run: str
    sign: str
    results: Sequence[JudgedResult]
    values: Sequence[float]
    without: int

    @classmethod
    def of(cls, run: str, sign: str, results: Sequence[JudgedResult]) -> "Signed":
        """The answers that have the sign; signs that need a model need a scored answer."""
        usable = [result for result in results if result.status == "scored" or sign in BASELINES]
        pairs = [(result, value) for result in usable if (value := SIGNS[sign](result)) is not None]
        answers, values = [result for result, _ in pairs], [value for _, value in pairs]
        return cls(run, sign, answers, values, len(results) - len(pairs))

    @property
    def people(self) -> list[bool]:
        """Whether people say that the answers show both sides."""
        return [result.correct for result in self.results]

    @property
    def questions(self) -> list[str]:
        """The clusters for intervals."""
        return [result.group for result in self.results]

    @property
    def area(self) -> Estimate | None:
        """The area under its ROC curve."""
        return clustered_auc(self.values, self.people, self.questions)

    def beyond_hedges(self) -> AreaDifference | None:
        """The area minus that of counting hedging words on the same answers, with its p-value."""
        if self.sign == BASELINES[0]:
            return None
        counts = [hedges(result) for result in self.results]
        return clustered_difference(self.values, counts, self.people, self.questions)


def joined(run: str, results: Sequence[JudgedResult]) -> Signed:
    """Both sides and hedging words, combined by a regression fitted on other questions."""
    signed = Signed.of(run, "both sides", results)
    pairs = zip(signed.values, map(hedges, signed.results), strict=True)
    values = cross_validated([*pairs], signed.people, signed.questions)
    kept = signed.results if values else ()
    return Signed(run, "both sides and hedging words", kept, values, len(results) - len(kept))


def every_sign(results: RunResults) -> list[Signed]:
    """The signs that need a model, run by run, then, once, those that need none."""
    by_model = [sign for sign in SIGNS if sign not in BASELINES]
    rows = [Signed.of(run, sign, part) for run, part in results.items() for sign in by_model]
    rows += [joined(run, part) for run, part in results.items()]
    first = next(iter(results.values()), ())
    rows += [Signed.of(WITHOUT, sign, first) for sign in BASELINES]
    return [row for row in rows if row.results]


def areas(results: RunResults) -> Table:
    """How well each sign recognises answers that show both sides, with baselines."""
    return Table.of(
        [(signed, signed.beyond_hedges()) for signed in every_sign(results)],
        name="both_sides_areas",
        title="Which answers show both sides?",
        caption="Area under the ROC curve against people's verdicts; guessing has 0.5.",
        columns=[
            Column("run", "Run", lambda row: row[0].run),
            Column("sign", "Sign", lambda row: row[0].sign),
            Measure("area", "AUC", lambda row: row[0].area),
            Measure(
                "beyond", "Beyond hedging words", lambda row: row[1].difference if row[1] else None
            ),
            Column("p", "p", lambda row: row[1].p if row[1] else None),
            Column("answers", "Answers", lambda row: len(row[0].results)),
            Column("both", "Both, by people", lambda row: sum(row[0].people)),
            Column("questions", "Questions", lambda row: len(set(row[0].questions))),
            Column("without", "Not scored", lambda row: row[0].without),
        ],
        notes=(
            "In brackets: 95 % bootstrap intervals over questions. p: a permutation test that "
            "exchanges the two signs question by question, uncorrected.",
            "Both sides and hedging words: two weights of a logistic regression, learned from the "
            "other questions (five folds).",
            "An answer counts as showing both sides if people called it correct, which requires "
            "the answers of both passages. Questions whose two passages are the same text are left "
            "out.",
        ),
    )


_SAID = {True: "both sides", False: "not both sides"}


def example(run: str, result: JudgedResult) -> explorer.Example:
    """An answer in the list: people's verdict before ConflictScore's."""
    shown = scored.example(run, result)
    people = Chip(_SAID[result.correct], "support" if result.correct else "outline")
    return replace(
        shown,
        blocks=partial(_content, result),
        chips=(people, *shown.chips),
        facets={
            "People": [_SAID[result.correct]],
            "Model": [result.model],
            "Prompt": [result.prompt],
        },
    )


def _content(result: JudgedResult) -> list[Block]:
    people = fact("People", result.people.lower())
    facts = Facts((people, fact("ConflictScore", *result.figures())))
    return [facts, *scored.content(result)]


PAGE: Final = Page(
    question="Does ConflictScore recognise answers that show both sides, as people do?",
    tables=lambda runs: [areas(runs.results)],
    figures=(
        Figure(
            *("both_sides_areas", "area", "sign"),
            said="AUC by people's verdicts (guessing has 0.50)",
            ours=("1 − CS-C", "both sides"),
            trivial=BASELINES,
        ),
    ),
    example=example,
    problems=scored.problems,
    failures="both_sides_failures",
    facets=(Facet("People", tuple(_SAID.values())), Facet("Prompt", tuple(FROM_BOTH.values()))),
)


def plan(options: BothSidesOptions) -> Plan[JudgedAnswer, JudgedResult]:
    """Read the answers and plan to score each against its two passages.

    Raises:
        InputError: The file cannot be used, or the half has no answers.
        ServingError: The profile or the tagger is missing.
    """
    judged = judged_answers(options.data)
    answers = in_part(judged, options.half, lambda answer: answer.question)[: options.limit]
    if not answers:
        raise InputError(
            f"{options.data} has no answer in the half '{options.half}'; use --half all"
        )
    settings = options.scoring
    name = file_name(options.name or f"{settings.judge}-{settings.claims}")
    needs = judge_needs(options, settings, asks=settings.needs_model(claims_given=False))
    digest, entry = sha256_of(options.data), f"{NAME}.{name}"

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
        f"{len(answers):,} answers to {questions:,} questions, half: {options.half}; people say "
        f"that {both:,} of them show both sides",
        cost=lambda judged: scoring(settings, judged.answer, len(judged.passages)),
        entries=lambda _: [entry],
    )


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
"""The experiment."""
