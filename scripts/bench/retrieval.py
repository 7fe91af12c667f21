"""Our index of passages against rank_bm25, on the same passages with the same stems.

Each runs in a process of its own, so that its memory is its own: what indexing takes, what a
process that only searches takes, and how long a query takes there. rank_bm25 keeps no files, so a
process that searches has to index first. With `--alone` passages are made as they are indexed, for
numbers of them that no list holds.
"""

import math
import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
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
from pipelines.cli.progress import STDERR
from pipelines.data.records import Document
from pipelines.errors import InputError

K = 20
SENTENCES = 4
"""Of a passage: some fifty words."""

NAMES, RANKS = 4, 10_000_000
"""Rare words of a passage with `--alone`, and how many there are: an encyclopedia is full of names.

They follow Zipf's law, so that the vocabulary grows with the passages.
"""


@dataclass(frozen=True)
class Measurement:
    """One arm: what indexing and searching took, and the passage found first for each query.

    Memory is what the process grew by.
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
    alone: Annotated[
        bool, typer.Option("--alone", help="Ours alone, with a vocabulary that grows.")
    ] = False,
    data: common.Pairs = None,
) -> None:
    """Index the same passages with both, ask both the same, and compare.

    Prints Markdown: the machine, time and memory of each, the ratios, and how often both find the
    same passage first.

    Example:
        .venv/bin/python scripts/bench/retrieval.py --passages 20000 --data pairs.jsonl
    """
    load = psutil.getloadavg()[0]
    if alone:
        with TemporaryDirectory() as folder:
            print(by_itself(data or common.released_pairs(), passages, queries, Path(folder)))
        print(f"\n{common.machine_line(load)}\n{common.date_line()}")
        return
    documents, asked = made(data or common.released_pairs(), passages, queries)
    arms: dict[str, Callable[..., Measurement]] = {"contested": ours, "rank_bm25": theirs}
    found = {}
    for name, arm in arms.items():
        found[name] = in_own_process(arm, documents, asked)
        STDERR.print(f"[dim]{name}: indexed in {found[name].build_s:.1f} s[/dim]")
    words = median(len(document.text.split()) for document in documents)
    print(
        f"{passages:,} passages of {words:.0f} words (median), {queries:,} queries, k = {K}.\n\n"
        f"{common.machine_line(load)}\n{common.date_line()}\n"
    )
    print(table(found))
    same = [a == b for a, b in zip(*(each.best for each in found.values()), strict=True)]
    print(f"\nThe same passage first: {sum(same) / len(same):.1%} of the queries.")


def table(found: dict[str, Measurement]) -> str:
    """A row per arm, and one with the ratios."""
    rows = [
        (
            *(each.build_s, each.build_mib, each.search_mib, median(each.query_ms)),
            sorted(each.query_ms)[int(0.95 * (len(each.query_ms) - 1))],
        )
        for each in found.values()
    ]
    lines = [
        (name, *(f"{value:,.1f}" for value in row)) for name, row in zip(found, rows, strict=True)
    ]
    ratios = [
        theirs / ours if ours > 0 else float("inf") for ours, theirs in zip(*rows, strict=True)
    ]
    heading = ("", "index, s", "index, MiB", "search, MiB", "query, ms", "95th percentile, ms")
    return common.markdown(heading, [*lines, ("ratio", *(f"{ratio:.1f}" for ratio in ratios))])


def by_itself(data: Path, passages: int, queries: int, folder: Path) -> str:
    """What our index takes, as a table; peaks are those of whole processes.

    Memory-mapped pages that were touched count, which the system may take back.
    """
    build_s, build_mib = in_own_process(streamed, data, passages, folder / "index")
    asked = sentences(data, queries)[1]
    _, times, _ = in_own_process(opened, folder / "index", asked)
    search_mib = in_own_process(peak_of_search, folder / "index", asked)
    size = sum(file.stat().st_size for file in (folder / "index").rglob("*") if file.is_file())
    ordered = sorted(times)
    row = (
        f"{passages:,}", f"{build_s:,.0f}", f"{build_mib:,.0f}", f"{search_mib:,.0f}",
        f"{median(times):.1f}", f"{ordered[int(0.95 * len(ordered))]:.1f}", f"{size / 2**20:,.0f}",
    )  # fmt: skip
    heading = (
        "passages", "index, s", "index, MiB at most", "search, MiB at most", "query, ms",
        "95th percentile, ms", "disk, MiB",
    )  # fmt: skip
    return common.markdown(heading, [row])


def streamed(data: Path, passages: int, folder: Path) -> tuple[float, float]:
    """Seconds and peak memory of an index of passages that are made as they are indexed."""
    from pipelines.retrieval.index import build

    premises, _ = sentences(data, 0)
    draw = random.Random(0)

    def made_now() -> Iterator[Document]:
        for number in range(passages):
            names = [f"n{int(math.exp(draw.uniform(0, math.log(RANKS))))}" for _ in range(NAMES)]
            text = " ".join([*draw.choices(premises, k=SENTENCES), *names])
            yield Document(id=str(number), text=text)

    start = time.perf_counter()
    build(made_now(), folder)
    return time.perf_counter() - start, peak()


def peak_of_search(folder: Path, queries: Sequence[str]) -> float:
    """Peak memory of a process that opens an index and asks it all."""
    opened(folder, queries)
    return peak()


def peak() -> float:
    """The most resident memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def sentences(data: Path, queries: int) -> tuple[list[str], list[str]]:
    """Sentences to make passages of, and others to ask for."""
    rows = read_pairs(data)
    hypotheses = sorted({row.hypothesis for row in rows})
    if queries > len(hypotheses):
        raise InputError(f"--queries {queries}: {data} has {len(hypotheses):,}; ask for less")
    return sorted({row.premise for row in rows}), random.Random(0).sample(hypotheses, queries)


