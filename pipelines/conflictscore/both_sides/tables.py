"""ConflictScore and trivial signs beside people's verdicts, in tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pipelines.conflictscore import view as scored
from pipelines.conflictscore.both_sides.experiment import (
    BASELINES,
    DECISIONS,
    PLAIN_DECISIONS,
    SIGNS,
    JudgedResult,
)
from pipelines.conflictscore.tables import mean_score, score_columns
from pipelines.data.wikicontradict import FROM_BOTH
from pipelines.evidence.judge import judge_named
from pipelines.experiment.publish import Publication, Runs
from pipelines.metrics.agreement import clustered_kappa
from pipelines.metrics.estimate import Estimate, mean, share
from pipelines.metrics.ranks import (
    AreaDifference,
    RankCorrelation,
    clustered_auc,
    clustered_difference,
    cross_validated,
    rank_correlation,
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


class Decided(NamedTuple):
    """People's verdicts and decisions on the answers of a run that have one."""

    run: str
    decision: str
    questions: Sequence[str]
    people: Sequence[bool]
    said: Sequence[bool]


def decided(run: str, decision: str, results: Sequence[JudgedResult]) -> Decided:
    """The answers that could be decided."""
    decide = DECISIONS.get(decision) or PLAIN_DECISIONS[decision]
    found = [
        (each, decide(each))
        for each in results
        if each.status == "scored" or decision in PLAIN_DECISIONS
    ]
    known = [(each.group, each.correct, said) for each, said in found if said is not None]
    return (
        Decided(run, decision, *map(list, zip(*known, strict=True)))
        if known
        else Decided(run, decision, (), (), ())
    )


def agreement(results: RunResults) -> Table:
    """How often decisions are people's."""
    return Table.of(
        [
            *(decided(run, each, own) for run, own in results.items() for each in DECISIONS),
            *(decided(WITHOUT, each, next(iter(results.values()), ())) for each in PLAIN_DECISIONS),
        ],
        name="both_sides_agreement",
        title="Yes or no",
        caption="Decisions on whether an answer shows both sides, beside people's.",
        columns=[
            Column("run", "Run", lambda own: own.run),
            Column("decision", "Yes where", lambda own: own.decision),
            Measure("accuracy", "Accuracy", _accuracy),
            Measure(
                "kappa",
                "Cohen's kappa",
                lambda own: clustered_kappa(own.people, own.said, own.questions),
            ),
            Measure("said_yes", "Says yes", lambda own: share(list(own.said))),
            Measure("people_yes", "People say yes", lambda own: share(list(own.people))),
            Column("answers", "Answers", lambda own: len(own.said)),
        ],
        notes=(
            "In brackets 95 % intervals: of accuracy by t and of kappa by bootstrap, clustered by "
            "question; of shares Wilson's.",
        ),
    )


def _accuracy(own: Decided) -> Estimate | None:
    right = [float(one == other) for one, other in zip(own.people, own.said, strict=True)]
    return mean(right, own.questions, bounds=(0, 1))


class Ranked(NamedTuple):
    """A sign's order of models, or of models under prompts, beside people's."""

    run: str
    sign: str
    of: str
    things: int
    found: RankCorrelation | None


def ranked(own: Signed, *, prompts: bool) -> Ranked:
    """Means of a sign per model beside the share of answers that people call correct."""
    groups: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for each, value in zip(own.results, own.values, strict=True):
        key = (each.model, each.prompt if prompts else "")
        groups.setdefault(key, []).append((value, each.correct))
    means = [
        [sum(column) / len(rows) for column in zip(*rows, strict=True)] for rows in groups.values()
    ]
    first, second = [row[0] for row in means], [row[1] for row in means]
    of = "models under prompts" if prompts else "models"
    return Ranked(own.run, own.sign, of, len(groups), rank_correlation(first, second))


def ranks(results: RunResults) -> Table:
    """Whether signs put models in people's order."""
    return Table.of(
        [ranked(own, prompts=prompts) for prompts in (False, True) for own in every_sign(results)],
        name="both_sides_ranks",
        title="Models in order",
        caption="Mean of a sign beside the share of answers that show both sides by people.",
        columns=[
            Column("run", "Run", lambda own: own.run),
            Column("of", "Of", lambda own: own.of),
            Column("things", "Number", lambda own: own.things),
            Column("sign", "Sign", lambda own: own.sign),
            Column("rho", "Spearman's rho", lambda own: own.found and own.found.rho),
            Column("p", "p", lambda own: own.found and own.found.p),
            Column("tau", "Kendall's tau", lambda own: own.found and own.found.tau),
        ],
        notes=(
            "p is of rho, by exchanging people's shares among models; it is uncorrected, and takes "
            "models as independent.",
        ),
    )


def models(results: RunResults) -> Table:
    """Each model under each prompt, by people and by ConflictScore."""
    groups: dict[tuple[str, str, str], list[JudgedResult]] = {}
    for run, own in results.items():
        for each in own:
            groups.setdefault((run, each.model, each.prompt), []).append(each)
    return Table.of(
        groups.items(),
        name="both_sides_models",
        title="Models",
        caption="Answers from two passages that contradict each other.",
        columns=[
            Column("run", "Run", lambda own: own[0][0]),
            Column("model", "Model", lambda own: own[0][1]),
            Column("prompt", "Prompt", lambda own: own[0][2]),
            Measure("both", "Both sides by people", lambda own: share([e.correct for e in own[1]])),
            *score_columns(lambda own, measure: mean_score(own[1], measure)),
            Column("answers", "Answers", lambda own: len(own[1])),
            Column("scored", "Scored", lambda own: sum(e.status == "scored" for e in own[1])),
        ],
    )


def all_tables(results: RunResults) -> list[Table]:
    """Every table, in the order of the page."""
    return [areas(results), agreement(results), ranks(results), models(results)]


_NAME = "both-sides"


def publication(runs: Runs[JudgedResult]) -> Publication:
    """Tables and view of what a folder has."""
    results = runs.results
    made = all_tables(results)
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
