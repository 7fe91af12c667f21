"""ConRAG and what it is compared with over a data set, in a run folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pipelines.conrag.evaluation.datasets import Dataset
from pipelines.conrag.evaluation.evaluate import evaluate
from pipelines.conrag.evaluation.queries import Query
from pipelines.conrag.evaluation.result import ClaimResult
from pipelines.conrag.evaluation.written import Writers
from pipelines.conrag.settings import ConragSettings
from pipelines.evidence.labeller import Labeller
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.fusion import RANK_CONSTANT
from pipelines.retrieval.index import ABOUT, Index, Method, Retrieved, build
from pipelines.runs.folder import RunFolder
from pipelines.runs.runner import IN_FLIGHT, resume_examples

NAME = "conrag"

Scope = Literal["own", "all"]
"""Where a claim's passages are retrieved from: those it comes with, or those of all claims."""


Find = Callable[[Query, int], list[Retrieved]]
"""(claim, k) -> its k most relevant passages, the best first."""


@dataclass(frozen=True)
class Search:
    """Retrieval for the claims of a data set.

    Attributes:
        index: Of all its passages.
        positions: Passage id -> position in the index.
        method: Which ranking.
        among: Where is searched.
    """

    index: Index
    positions: Mapping[str, int]
    method: Method
    among: Scope

    def __call__(self, query: Query, k: int) -> list[Retrieved]:
        """The k passages that fit a claim best, the best first.

        Raises:
            InputError: As `Index.search`.
        """
        own = None
        if self.among == "own":
            own = [self.positions[passage.id] for passage in query.passages]
        return self.index.search(query.claim, k=k, method=self.method, among=own)


def as_given(query: Query, k: int) -> list[Retrieved]:
    """The first k passages in the order that the data give them, for releases with a ranking.

    Relevance falls with the rank as in reciprocal rank fusion, as no score is read.
    """
    best = 1 / (RANK_CONSTANT + 1)
    scores = [1 / (RANK_CONSTANT + rank) for rank in range(1, k + 1)]
    return [
        Retrieved(passage, relevance=score / best, score=score)
        for passage, score in zip(query.passages, scores, strict=False)
    ]


def entry_name(dataset: str) -> str:
    """Name of a data set's run in `run.json`, and of its results."""
    return f"{NAME}.{dataset}"


def datasets(folder: RunFolder) -> dict[str, dict[str, Any]]:
    """Data sets that a run folder has results of, in order of their beginning.

    Returns:
        Name of the data set -> its entry in `run.json`.

    Raises:
        InputError: `run.json` is damaged.
    """
    return folder.entries(NAME)


def search(
    dataset: Dataset,
    folder: Path,
    *,
    method: Method,
    among: Scope,
    embedder: Embedder | None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Search:
    """Index the passages of a data set, or open the index that an earlier run made of them.

    Args:
        dataset: Whole, whatever part of it is evaluated: BM25 weighs words by all passages.
        folder: Where the index lies; made. It must belong to this data set.
        method: Which ranking.
        among: Where is searched.
        embedder: For retrieval by meaning.
        on_progress: Told how many passages were embedded since it was last told.

    Raises:
        InputError: There is no passage, or the index cannot be written or read.
    """
    made = (folder / ABOUT).exists()
    index = (
        Index(folder, embedder) if made else build(dataset.corpus, folder, embedder, on_progress)
    )
    positions = {passage.id: position for position, passage in enumerate(dataset.corpus)}
    return Search(index, positions, method, among)


async def run(
    queries: Sequence[Query],
    find: Find,
    labeller: Labeller,
    settings: ConragSettings,
    folder: RunFolder,
    *,
    dataset: str,
    on_failure: Literal["stop", "skip"] = "stop",
    writers: Writers | None = None,
    in_flight: int = IN_FLIGHT,
    on_start: Callable[[int], None] = lambda _: None,
    on_result: Callable[[ClaimResult], None] = lambda _: None,
) -> list[ClaimResult]:
    """Evaluate every method on the claims that the folder has no result of yet.

    Results are kept as they come; a run that is killed goes on from there.

    Args:
        queries: The claims.
        find: Retrieves a claim's passages, the best first: a `Search`, or `as_given`.
        labeller: Tags passages.
        settings: Every parameter.
        folder: Where results go; `RunFolder.begin` must have been called.
        dataset: Its name.
        writers: The language model that writes answers; None takes the template.
        on_failure: Whether a claim that cannot be judged stops the run or is recorded as "failed".
        in_flight: Claims at a time.
        on_start: Told how many claims were done by an earlier run.
        on_result: Told of each result.

    Returns:
        All results, in the order of the queries.

    Raises:
        InputError: A claim cannot be judged (`stop`), or the index is damaged.
        RequestError: Likewise.
        ServingError: No server can be had.
    """

    async def work(query: Query) -> ClaimResult:
        return await evaluate(query, find(query, settings.depth), labeller, settings, writers)

    def failed(query: Query, reason: str) -> ClaimResult:
        return ClaimResult(
            id=query.id,
            claim=query.claim,
            status="failed",
            stance=query.stance,
            disputed=query.disputed,
            response=query.response,
            error=reason,
        )

    return await resume_examples(
        queries,
        work,
        folder.log(entry_name(dataset), ClaimResult),
        failed=failed,
        on_failure=on_failure,
        in_flight=in_flight,
        on_start=on_start,
        on_result=on_result,
    )


def results(folder: RunFolder) -> dict[str, list[ClaimResult]]:
    """What a run folder has, by data set.

    Raises:
        InputError: A result is damaged.
    """
    return folder.results(NAME, ClaimResult)
