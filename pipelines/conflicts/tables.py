"""The tables of runs: the paper's Tables 2 and 4 to 7, and what failed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from pipelines.conflicts.data import Statistic
from pipelines.conflicts.metrics import (
    ANSWERS,
    BASELINES,
    BEHAVIOUR,
    BY_FORM,
    MAJORITY,
    MERGED,
    TYPE,
    Part,
    classified,
    of_types,
    shown_classifiers,
)
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import Outcome, QueryResult, Strategy
from pipelines.experiment.metric import columns, difference_table, pair
from pipelines.experiment.summary import Problem
from pipelines.metrics.calibration import low_label_mass
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import HERE, Column, Measure, Table, quote

PAPER_JUDGE: Final = "Gemini 2.5 Flash"
"""Judge of the answers of Tables 5 and 6 (section 5.2)."""

THINKING: Final = "Gemini 2.5 Flash Thinking"
"""The model of Table 6."""

TABLE_4: Final = quote(
    "writer accuracy",
    ("Gemma 3 27B", 0.539),
    ("Qwen 2.5 72B", 0.531),
    ("GPT-4o", 0.592),
    ("Gemini 2.0 Flash", 0.605),
    ("Gemini 2.5 Flash", 0.653),
    run="CONFLICTS",
    classifier=CLASSIFIERS["json"],
    figures="paper, Table 4",
)

TABLE_5: Final = quote(
    "writer strategy behaviour recall grounding",
    ("Gemma 3 27B", "Vanilla", 0.594, 0.890, 0.944),
    ("Gemma 3 27B", "Pipeline", 0.716, 0.899, 0.919),
    ("Gemma 3 27B", "Taxonomy-aware", 0.762, 0.860, 0.929),
    ("Gemma 3 27B", "Oracle", 0.876, 0.886, 0.933),
    ("Qwen 2.5 72B", "Vanilla", 0.642, 0.877, 0.905),
    ("Qwen 2.5 72B", "Pipeline", 0.675, 0.890, 0.882),
    ("Qwen 2.5 72B", "Taxonomy-aware", 0.683, 0.882, 0.894),
    ("Qwen 2.5 72B", "Oracle", 0.906, 0.873, 0.893),
    ("GPT-4o", "Vanilla", 0.672, 0.873, 0.912),
    ("GPT-4o", "Pipeline", 0.749, 0.873, 0.920),
    ("GPT-4o", "Taxonomy-aware", 0.700, 0.886, 0.940),
    ("GPT-4o", "Oracle", 0.886, 0.873, 0.914),
    ("Gemini 2.0 Flash", "Vanilla", 0.620, 0.908, 0.985),
    ("Gemini 2.0 Flash", "Pipeline", 0.753, 0.895, 0.966),
    ("Gemini 2.0 Flash", "Taxonomy-aware", 0.694, 0.890, 0.968),
    ("Gemini 2.0 Flash", "Oracle", 0.878, 0.904, 0.968),
    ("Gemini 2.5 Flash", "Vanilla", 0.657, 0.921, 0.968),
    ("Gemini 2.5 Flash", "Pipeline", 0.751, 0.908, 0.969),
    ("Gemini 2.5 Flash", "Taxonomy-aware", 0.699, 0.943, 0.962),
    ("Gemini 2.5 Flash", "Oracle", 0.880, 0.917, 0.968),
    (THINKING, "Vanilla", 0.683, 0.908, 0.962),
    (THINKING, "Pipeline", 0.766, 0.890, 0.961),
    (THINKING, "Taxonomy-aware", 0.736, 0.917, 0.970),
    (THINKING, "Oracle", 0.893, 0.899, 0.968),
    run="CONFLICTS",
    judge=PAPER_JUDGE,
    figures="paper, Table 5",
)

TABLE_6: Final = quote(
    "category vanilla pipeline taxonomy-aware oracle",
    ("No conflict", 0.784, 0.747, 0.710, 0.901),
    ("Complementary", 0.833, 0.833, 0.781, 0.947),
    ("Freshness and misinformation", 0.742, 0.758, 0.788, 0.803),
    ("Conflicting opinions", 0.362, 0.733, 0.698, 0.879),
    run="CONFLICTS",
    writer=THINKING,
    judge=PAPER_JUDGE,
    figures="paper, Table 6",
)
"""Expected behaviour of every strategy, in categories named as in `metrics.MERGED`."""


RUN: Final = Column[Any]("run", "Run", lambda row: row.part.run)
WRITER: Final = Column[Any]("writer", "Model", lambda row: row.part.writer)
JUDGE: Final = Column[Any]("judge", "Judge", lambda row: row.part.judge)
"""For all rows that belong to a part."""

RULES: Final = (
    "Expected behaviour is over queries with a gold type, and answer recall over queries with one "
    "right answer. Factual grounding is an answer's share of supported sentences among its factual "
    "ones, averaged over answers (section 4). An unreadable answer scores 0 on all three; an "
    "unreadable verdict is left out. Both are counted in their own columns."
)


def all_tables(
    made: Sequence[Part], statistics: Mapping[str, Sequence[Statistic]] | None = None
) -> list[Table]:
    """All tables of a run folder, including those without rows.

    Args:
        made: Its runs.
        statistics: Name of each data file -> its counts of Tables 2 and 7.
    """
    return [
        counts(statistics or {}),
        types(made),
        type_differences(made),
        answers(made),
        behaviour(made),
        answer_differences(made),
    ]


GROUPS: Final = {"type": "type (Table 2)", "origin": "origin (Table 7)", "all": "all queries"}


def counts(statistics: Mapping[str, Sequence[Statistic]]) -> Table:
    """Tables 2 and 7, and the figures of section 3 over all queries, beside the paper's."""
    return Table.of(
        [(file, statistic) for file, of_file in statistics.items() for statistic in of_file],
        name="conflicts_statistics",
        title="The data in numbers",
        caption="Counts of whole files, beside those of the paper.",
        columns=[
            Column("file", "File", lambda row: row[0]),
            Column("group", "By", lambda row: GROUPS[row[1].group]),
            Column("name", "Name", lambda row: row[1].name),
            Column("value", "Here", lambda row: _whole(row[1].value)),
            Column("paper", "Paper", lambda row: _whole(row[1].paper)),
        ],
        notes=("A file may be a part of the release, which has 458 queries.",),
    )


