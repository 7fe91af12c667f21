"""ConflictScore and trivial signs beside people's verdicts, in tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pipelines.conflictscore import view as scored
from pipelines.conflictscore.both_sides.experiment import (
    BASELINES,
    SIGNS,
    JudgedResult,
)
from pipelines.data.wikicontradict import FROM_BOTH
from pipelines.experiment.publish import Publication, Runs
from pipelines.judge.run_judge import judge_named
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ranks import (
    AreaDifference,
    clustered_auc,
    clustered_difference,
    cross_validated,
)
from pipelines.report import glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import Example, ExperimentView, Facet, Part
from pipelines.report.table import MISSING, Column, Measure, Table
from pipelines.report.texts import Block, Chip
from pipelines.report.views import listed

WITHOUT = "no model"
"""In place of a run's name, where what stands in a row asks no model."""

RunResults = Mapping[str, Sequence[JudgedResult]]


class Signed(NamedTuple):
    """The answers of a run that have a sign, with its values, and how many have none."""

    run: str
    sign: str
    results: Sequence[JudgedResult]
    values: Sequence[float]
    without: int

    @property
    def people(self) -> list[bool]:
        """Whether people say that the answers show both sides."""
        return [each.correct for each in self.results]

    @property
    def questions(self) -> list[str]:
        """The clusters."""
        return [each.group for each in self.results]

    @property
    def area(self) -> Estimate | None:
        """The area under its ROC curve."""
        return clustered_auc(self.values, self.people, self.questions)


def signed(run: str, sign: str, results: Sequence[JudgedResult]) -> Signed:
    """The answers with a sign, of those that could be scored where a model has a part in it."""
    found = [
        (each, SIGNS[sign](each))
        for each in results
        if each.status == "scored" or sign in BASELINES
    ]
    known = [(each, value) for each, value in found if value is not None]
    own, values = [each for each, _ in known], [value for _, value in known]
    return Signed(run, sign, own, values, len(results) - len(known))


def joined(run: str, results: Sequence[JudgedResult]) -> Signed:
    """Both sides and hedging words, weighed by a regression that has not seen the question."""
    own = signed(run, "both sides", results)
    pairs = zip(own.values, _hedging_words(own.results), strict=True)
    values = cross_validated([*pairs], own.people, own.questions)
    kept = own.results if values else ()
    return Signed(run, "both sides and hedging words", kept, values, len(results) - len(kept))


def every_sign(results: RunResults) -> list[Signed]:
    """The signs that answers have: each run's, then once those that need no model."""
    by_model = [sign for sign in SIGNS if sign not in BASELINES]
    rows = [signed(run, sign, own) for run, own in results.items() for sign in by_model]
    rows += [joined(run, own) for run, own in results.items()]
    first = next(iter(results.values()), ())
    rows += [signed(WITHOUT, sign, first) for sign in BASELINES]
    return [row for row in rows if row.results]


def areas(results: RunResults) -> Table:
    """How well each sign tells answers that show both sides, beside what needs no model."""
    return Table.of(
        [(each, _beyond_hedges(each)) for each in every_sign(results)],
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
            "In brackets 95 % intervals of a bootstrap over questions; p of exchanging the two "
            "signs question by question, uncorrected.",
            "Both sides and hedging words: two weights of a logistic regression, learned from the "
            "other questions (five folds).",
            "An answer shows both sides where people called it correct, which wants the answers of "
            "both passages. Questions whose two passages are the same text are left out.",
        ),
    )


def _beyond_hedges(own: Signed) -> AreaDifference | None:
    """The area less that of counting hedging words on the same answers, with p."""
    if own.sign == BASELINES[0]:
        return None
    beside = _hedging_words(own.results)
    return clustered_difference(own.values, beside, own.people, own.questions)


def _hedging_words(results: Sequence[JudgedResult]) -> list[float]:
    return [SIGNS[BASELINES[0]](each) or 0.0 for each in results]


_NAME = "both-sides"


def publication(runs: Runs[JudgedResult]) -> Publication:
    """Tables and view of what a folder has."""
    results = runs.results
    made = [areas(results)]
    configs = list(runs.configs.values())
    figures = [
        (f"{sign}, {run}", signed(run, sign, own).area)
        for run, own in results.items()
        for sign in ("1 − CS-C", "both sides")
    ]
    one = next(iter(results.items()))
    beside = [(sign, signed(one[0], sign, one[1]).area) for sign in BASELINES]
    unscored = sum(each.status != "scored" for own in results.values() for each in own)
    finding = glance.Finding(
        question="Does ConflictScore tell answers that show both sides, as people do?",
        data=glance.data_of(results, runs.configs, "answer"),
        models="; ".join(f"{run}: {judge_named(runs.configs[run])}" for run in results),
        found="Area under the ROC curve, by people's verdicts: "
        f"{glance.with_figures(figures, glance.figure) or MISSING}. Guessing has 0.50.",
        beside=glance.with_figures(beside, glance.figure),
        failed=glance.failed((unscored, "answers that could not be scored: {}")),
        examples=glance.fewest(each for _, each in figures),
        figures=figures,
        baselines=beside,
    )
    models = dict.fromkeys(each.model for own in results.values() for each in own)
    view = ExperimentView(
        name=_NAME,
        title="Both sides, by people",
        finding=finding,
        parts=(Part("By people", tuple(made)),),
        facets=(
            Facet("People", tuple(_SAID.values())),
            Facet("Model", tuple(models)),
            Facet("Prompt", tuple(FROM_BOTH.values())),
        ),
        runs={run: run for run in results},
        noun=("answer", "answers"),
        models=glance.judge_models(*configs),
        **listed(results, example),
    )
    return Publication(view, made)


_SAID = {True: "both sides", False: "not both sides"}


def example(run: str, result: JudgedResult) -> Example:
    """An answer in the list: what people say before what ConflictScore says."""
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
    said = Facts((people, fact("ConflictScore", *result.figures())))
    return [said, *scored.content(result)]
