"""Where a claim's passages come from: an index of the data set's, or the release's own ranking."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pipelines.conrag.datasets import Dataset
from pipelines.conrag.query import Query
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.fusion import RANK_CONSTANT
from pipelines.retrieval.index import ABOUT, Index, Method, Retrieved, build

Scope = Literal["own", "all"]
"""Where a claim's passages are retrieved from: those it comes with, or those of all claims."""

Find = Callable[[Query, int], list[Retrieved]]
"""(claim, k) -> its k most relevant passages, the best first."""

AS_GIVEN: Final = {"method": "the release's ranking", "among": "own", "model": None}
"""What `run.json` says of `as_given`."""


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

    def about(self) -> dict[str, Any]:
        """How is searched, for `run.json`."""
        return {"method": self.method, "among": self.among, "model": self.index.about.model}


def search_of(
    dataset: Dataset,
    folder: Path,
    *,
    method: Method | None,
    among: Scope,
    embedder: Embedder | None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Search:
    """Index the passages of a data set, or open the index that an earlier run made of them.

    Args:
        dataset: Whole, whatever part of it is evaluated: BM25 weighs words by all passages.
        folder: Where the index lies; made. It must belong to this data set.
        method: Which ranking; the fused one where there is an embedder, unless given.
        among: Where to search.
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
    return Search(index, positions, method or ("hybrid" if embedder else "bm25"), among)
