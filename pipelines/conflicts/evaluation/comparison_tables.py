"""The tables that compare strategies: with Vanilla, and under right and wrong types."""

from collections.abc import Sequence
from typing import Final, Literal

from pipelines.conflicts.evaluation.figures import (
    BEHAVIOUR,
    GROUNDING,
    JUDGE,
    LEFT_OUT,
    PAIRED,
    RECALL,
    RULES,
    RUN,
    STRATEGY,
    WRITER,
    bonferroni,
    holding_difference,
    share,
    share_difference,
)
from pipelines.conflicts.evaluation.methods import STRATEGIES
from pipelines.conflicts.evaluation.result import QueryResult, Strategy
from pipelines.conflicts.evaluation.scores import (
    Part,
    adherence,
    measured,
    measures,
    shown_strategies,
    told,
)
from pipelines.report.table import Column, Row, Table

Told = Literal["right", "wrong", "nothing"]

SELF_TOLD: Final[tuple[Strategy, ...]] = ("pipeline", "taxonomy-aware")
"""Strategies whose answers are written under a type that may be wrong."""


def differences(made: Sequence[Part]) -> Table:
    """Every strategy less Vanilla, query by query."""
    rows: list[Row] = []
    for part in made:
        shown = shown_strategies(part.results)
        base = measures(part.results, "vanilla")
        for strategy in shown if "vanilla" in shown else ():
            if strategy != "vanilla":
                found = measures(part.results, strategy)
                names = (STRATEGIES[strategy], STRATEGIES["vanilla"])
                rows.append(
                    (
                        *(part.run, part.writer, part.judge, *names),
                        *holding_difference(found[0], base[0]),
                        *holding_difference(found[1], base[1]),
                        *share_difference(found[2], base[2]),
                    )
                )
    tested = sum(row[place] is not None for row in rows for place in (6, 9, 12))
    return Table(
        name="conflicts_differences",
        title="Differences from Vanilla",
        caption="Differences query by query, over the queries on which both strategies have a "
        "value.",
        columns=(
            *(RUN, WRITER, JUDGE),
            Column("first", "Strategy"),
            Column("second", "less"),
            *(BEHAVIOUR, Column("behaviour_p", "p (McNemar)")),
            Column("behaviour_queries", "Queries"),
            *(RECALL, Column("recall_p", "p (McNemar)"), Column("recall_queries", "Queries")),
            *(GROUNDING, Column("grounding_p", "p (sign flips)")),
            Column("grounding_queries", "Queries"),
        ),
        rows=tuple(rows),
        notes=(*bonferroni(len(rows), tested), PAIRED, RULES),
    )


def by_told(made: Sequence[Part]) -> Table:
    """Expected behaviour where the type that an answer was written under was right, and wrong."""
    rows: list[Row] = []
    for part in made:
        shown = shown_strategies(part.results)
        typed = [each for each in part.results if each.asked.conflict_type is not None]
        for strategy in (each for each in SELF_TOLD if each in shown):
            for kind, own in told_parts(typed, strategy).items():
                found = measured(own, strategy, adherence)
                rows.append(
                    (
                        *(part.run, part.writer, part.judge, STRATEGIES[strategy], kind),
                        *(len(own), found.missing.get("unreadable", 0)),
                        *(found.missing.get("unjudged", 0), share(found)),
                    )
                )
    return Table(
        name="conflicts_told",
        title="Under a right and under a wrong type",
        caption="Expected behaviour where the type that an answer was written under is the gold "
        "type, where it is another, and where there was none.",
        columns=(
            *(RUN, WRITER, JUDGE, STRATEGY),
            Column("told", "Type"),
            Column("queries", "Queries"),
            Column("unreadable", "Unreadable"),
            Column("unjudged", "No verdict"),
            BEHAVIOUR,
        ),
        rows=tuple(rows),
        notes=(
            "Pipeline is told the type; taxonomy-aware gives it with its answer. Failed queries "
            "and those without a gold type are left out.",
            LEFT_OUT,
            "Queries on which a type is easily told may be easier to answer, too: the difference "
            "between the rows is not the effect of the type.",
        ),
    )


def told_parts(own: Sequence[QueryResult], strategy: Strategy) -> dict[Told, list[QueryResult]]:
    """Results of a strategy, parted by whether its answer was written under the gold type."""
    found: dict[Told, list[QueryResult]] = {"right": [], "wrong": [], "nothing": []}
    for each in own:
        if each.status != "failed" and strategy in each.outcomes:
            given = told(strategy, each.outcomes[strategy])
            right: Told = "right" if given == each.asked.conflict_type else "wrong"
            found["nothing" if given is None else right].append(each)
    return found
