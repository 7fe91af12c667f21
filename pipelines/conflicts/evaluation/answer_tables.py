"""The tables of answers, in the layout of the paper's Tables 5 and 6."""

from collections.abc import Sequence
from typing import Final

from pipelines.conflicts.evaluation import paper
from pipelines.conflicts.evaluation.figures import (
    BEHAVIOUR,
    GROUNDING,
    HERE,
    JUDGE,
    LEFT_OUT,
    RECALL,
    RULES,
    RUN,
    STRATEGY,
    WRITER,
    mean_share,
    share,
    share_of_all,
)
from pipelines.conflicts.evaluation.methods import STRATEGIES
from pipelines.conflicts.evaluation.scores import (
    MERGED,
    Part,
    adherence,
    answered,
    measured,
    measures,
    of_types,
    shown_strategies,
)
from pipelines.conflicts.strategies import CHARACTERS
from pipelines.conflicts.taxonomy import TAXONOMY
from pipelines.report.table import Cell, Column, Row, Table

_UNJUDGED: Final = tuple(
    Column(f"{key}_unjudged", f"{title}, no verdict")
    for key, title in (
        ("behaviour", "Behaviour"),
        ("recall", "Recall"),
        ("grounding", "Grounding"),
    )
)
_INTERVALS: Final = (
    "In brackets 95 % intervals: Wilson of expected behaviour and answer recall, t of factual "
    "grounding."
)


def answers(made: Sequence[Part]) -> Table:
    """Table 5: every strategy, its three measures."""
    rows: list[Row] = []
    for part in made:
        for strategy in shown_strategies(part.results):
            behaviour, recall, grounded = measures(part.results, strategy)
            outcomes = answered(part.results, strategy).values()
            rows.append(
                (
                    *(part.run, part.writer, part.judge),
                    *(part.types if strategy == "pipeline" else None, STRATEGIES[strategy], HERE),
                    *(behaviour.queries, behaviour.failed),
                    sum(each.answer.problem is not None for each in outcomes),
                    sum(not each.answer.finished for each in outcomes),
                    *(share(behaviour), share_of_all(behaviour), share(recall)),
                    mean_share(grounded),
                    behaviour.missing.get("without", 0),
                    grounded.missing.get("without", 0),
                    *(each.missing.get("unjudged", 0) for each in (behaviour, recall, grounded)),
                )
            )
    quoted: list[Row] = [
        ("CONFLICTS", model, paper.JUDGE, None, STRATEGIES[strategy], "paper, Table 5",
         *(None,) * 5, *values, *(None,) * 5)
        for model, strategy, *values in paper.TABLE_5
    ]  # fmt: skip
    return Table(
        name="conflicts_answers",
        title="Answers",
        caption="A row is a strategy of asking; figures are over its answers.",
        columns=(
            *(RUN, WRITER, JUDGE),
            Column("types", "Types told to Pipeline"),
            STRATEGY,
            Column("figures", "Figures"),
            Column("queries", "Queries"),
            Column("failed", "Failed"),
            Column("unreadable", "Unreadable"),
            Column("cut", "Cut by tokens"),
            BEHAVIOUR,
            Column("behaviour_of_all", "Expected behaviour, unreadable as none", interval=True),
            *(RECALL, GROUNDING),
            Column("untyped", "No gold type"),
            Column("no_facts", "No factual sentence"),
            *_UNJUDGED,
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            RULES,
            LEFT_OUT,
            "A strategy that is often unreadable answers fewer queries than others do. The column "
            "that takes unreadable ones as not adhering leaves out those without a verdict alone; "
            "the paper's figures stand there, as nothing says that it left any out.",
            _INTERVALS,
            "Shares over all sentences are in conflicts_grounding.",
            "Cut by tokens: answers that reached --answer-tokens. Within the JSON of the "
            f"taxonomy-aware strategy the limit is {CHARACTERS} characters for each of these "
            "tokens, and those of exactly this length are counted.",
            "The paper's answers are of larger models and were judged by another one; figures of "
            "two judges cannot be compared, and its rows stand here for orientation.",
        ),
    )


def behaviour(made: Sequence[Part]) -> Table:
    """Table 6: expected behaviour by merged category, a column for each strategy."""
    rows: list[Row] = []
    for part in made:
        shown = shown_strategies(part.results)
        for category, types in MERGED.items() if shown else ():
            own = of_types(part.results, types)
            cells: list[Cell] = []
            for strategy in STRATEGIES:
                found = measured(own, strategy, adherence)
                cells += [share(found), len(found.values) if strategy in shown else None]
            rows.append((part.run, part.writer, part.judge, category, HERE, len(own), *cells))
    quoted: list[Row] = [
        ("CONFLICTS", paper.THINKING, paper.JUDGE, category, "paper, Table 6", None,
         *(cell for strategy in STRATEGIES for cell in (values[strategy], None)))
        for category, values in paper.TABLE_6
    ]  # fmt: skip
    return Table(
        name="conflicts_behaviour",
        title="Expected behaviour by category",
        caption="A row is a category, with outdated information and misinformation as one; a "
        "column is a strategy.",
        columns=(
            *(RUN, WRITER, JUDGE),
            Column("category", "Category"),
            Column("figures", "Figures"),
            Column("queries", "Queries"),
            *(
                column
                for strategy, title in STRATEGIES.items()
                for column in (
                    Column(strategy, title, interval=True),
                    Column(f"{strategy}_judged", "of judged"),
                )
            ),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            "Queries are all of the category. Those whose answer or verdict could not be read, or "
            "that failed, are not among the judged ones; conflicts_by_type counts each apart.",
            "In brackets 95 % Wilson intervals.",
        ),
    )


def by_type(made: Sequence[Part]) -> Table:
    """All three measures by gold type."""
    rows: list[Row] = []
    for part in made:
        for strategy in shown_strategies(part.results):
            for each in TAXONOMY:
                own = of_types(part.results, frozenset({each.type}))
                found = measures(own, strategy)
                outcomes = answered(own, strategy).values()
                rows.append(
                    (
                        *(part.run, part.writer, part.judge, STRATEGIES[strategy], each.short),
                        *(found[0].queries, found[0].failed),
                        sum(outcome.answer.problem is not None for outcome in outcomes),
                        *(share(found[0]), share(found[1]), mean_share(found[2])),
                        *(measure.missing.get("unjudged", 0) for measure in found),
                    )
                )
    return Table(
        name="conflicts_by_type",
        title="Answers by type",
        caption="A row is a gold type under a strategy.",
        columns=(
            *(RUN, WRITER, JUDGE, STRATEGY),
            Column("type", "Gold type"),
            Column("queries", "Queries"),
            Column("failed", "Failed"),
            Column("unreadable", "Unreadable"),
            *(BEHAVIOUR, RECALL, GROUNDING, *_UNJUDGED),
        ),
        rows=tuple(rows),
        notes=(RULES, LEFT_OUT, "Queries without a gold type are left out.", _INTERVALS),
    )
