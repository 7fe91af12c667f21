"""Our index of passages against rank_bm25, on the same passages with the same stems.

Each arm runs in a separate process, to measure its memory: for indexing, and for a process that
only searches. Query time is measured in the latter. rank_bm25 stores no files, so a process that
searches must index first.
"""

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import common
import psutil
import typer

from nli.pairs import read_pairs
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.report.progress import STDERR

K = 20
SENTENCES = 4
"""Sentences per passage: about fifty words."""


@dataclass(frozen=True)
class Measurement:
    """One arm: cost of indexing and searching, and the top passage of each query.

    Memory is the growth of the process.
    """

    build_s: float
    build_mib: float
    search_mib: float
    query_ms: tuple[float, ...]
    best: tuple[str, ...]


def main(
    *,
    passages: Annotated[int, typer.Option(min=10, help="Passages in the index.")] = 100_000,
    queries: Annotated[int, typer.Option(min=1, help="Queries that are timed.")] = 200,
    data: common.Pairs = None,
) -> None:
    """Index the same passages with both, ask both the same, and compare.

    Prints Markdown: the machine, time and memory of each, the ratios, and how often both find the
    same passage first.

    Example:
        .venv/bin/python scripts/bench/retrieval.py --passages 20000 --data pairs.jsonl
    """
    load = psutil.getloadavg()[0]
    documents, asked = made(data or common.released_pairs(), passages, queries)
    arms: dict[str, Callable[..., Measurement]] = {"contested": ours, "rank_bm25": theirs}
    measured = {}
    for name, arm in arms.items():
        measured[name] = in_own_process(arm, documents, asked)
        STDERR.print(f"[dim]{name}: indexed in {measured[name].build_s:.1f} s[/dim]")
    words = median(len(document.text.split()) for document in documents)
    print(
        f"{passages:,} passages of {words:.0f} words (median), {queries:,} queries, k = {K}.\n\n"
        f"{common.machine_line(load)}\n{common.date_line()}\n"
    )
    print(table(measured))
    same = [
        a == b
        for a, b in zip(*(measurement.best for measurement in measured.values()), strict=True)
    ]
    print(f"\nThe same passage first: {sum(same) / len(same):.1%} of the queries.")


def table(found: dict[str, Measurement]) -> str:
    """One row per arm, and one with the ratios."""
    rows = [
        (
            *(
                measurement.build_s,
                measurement.build_mib,
                measurement.search_mib,
                median(measurement.query_ms),
            ),
            sorted(measurement.query_ms)[int(0.95 * (len(measurement.query_ms) - 1))],
        )
        for measurement in found.values()
    ]
    lines = [
        (name, *(f"{value:,.1f}" for value in row)) for name, row in zip(found, rows, strict=True)
    ]
    ratios = [
        theirs / ours if ours > 0 else float("inf") for ours, theirs in zip(*rows, strict=True)
    ]
    heading = ("", "index, s", "index, MiB", "search, MiB", "query, ms", "95th percentile, ms")
    return common.markdown(heading, [*lines, ("ratio", *(f"{ratio:.1f}" for ratio in ratios))])


def made(data: Path, passages: int, queries: int) -> tuple[list[Document], list[str]]:
    """Passages of randomly combined real sentences, and sentences to use as queries."""
    rows = read_pairs(data)
    premises = sorted({row.premise for row in rows})
    hypotheses = sorted({row.hypothesis for row in rows})
    if queries > len(hypotheses):
        raise InputError(f"--queries {queries}: {data} has {len(hypotheses):,}; ask for less")
    asked, draw = random.Random(0).sample(hypotheses, queries), random.Random(0)
    documents = [
        Document(id=str(number), text=" ".join(draw.choices(premises, k=SENTENCES)))
        for number in range(passages)
    ]
    return documents, asked


def in_own_process(function: Callable[..., Any], *given: Any) -> Any:
    """The result of a function in a separate process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(function, *given).result()


def ours(documents: Sequence[Document], queries: Sequence[str]) -> Measurement:
    """`pipelines.retrieval.index`: indexed here, searched in a process that only opens it."""
    from pipelines.retrieval.index import build

    with TemporaryDirectory() as folder:
        before = memory()
        start = time.perf_counter()
        build(documents, Path(folder) / "index")
        build_s, build_mib = time.perf_counter() - start, memory() - before
        searched = in_own_process(opened, Path(folder) / "index", queries)
    return Measurement(build_s, build_mib, *searched)


def opened(
    folder: Path, queries: Sequence[str]
) -> tuple[float, tuple[float, ...], tuple[str, ...]]:
    """Search an index on disk."""
    from pipelines.retrieval.index import Index

    before = memory()
    index = Index(folder)

    def first(query: str) -> str:
        hits = index.search(query, k=K)
        return hits[0].passage.id if hits else ""

    times, best = timed(first, queries)
    return memory() - before, times, best


def theirs(documents: Sequence[Document], queries: Sequence[str]) -> Measurement:
    """rank_bm25 with the same parameters and stems."""
    import numpy as np
    from rank_bm25 import BM25Okapi

    from pipelines.retrieval.bm25 import K1, B, stems
    from pipelines.text.words import telling

    before = memory()
    start = time.perf_counter()
    index = BM25Okapi(list(stems(document.text for document in documents)), k1=K1, b=B)
    build_s, build_mib = time.perf_counter() - start, memory() - before

    def first(query: str) -> str:
        scores = index.get_scores(next(stems([query], telling)))
        best = [documents[int(position)] for position in np.argsort(-scores, kind="stable")[:K]]
        return best[0].id

    times, best = timed(first, queries)
    return Measurement(build_s, build_mib, memory() - before, times, best)


def timed(
    first: Callable[[str], str], queries: Sequence[str]
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Milliseconds of each query, and its top passage; one warm-up query is not timed."""
    first(queries[0])
    times, best = [], []
    for query in queries:
        start = time.perf_counter()
        best.append(first(query))
        times.append(1_000 * (time.perf_counter() - start))
    return tuple(times), tuple(best)


def memory() -> float:
    """Resident memory of this process, in MiB; memory-mapped pages count once they are read."""
    return float(psutil.Process().memory_info().rss) / 2**20


if __name__ == "__main__":
    common.run(main)