def made(data: Path, passages: int, queries: int) -> tuple[list[Document], list[str]]:
    """Passages of real sentences in random company, and sentences to ask for."""
    premises, asked = sentences(data, queries)
    draw = random.Random(0)
    documents = [
        Document(id=str(number), text=" ".join(draw.choices(premises, k=SENTENCES)))
        for number in range(passages)
    ]
    return documents, asked


def in_own_process(function: Callable[..., Any], *given: Any) -> Any:
    """What a function gives in a process that does nothing else."""
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
    """Search an index that lies on the disk."""
    from pipelines.retrieval.index import Index

    before = memory()
    index = Index(folder)

    def first(query: str) -> str:
        found = index.search(query, k=K)
        return found[0].passage.id if found else ""

    times, best = timed(first, queries)
    return memory() - before, times, best


def theirs(documents: Sequence[Document], queries: Sequence[str]) -> Measurement:
    """rank_bm25 with the same parameters and stems."""
    import numpy as np
    from rank_bm25 import BM25Okapi

    from pipelines.retrieval.bm25 import K1, B, stems

    before = memory()
    start = time.perf_counter()
    index = BM25Okapi(list(stems(document.text for document in documents)), k1=K1, b=B)
    build_s, build_mib = time.perf_counter() - start, memory() - before

    def first(query: str) -> str:
        scores = index.get_scores(next(stems([query])))
        best = [documents[int(position)] for position in np.argsort(-scores, kind="stable")[:K]]
        return best[0].id

    times, best = timed(first, queries)
    return Measurement(build_s, build_mib, memory() - before, times, best)


def timed(
    first: Callable[[str], str], queries: Sequence[str]
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Milliseconds of each query, and what it found first; one query before that is not timed."""
    first(queries[0])
    times, best = [], []
    for query in queries:
        start = time.perf_counter()
        best.append(first(query))
        times.append(1_000 * (time.perf_counter() - start))
    return tuple(times), tuple(best)


def memory() -> float:
    """Resident memory of this process, in MiB; memory-mapped pages that were read count."""
    return float(psutil.Process().memory_info().rss) / 2**20


if __name__ == "__main__":
    common.run(main)
