"""The table of what failed, could not be asked, or could not be read."""

from collections.abc import Iterator, Sequence
from typing import Final

from pipelines.conflicts.evaluation.figures import JUDGE, RUN, WRITER
from pipelines.conflicts.evaluation.methods import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.evaluation.result import Outcome, QueryResult
from pipelines.conflicts.evaluation.scores import Part
from pipelines.report.table import Column, Row, Table
from pipelines.report.text import one_line

REASON_SHOWN: Final = 400
"""Characters of a reason."""

RAW_SHOWN: Final = 200
"""Characters of a reply that could not be read."""

Lost = tuple[str, str, str | None]
"""What was lost, why, and the reply."""


def failures(made: Sequence[Part], shown: int) -> Table:
    """Queries that failed, and replies that could not be read.

    Args:
        made: The runs.
        shown: Most rows.
    """
    rows: list[Row] = [
        (
            *(part.run, part.writer, part.judge, each.id, each.status, what),
            one_line(why, REASON_SHOWN),
            one_line(raw or "", RAW_SHOWN) or None,
        )
        for part in made
        for each in part.results
        for what, why, raw in lost(each)
    ]
    more = len(rows) - shown
    return Table(
        name="conflicts_failures",
        title="Failed and unreadable",
        caption="Nothing that is listed here has a value; failed and incomplete queries are tried "
        "again when the run is resumed.",
        columns=(
            *(RUN, WRITER, JUDGE),
            Column("query", "Query"),
            Column("status", "Status"),
            Column("what", "What"),
            Column("reason", "Reason"),
            Column("reply", "Beginning of the reply"),
        ),
        rows=tuple(rows[:shown]),
        notes=(f"{more:,} more stand in the results.",) if more > 0 else (),
    )


def lost(result: QueryResult) -> Iterator[Lost]:
    """What has no value of a query, in the order in which it was asked for."""
    if result.status == "failed":
        yield "query", result.error or "", None
        return
    for by, predicted in result.predictions.items():
        if predicted.problem is not None:
            yield f"type, {CLASSIFIERS[by]}", predicted.problem, predicted.raw
    for strategy, outcome in result.outcomes.items():
        for what, why, raw in _of_outcome(outcome):
            yield f"{what}, {STRATEGIES[strategy]}", why, raw


def _of_outcome(outcome: Outcome) -> Iterator[Lost]:
    answer, judged = outcome.answer, outcome.judged
    if answer.problem is not None:
        yield "answer", answer.problem, answer.raw
    if answer.prediction is not None and answer.prediction.problem is not None:
        yield "type with the answer", answer.prediction.problem, answer.prediction.raw
    if judged.adherence is not None and judged.adherence.adheres is None:
        yield "behaviour", judged.adherence.problem or "", judged.adherence.raw
    if judged.inclusion is not None and judged.inclusion.included is None:
        yield "recall", judged.inclusion.problem or "", judged.inclusion.raw
    for number, each in enumerate(judged.grounding.sentences if judged.grounding else (), 1):
        if each.grounds is None:
            yield f"grounding of sentence {number}", each.problem or "", each.raw
