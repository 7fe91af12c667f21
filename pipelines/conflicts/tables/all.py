"""All tables of a run, in the layout of the paper's Tables 2 and 4 to 7, and what failed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pipelines.conflicts.data import Statistic
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import Outcome, QueryResult
from pipelines.conflicts.tables import answers, sentences, types
from pipelines.conflicts.tables.scores import Part
from pipelines.report.failures import REASON, REPLY, WHAT, failed
from pipelines.report.failures import failures as failure_table
from pipelines.report.table import Column, Table

Lost = tuple[str, str, str | None]
"""What was lost, why, and the reply."""


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


_GROUPS: Final = {"type": "type (Table 2)", "origin": "origin (Table 7)", "all": "all queries"}


def all_tables(
    made: Sequence[Part], statistics: Mapping[str, Sequence[Statistic]] | None = None
) -> list[Table]:
    """Every table of a run folder, those without rows as well.

    Args:
        made: Its runs.
        statistics: Name of each data file -> its counts of Tables 2 and 7.
    """
    return [
        counts(statistics or {}),
        types.types(made),
        types.confusion(made),
        types.type_differences(made),
        types.coverage(made),
        answers.answers(made),
        answers.behaviour(made),
        answers.by_type(made),
        answers.differences(made),
        answers.by_told(made),
        sentences.grounds(made),
        sentences.citations(made),
        failures(made),
    ]


def counts(statistics: Mapping[str, Sequence[Statistic]]) -> Table:
    """Tables 2 and 7, and what section 3 says of all queries, beside the paper's figures."""
    return Table.of(
        [(file, each) for file, own in statistics.items() for each in own],
        name="conflicts_statistics",
        title="The data in numbers",
        caption="Counts of whole files, beside those of the paper.",
        columns=[
            Column("file", "File", lambda row: row[0]),
            Column("group", "By", lambda row: _GROUPS[row[1].group]),
            Column("name", "Name", lambda row: row[1].name),
            Column("value", "Here", lambda row: _whole(row[1].value)),
            Column("share", "Share", lambda row: row[1].share),
            Column("paper", "Paper", lambda row: _whole(row[1].paper)),
            Column("paper_share", "Its share", lambda row: row[1].paper_share),
        ],
        notes=(
            "A file may be a part of the release, which has 458 queries; so shares stand beside "
            "the counts.",
        ),
    )


class Place(NamedTuple):
    """Where something is lost."""

    part: Part
    result: QueryResult


def failures(made: Sequence[Part], most: int = 1_000) -> Table:
    """Queries that failed, and replies that could not be read; at most so many rows."""
    return failure_table(
        (
            failed(Place(part, each), what, why, reply)
            for part in made
            for each in part.results
            for what, why, reply in lost(each)
        ),
        name="conflicts_failures",
        title="Failed and unreadable",
        caption="Nothing that is listed here has a value; failed and incomplete queries are tried "
        "again when the run is resumed.",
        places=[
            *(answers.RUN, answers.WRITER, answers.JUDGE),
            Column("query", "Query", lambda at: at.result.id),
            Column("status", "Status", lambda at: at.result.status),
        ],
        said=(WHAT, REASON, REPLY),
        most=most,
    )


def _whole(value: float | None) -> float | None:
    """A count without decimals; a mean as it is."""
    return int(value) if value is not None and value == int(value) else value
