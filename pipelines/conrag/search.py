"""Where a claim's passages come from: an index of the data set's, or the release's own ranking."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

from pipelines.conrag.datasets import Dataset
from pipelines.conrag.query import Query
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.fusion import RANK_CONSTANT
from pipelines.retrieval.index import ABOUT, Index, Method, Retrieved, build

Scope = Literal["own", "all", "wiki"]
"""Where a claim's passages are retrieved from.

Those it comes with, those of all claims, or all of Wikipedia (`pipelines.conrag.wikipedia`).
"""

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


class Search:
    """Retrieval for the claims of a data set, from an index of all its passages.

    All of them are indexed, whatever part of the data set is evaluated: BM25 weighs words by them.
    An index that an earlier run left in the folder is opened; it must be of this data set. The
    method is the fused one where there is an embedder, unless given. A claim that brings no passage
    (of FEVER, one without evidence) is given those of all claims to be searched in.

    Raises:
        InputError: There is no passage, or the index cannot be written or read.
    """

    def __init__(
        self,
        dataset: Dataset,
        folder: Path,
        *,
        method: Method | None,
        among: Scope,
        embedder: Embedder | None,
        on_embedded: Callable[[], object] = lambda: None,
    ) -> None:
        if (folder / ABOUT).exists():
            self._index = Index(folder, embedder)
        else:
            self._index = build(dataset.corpus, folder, embedder, on_embedded)
        self._positions = {passage.id: place for place, passage in enumerate(dataset.corpus)}
        self._method = method or ("hybrid" if embedder else "bm25")
        self._among = among

    def __call__(self, query: Query, k: int) -> list[Retrieved]:
        """The k passages that fit a claim best, the best first; see `Index.search`."""
        own = None
        if self._among == "own" and query.passages:
            own = [self._positions[passage.id] for passage in query.passages]
        return self._index.search(query.claim, k=k, method=self._method, among=own)

    def about(self) -> dict[str, Any]:
        """How is searched, for `run.json`."""
        return {"method": self._method, "among": self._among, "model": self._index.about.model}
