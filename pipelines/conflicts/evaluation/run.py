"""Classifiers and strategies over a data set, in a run folder that may hold several runs."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pipelines.conflicts.evaluation.methods import Compared, examine
from pipelines.conflicts.evaluation.result import QueryResult
from pipelines.conflicts.question import Query
from pipelines.runs.folder import RunFolder
from pipelines.runs.runner import IN_FLIGHT, resume_examples

NAME = "conflicts"


def entry_name(name: str) -> str:
    """Name of a run in `run.json`, and of its results."""
    return f"{NAME}.{name}"


def runs(folder: RunFolder) -> dict[str, dict[str, Any]]:
    """Runs that a folder has results of, in order of their beginning.

    Returns:
        What the run is called -> its entry in `run.json`.

    Raises:
        InputError: `run.json` is damaged.
    """
    return folder.entries(NAME)


def results(folder: RunFolder) -> dict[str, list[QueryResult]]:
    """What a run folder has, by run.

    Raises:
        InputError: A result is damaged.
    """
    return folder.results(NAME, QueryResult)


async def run(
    queries: Sequence[Query],
    by: Compared,
    folder: RunFolder,
    *,
    name: str,
    on_failure: Literal["stop", "skip"] = "stop",
    in_flight: int = IN_FLIGHT,
    on_start: Callable[[int], None] = lambda _: None,
    on_result: Callable[[QueryResult], None] = lambda _: None,
) -> list[QueryResult]:
    """Examine every query that the folder has no result of yet.

    Results are kept as they come; a run that is killed goes on from there. All classifiers and
    strategies of all queries in flight are asked at the same time.

    Args:
        queries: The data set.
        by: What is compared.
        folder: Where results go; `RunFolder.begin` must have been called.
        name: What the run is called.
        on_failure: Whether something that cannot be asked stops the run; with "skip" see `examine`.
            Queries that are "incomplete" or "failed" are tried again when the run is resumed.
        in_flight: Queries at a time.
        on_start: Told how many queries were done by an earlier run.
        on_result: Told of each result.

    Returns:
        All results, in the order of the queries.

    Raises:
        RequestError, PairError: Something cannot be asked (`stop`).
        ServingError: No server can be had.
        InputError: A line of the log is damaged.
    """
    return await resume_examples(
        queries,
        lambda query: examine(query, by, on_failure=on_failure),
        folder.log(entry_name(name), QueryResult),
        failed=lambda query, reason: QueryResult(
            id=query.id, asked=query, status="failed", error=reason
        ),
        on_failure=on_failure,
        in_flight=in_flight,
        on_start=on_start,
        on_result=on_result,
    )