def _whole(value: float | None) -> float | None:
    """A count without decimals; a mean unchanged."""
    return int(value) if value is not None and value == int(value) else value


# Task 1: types.

WITHOUT_MODEL: Final = frozenset({*BASELINES, CLASSIFIERS["yes-no"]})
"""Classifiers that ask no language model."""


@dataclass(frozen=True)
class Classified:
    """A classifier, or a baseline, on the queries of a run."""

    part: Part
    method: str

    @property
    def results(self) -> Sequence[QueryResult]:
        """The part's results."""
        return self.part.results

    @property
    def unreadable(self) -> int:
        """Queries with a gold type for which it named none."""
        return [given for _, given in classified(self.results, self.method).values()].count(
            "unreadable"
        )


CLASSIFIER: Final = Column[Any]("classifier", "Classifier", lambda row: row.method)
MODEL: Final = Column[Any](
    *(WRITER.key, WRITER.title),
    lambda row: None if row.method in WITHOUT_MODEL else row.part.writer,
)


def types(made: Sequence[Part]) -> Table:
    """Table 4: every classifier, and the baselines that predict the most frequent type."""
    return Table.of(
        [
            Classified(part, classifier)
            for part in made
            if (shown := shown_classifiers(part.results))
            for classifier in (*shown, *BASELINES)
        ],
        name="conflicts_types",
        title="Conflict types",
        caption="One row per classifier; accuracy is the share of queries whose type it predicts.",
        columns=[
            *(RUN, MODEL, CLASSIFIER, HERE),
            Column("queries", "Queries", lambda row: len(row.results)),
            Column("failed", "Failed", lambda row: _failed(row.results)),
            Column("untyped", "No gold type", lambda row: _untyped(row.results)),
            Column("unreadable", "Unreadable"),
            *columns([TYPE]),
        ],
        quoted=TABLE_4,
        notes=(
            "Accuracy is over queries with a gold type; unreadable ones count as wrong. "
            "In brackets: 95 % Wilson intervals.",
            f"'{MAJORITY}' reads nothing and always predicts the most frequent type of these data; "
            f"a classifier must do better. '{BY_FORM}' only sees whether the question asks for yes "
            "or no; in CONFLICTS, those questions come from one collection. "
            f"'{CLASSIFIERS['yes-no']}' predicts opinions for yes-or-no questions, and no conflict "
            "for all others, whatever the data.",
            "The paper's rows were measured with larger models on all 458 queries.",
            *low_label_mass(
                (
                    predicted.mass
                    for part in made
                    for result in part.results
                    for predicted in result.predictions.values()
                ),
                "the language model's",
            ),
        ),
    )


