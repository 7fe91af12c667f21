"""CONFLICTS as released, as queries with sources, type of conflict and right answer."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.conflicts.dates import absent
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.taxonomy import of_label
from pipelines.data import conflicts
from pipelines.data.conflicts import ConflictsRow
from pipelines.errors import InputError
from pipelines.files import read_bytes

SAMPLES = Path(__file__).parents[1] / "data" / "samples" / "conflicts.jsonl"
"""Ten queries in the format of CONFLICTS that come with the program, two of each type."""


@dataclass(frozen=True)
class Dataset:
    """Queries of a file, whose bytes have this SHA-256, in its order, with distinct ids.

    Search results that have no text are no sources; `passed_over` counts them.
    """

    file: str
    digest: str
    queries: tuple[Query, ...]
    passed_over: int = 0


def read(
    path: Path,
    choose: Callable[[str, str], str] | None = None,
    *,
    limit: int | None = None,
    on_source: Callable[[], None] = lambda: None,
) -> Dataset:
    """The queries of a released file.

    Args:
        path: In either format of `pipelines.data.conflicts`.
        choose: Chooses each source's segment anew from the question and its whole page, where the
            file has it; see `segments.best_segment`. None takes the segments as released.
        limit: Take only the first queries.
        on_source: Told of each source whose page was read.

    Raises:
        InputError: The file cannot be read or is of another format, or has no pages to choose
            segments from; and what `choose` raises.
    """
    rows = conflicts.read(path)[:limit]
    if choose is not None:
        if not any(source.page for row in rows for source in row.sources):
            raise InputError(
                f"{path} has no whole pages (response_str) to choose segments from; leave the "
                "embedding model out"
            )
        rows = [with_segments(row, choose, on_source) for row in rows]
    queries = [as_query(row) for row in rows]
    if len({query.id for query in queries}) < len(queries):
        queries = [q.model_copy(update={"id": str(n)}) for n, q in enumerate(queries, start=1)]
    digest = hashlib.sha256(read_bytes(path)).hexdigest()
    passed_over = sum(row.passed_over for row in rows)
    return Dataset(path.name, digest, tuple(queries), passed_over)


def with_segments(
    row: ConflictsRow, choose: Callable[[str, str], str], on_source: Callable[[], None]
) -> ConflictsRow:
    """A row whose texts are the best segments of its pages, where it has the page; see `read`."""
    sources = []
    for each in row.sources:
        text = choose(row.query, each.page) if each.page else each.text
        sources.append(replace(each, text=text))
        on_source()
    return replace(row, sources=tuple(sources))


def as_query(row: ConflictsRow) -> Query:
    """A row as a query; its id is its number.

    A snippet that serves as the text is not given a second time, and a date that says that there is
    none ("NA") is left out.
    """
    sources = [
        Source(
            text=each.text,
            url=each.url or None,
            title=each.title or None,
            snippet=each.snippet if each.snippet not in ("", each.text) else None,
            date=None if absent(each.date) else each.date,
        )
        for each in row.sources
    ]
    return Query(
        id=str(row.number),
        query=row.query,
        sources=tuple(sources),
        conflict_type=None if row.conflict_type is None else of_label(row.conflict_type),
        gold_answer=row.correct_answer.strip() or None,
        origin=row.origin,
    )
