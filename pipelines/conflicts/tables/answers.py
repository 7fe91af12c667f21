"""The tables of answers, in the layout of the paper's Tables 5 and 6, and of how strategies differ.

What a strategy's answers are worth is in `scores`.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from pipelines.conflicts import paper
from pipelines.conflicts.pipeline import STRATEGIES
from pipelines.conflicts.result import QueryResult, Strategy
from pipelines.conflicts.tables.scores import (
    MERGED,
    Missing,
    Part,
    Rule,
    Scores,
    Slice,
    adherence,
    answer_recall,
    grounding,
    of_types,
    slices,
)
from pipelines.conflicts.taxonomy import TAXONOMY
from pipelines.metrics.calibration import low_label_mass
from pipelines.report.compare import Pair, columns, correction
from pipelines.report.table import HERE, Column, Measure, Table, of_place

Rightness = Literal["right", "wrong", "nothing"]

SELF_TOLD: Final[tuple[Strategy, ...]] = ("pipeline", "taxonomy-aware")
"""Strategies whose answers are written under a type that may be wrong."""

LEFT_OUT: Final = (
    "Answers and verdicts that could not be read are counted in columns of their own. They have no "
    "value and enter no average: what could not be read is not taken for what is wrong."
)
RULES: Final = (
    "Expected behaviour is over queries with a gold type, answer recall over those that have one "
    "right answer, factual grounding the mean over answers of the share of supported sentences "
    "among those with factual information (section 4)."
)
INTERVALS: Final = (
    "In brackets 95 % intervals: Wilson of expected behaviour and answer recall, t of factual "
    "grounding."
)


RUN: Final = Column[Any]("run", "Run", lambda own: own.part.run)
WRITER: Final = Column[Any]("writer", "Model", lambda own: own.part.writer)
JUDGE: Final = Column[Any]("judge", "Judge", lambda own: own.part.judge)
"""Of whatever belongs to a part."""

STRATEGY: Final = Column[Slice]("strategy", "Strategy", lambda own: STRATEGIES[own.strategy])
QUERIES: Final = Column[Slice]("queries", "Queries", lambda own: own.scores(adherence).queries)
FAILED: Final = Column[Slice]("failed", "Failed", lambda own: own.scores(adherence).failed)
UNREADABLE: Final = Column[Slice]("unreadable", "Unreadable")
BEHAVIOUR: Final = Measure[Slice](
    "behaviour", "Expected behaviour", lambda own: own.scores(adherence).share
)
RECALL: Final = Measure[Slice](
    "recall", "Answer recall", lambda own: own.scores(answer_recall).share
)
GROUNDING: Final = Measure[Slice](
    "grounding", "Factual grounding", lambda own: own.scores(grounding).mean
)


def _missing(key: str, title: str, measure: Rule, why: Missing) -> Column[Slice]:
    return Column(key, title, lambda own: own.scores(measure).missing[why])


UNJUDGED: Final = (
    _missing("behaviour_unjudged", "Behaviour, no verdict", adherence, "unjudged"),
    _missing("recall_unjudged", "Recall, no verdict", answer_recall, "unjudged"),
    _missing("grounding_unjudged", "Grounding, no verdict", grounding, "unjudged"),
)


def answers(made: Sequence[Part]) -> Table:
    """Table 5: every strategy, its three measures."""
    return Table.of(
        slices(made),
        name="conflicts_answers",
        title="Answers",
        caption="A row is a strategy of asking; figures are over its answers.",
        columns=[
            *(RUN, WRITER, JUDGE),
            Column(
                "types",
                "Types told to Pipeline",
                lambda own: own.part.types if own.strategy == "pipeline" else None,
            ),
            *(STRATEGY, HERE, QUERIES, FAILED, UNREADABLE),
            Column(
                "cut",
                "Cut by tokens",
                lambda own: sum(not each.answer.finished for each in own.outcomes.values()),
            ),
            BEHAVIOUR,
            Measure(
                "behaviour_of_all",
                "Expected behaviour, unreadable as none",
                lambda own: own.scores(adherence).share_of_all,
            ),
            RECALL,
            Measure(
                "recall_of_all",
                "Answer recall, unreadable as none",
                lambda own: own.scores(answer_recall).share_of_all,
            ),
            GROUNDING,
            Measure(
                "grounding_of_all",
                "Factual grounding, unreadable as none",
                lambda own: own.scores(grounding).mean_of_all,
            ),
            _missing("untyped", "No gold type", adherence, "without"),
            _missing("no_facts", "No factual sentence", grounding, "without"),
            *UNJUDGED,
        ],
        quoted=paper.TABLE_5,
        notes=(
            RULES,
            LEFT_OUT,
            "A strategy that is often unreadable answers fewer queries than others do. The columns "
            "that take unreadable ones as none leave out those without a verdict alone; the "
            "paper's figures stand there, as nothing says that it left any out.",
            INTERVALS,
            "Shares over all sentences are in conflicts_grounding.",
            "Cut by tokens: answers that reached --answer-tokens; in the taxonomy-aware strategy "
            "these tokens and those of the explanation before it.",
            "The paper's answers are of larger models and were judged by another one; figures of "
            "two judges cannot be compared, and its rows stand here for orientation.",
        ),
    )


class Category(NamedTuple):
    """The results of a run in a category of Table 6."""

    part: Part
    name: str
    results: Sequence[QueryResult]


def behaviour(made: Sequence[Part]) -> Table:
    """Table 6: expected behaviour by merged category, a column for each strategy."""
    categories = [
        Category(part, name, of_types(part.results, types))
        for part in made
        if part.strategies
        for name, types in MERGED.items()
    ]

    def of(strategy: Strategy) -> tuple[Column[Category], Column[Category]]:
        def scores(own: Category) -> Scores:
            return Slice(own.part, strategy, own.results).scores(adherence)

        def judged(own: Category) -> int | None:
            return len(scores(own).values) if strategy in own.part.strategies else None

        return (
            Measure(strategy, STRATEGIES[strategy], lambda own: scores(own).share),
            Column(f"{strategy}_judged", "of judged", judged),
        )

    return Table.of(
        categories,
        name="conflicts_behaviour",
        title="Expected behaviour by category",
        caption="A row is a category, with outdated information and misinformation as one; a "
        "column is a strategy.",
        columns=[
            *(RUN, WRITER, JUDGE),
            Column("category", "Category", lambda own: own.name),
            HERE,
            Column("queries", "Queries", lambda own: len(own.results)),
            *(column for strategy in STRATEGIES for column in of(strategy)),
        ],
        quoted=paper.TABLE_6,
        notes=(
            "Queries are all of the category. Those whose answer or verdict could not be read, or "
            "that failed, are not among the judged ones; conflicts_by_type counts each apart.",
            "In brackets 95 % Wilson intervals.",
            *low_label_mass(
                verdict.mass
                for part in made
                for each in part.results
                for outcome in each.outcomes.values()
                if (verdict := outcome.judged.adherence)
            ),
        ),
    )


def by_type(made: Sequence[Part]) -> Table:
    """All three measures by gold type."""
    return Table.of(
        (
            Slice(own.part, own.strategy, of_types(own.results, {each.type}), each.short)
            for own in slices(made)
            for each in TAXONOMY
        ),
        name="conflicts_by_type",
        title="Answers by type",
        caption="A row is a gold type under a strategy.",
        columns=[
            *(RUN, WRITER, JUDGE, STRATEGY),
            Column("type", "Gold type", lambda own: own.name),
            *(QUERIES, FAILED, UNREADABLE, BEHAVIOUR, RECALL, GROUNDING, *UNJUDGED),
        ],
        notes=(RULES, LEFT_OUT, "Queries without a gold type are left out.", INTERVALS),
    )


def differences(made: Sequence[Part]) -> Table:
    """Every strategy less Vanilla, query by query."""
    every = slices(made)
    vanilla = {own.part.run: own for own in every if own.strategy == "vanilla"}
    pairs = [
        Pair(
            own,
            *(STRATEGIES[own.strategy], STRATEGIES[base.strategy]),
            measures={
                "behaviour": own.less(base, adherence, "McNemar"),
                "recall": own.less(base, answer_recall, "McNemar"),
                "grounding": own.less(base, grounding, "sign flips"),
            },
        )
        for own in every
        if own.strategy != "vanilla" and (base := vanilla.get(own.part.run))
    ]
    return Table.of(
        pairs,
        name="conflicts_differences",
        title="Differences from Vanilla",
        caption="Differences query by query, over the queries on which both strategies have a "
        "value.",
        columns=[
            *map(of_place, (RUN, WRITER, JUDGE)),
            Column("first", "Strategy"),
            Column("second", "less"),
            *columns("behaviour", BEHAVIOUR.title, "McNemar", n="behaviour_queries"),
            *columns("recall", RECALL.title, "McNemar", n="recall_queries"),
            *columns("grounding", GROUNDING.title, "sign flips", n="grounding_queries"),
        ],
        notes=(
            *correction(pairs),
            "In brackets the paired 95 % t interval. McNemar's test is exact; signs are flipped at "
            "random for factual grounding.",
            RULES,
        ),
    )


def by_told(made: Sequence[Part]) -> Table:
    """Expected behaviour where the type that an answer was written under was right, and wrong."""
    return Table.of(
        (
            Slice(own.part, own.strategy, results, kind)
            for own in slices(made)
            if own.strategy in SELF_TOLD
            for kind, results in _by_rightness(own).items()
        ),
        name="conflicts_told",
        title="Under a right and under a wrong type",
        caption="Expected behaviour where the type that an answer was written under is the gold "
        "type, where it is another, and where there was none.",
        columns=[
            *(RUN, WRITER, JUDGE, STRATEGY),
            Column("told", "Type", lambda own: own.name),
            *(QUERIES, UNREADABLE),
            _missing("unjudged", "No verdict", adherence, "unjudged"),
            BEHAVIOUR,
        ],
        notes=(
            "Pipeline is told the type; taxonomy-aware gives it with its answer. Failed queries "
            "and those without a gold type are left out.",
            LEFT_OUT,
            "Queries on which a type is easily told may be easier to answer, too: the difference "
            "between the rows is not the effect of the type.",
        ),
    )


def _by_rightness(own: Slice) -> dict[Rightness, list[QueryResult]]:
    """Results with a gold type, by whether it is the type that the answer was written under.

    That is the type that the model was told, or named itself.
    """
    found: dict[Rightness, list[QueryResult]] = {"right": [], "wrong": [], "nothing": []}
    for each in own.results:
        if each.asked.conflict_type is not None and each.id in own.outcomes:
            answer = own.outcomes[each.id].answer
            named = answer.prediction.type if answer.prediction else None
            given = named if own.strategy == "taxonomy-aware" else answer.told
            right: Rightness = "right" if given == each.asked.conflict_type else "wrong"
            found["nothing" if given is None else right].append(each)
    return found