def type_differences(made: Sequence[Part]) -> Table:
    """Every classifier minus every other of its run, query by query."""
    pairs = []
    for part in made:
        shown = shown_classifiers(part.results)
        for names in combinations((*shown, *BASELINES), 2) if shown else ():
            if names == BASELINES:
                continue
            first, second = (Classified(part, name) for name in names)
            pairs.append(pair(first, first, second, [TYPE]))
    return difference_table(
        pairs,
        [TYPE],
        (RUN, WRITER),
        method="Classifier",
        name="conflicts_type_differences",
        title="Differences between classifiers",
        caption="Accuracy by query: the first classifier minus the second.",
        notes=("In brackets: paired 95 % t intervals. McNemar's test is exact.",),
    )


# Task 2: answers.


@dataclass(frozen=True)
class Answers:
    """A strategy on the queries of a run, or on those of a category of Table 6."""

    part: Part
    method: Strategy
    category: str = ""

    @property
    def results(self) -> Sequence[QueryResult]:
        """The part's results in the category."""
        if not self.category:
            return self.part.results
        return of_types(self.part.results, MERGED[self.category])

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Query -> the strategy's outcome, if it was asked; including unreadable ones."""
        return {
            result.id: outcome
            for result in self.results
            if (outcome := result.outcomes.get(self.method)) is not None
        }

    @property
    def unreadable(self) -> int:
        """Answers that could not be read."""
        return sum(outcome.answer.problem is not None for outcome in self.outcomes.values())

    @property
    def unjudged(self) -> int:
        """Verdicts that could not be read."""
        kinds = (
            problem.what for outcome in self.outcomes.values() for problem in _of_outcome(outcome)
        )
        return sum(kind.startswith(("behaviour", "recall", "grounding")) for kind in kinds)


def every_strategy(made: Sequence[Part]) -> list[Answers]:
    """All results of every run under each of its strategies."""
    return [Answers(part, strategy) for part in made for strategy in part.strategies]


STRATEGY: Final = Column[Answers]("strategy", "Strategy", lambda row: STRATEGIES[row.method])


def answers(made: Sequence[Part]) -> Table:
    """Table 5: the three measures of every strategy."""
    return Table.of(
        every_strategy(made),
        name="conflicts_answers",
        title="Answers",
        caption="One row per strategy; figures are over its answers.",
        columns=[
            *(RUN, WRITER, JUDGE),
            Column(
                "types",
                "Types given to Pipeline",
                lambda row: row.part.types if row.method == "pipeline" else None,
            ),
            *(STRATEGY, HERE),
            Column("queries", "Queries", lambda row: len(row.outcomes) + _failed(row.results)),
            Column("failed", "Failed", lambda row: _failed(row.results)),
            Column("unreadable", "Unreadable"),
            Column("unjudged", "Unreadable verdicts"),
            Column(
                "cut",
                "Cut by tokens",
                lambda row: sum(not outcome.answer.finished for outcome in row.outcomes.values()),
            ),
            Column(
                "untyped",
                "No gold type",
                lambda row: _untyped([r for r in row.results if r.id in row.outcomes]),
            ),
            *columns(ANSWERS),
        ],
        quoted=TABLE_5,
        notes=(
            RULES,
            "In brackets: 95 % intervals, Wilson for expected behaviour and answer recall, t for "
            "factual grounding.",
            "Cut by tokens: answers that reached --answer-tokens, plus the explanation's limit in "
            "the taxonomy-aware strategy.",
            "The paper's answers come from larger models and another judge. Figures of different "
            "judges are not comparable; the paper's rows are for reference.",
        ),
    )


