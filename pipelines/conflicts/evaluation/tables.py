"""The tables of runs, in the layout of the paper's Tables 2 and 4 to 7."""

from collections.abc import Mapping, Sequence
from typing import Final

from pipelines.conflicts.evaluation.answer_tables import answers, behaviour, by_type
from pipelines.conflicts.evaluation.comparison_tables import by_told, differences
from pipelines.conflicts.evaluation.failures import failures
from pipelines.conflicts.evaluation.scores import Results, parts
from pipelines.conflicts.evaluation.sentence_tables import citations, grounds
from pipelines.conflicts.evaluation.statistics import Statistic
from pipelines.conflicts.evaluation.type_tables import (
    confusion,
    coverage,
    type_differences,
    types,
)
from pipelines.report.table import Column, Row, Table

_GROUPS: Final = {"type": "type (Table 2)", "origin": "origin (Table 7)", "all": "all queries"}


def all_tables(
    results: Results,
    model_of: Mapping[str, Mapping[str, str]],
    statistics: Mapping[str, Sequence[Statistic]] | None = None,
    failed_shown: int = 1_000,
) -> list[Table]:
    """Every table of a run folder, those without rows as well.

    Args:
        results: Name of a run -> its results.
        model_of: Name of a run -> names of its "writer" and its "judge", and the classifier that
            its "types" are from.
        statistics: Name of each data file -> its counts of Tables 2 and 7.
        failed_shown: Most failures that are listed.
    """
    made = parts(results, model_of)
    return [
        counts(statistics or {}),
        types(made),
        confusion(made),
        type_differences(made),
        coverage(made),
        answers(made),
        behaviour(made),
        by_type(made),
        differences(made),
        by_told(made),
        grounds(made),
        citations(made),
        failures(made, failed_shown),
    ]


def counts(statistics: Mapping[str, Sequence[Statistic]]) -> Table:
    """Tables 2 and 7, and what section 3 says of all queries, beside the paper's figures."""
    rows: list[Row] = [
        (
            *(file, _GROUPS[each.group], each.name),
            *(_whole(each.value), each.share, _whole(each.paper), each.paper_share),
        )
        for file, own in statistics.items()
        for each in own
    ]
    return Table(
        name="conflicts_statistics",
        title="The data in numbers",
        caption="Counts of whole files, beside those of the paper.",
        columns=(
            Column("file", "File"),
            Column("group", "By"),
            Column("name", "Name"),
            Column("value", "Here"),
            Column("share", "Share"),
            Column("paper", "Paper"),
            Column("paper_share", "Its share"),
        ),
        rows=tuple(rows),
        notes=(
            "A file may be a part of the release, which has 458 queries; so shares stand beside "
            "the counts.",
        ),
    )


def _whole(value: float | None) -> float | None:
    """A count without decimals; a mean as it is."""
    return int(value) if value is not None and value == int(value) else value