def behaviour(made: Sequence[Part]) -> Table:
    """Table 6: expected behaviour by merged category, a column for each strategy."""

    def columns_of(strategy: Strategy) -> tuple[Column[Answers], Column[Answers]]:
        def estimate(row: Answers) -> Estimate | None:
            return BEHAVIOUR.of(replace(row, method=strategy))

        def n(row: Answers) -> int | None:
            value = estimate(row)
            return value.n if value else 0 if strategy in row.part.strategies else None

        return Measure(strategy, STRATEGIES[strategy], estimate), Column(f"{strategy}_n", "n", n)

    return Table.of(
        [Answers(part, "vanilla", name) for part in made if part.strategies for name in MERGED],
        name="conflicts_behaviour",
        title="Expected behaviour by category",
        caption="One row per category (outdated information and misinformation count as one), one "
        "column per strategy.",
        columns=[
            *(RUN, WRITER, JUDGE),
            Column("category", "Category"),
            HERE,
            Column("queries", "Queries", lambda row: len(row.results)),
            *(column for strategy in STRATEGIES for column in columns_of(strategy)),
        ],
        quoted=TABLE_6,
        notes=(
            "Queries counts the whole category; n leaves out failures and unreadable verdicts.",
            "In brackets: 95 % Wilson intervals.",
        ),
    )


def answer_differences(made: Sequence[Part]) -> Table:
    """Every strategy minus Vanilla, query by query."""
    pairs = [
        pair(row, row, Answers(row.part, "vanilla"), ANSWERS)
        for row in every_strategy(made)
        if row.method != "vanilla" and "vanilla" in row.part.strategies
    ]
    return difference_table(
        pairs,
        ANSWERS,
        (RUN, WRITER, JUDGE),
        method="Strategy",
        name="conflicts_differences",
        title="Differences from Vanilla",
        caption="Differences by query, over those for which both strategies have a value.",
        notes=(
            "In brackets: paired 95 % t intervals. McNemar's test is exact; signs are flipped at "
            "random for factual grounding. n is the number of queries for expected behaviour.",
            RULES,
        ),
    )


def _failed(results: Sequence[QueryResult]) -> int:
    return sum(result.status == "failed" for result in results)


def _untyped(results: Sequence[QueryResult]) -> int:
    return sum(r.asked.conflict_type is None for r in results if r.status != "failed")


# Failures.


def problems(result: QueryResult) -> Iterator[Problem]:
    """The parts of a query's result without a value, in the order they were requested."""
    if result.status == "failed":
        yield Problem("failed", result.error or "")
        return
    for by, predicted in result.predictions.items():
        if predicted.problem is not None:
            yield Problem(f"type, {CLASSIFIERS[by]}", predicted.problem, predicted.raw)
    for strategy, outcome in result.outcomes.items():
        for problem in _of_outcome(outcome):
            yield problem._replace(what=f"{problem.what}, {STRATEGIES[strategy]}")


def _of_outcome(outcome: Outcome) -> Iterator[Problem]:
    answer, judged = outcome.answer, outcome.judged
    if answer.problem is not None:
        yield Problem("answer", answer.problem, answer.raw)
    if answer.prediction is not None and answer.prediction.problem is not None:
        yield Problem("type with the answer", answer.prediction.problem, answer.prediction.raw)
    if judged.adherence is not None and judged.adherence.adheres is None:
        yield Problem("behaviour", judged.adherence.problem or "", judged.adherence.raw)
    if judged.inclusion is not None and judged.inclusion.included is None:
        yield Problem("recall", judged.inclusion.problem or "", judged.inclusion.raw)
    for number, sentence in enumerate(judged.grounding.sentences if judged.grounding else (), 1):
        if sentence.grounds is None:
            what = f"grounding of sentence {number}"
            yield Problem(what, sentence.problem or "", sentence.raw)
