"""Retrieval of a claim's passages: from an index, or by the release's ranking."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pipelines.conrag.data import Dataset, Query
from pipelines.conrag.settings import Scope
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.index import ABOUT, RANK_CONSTANT, Index, Method, Retrieved, build


@dataclass(frozen=True)
class Search:
    """Finds the k passages that fit a query best, the best first.

    `about` describes it in `run.json`.
    """

    find: Callable[[Query, int], list[Retrieved]]
    about: Mapping[str, Any]


def _as_given(query: Query, k: int) -> list[Retrieved]:
    best = 1 / (RANK_CONSTANT + 1)
    scores = [1 / (RANK_CONSTANT + rank) for rank in range(1, k + 1)]
    return [
        Retrieved(passage, relevance=score / best, score=score)
        for passage, score in zip(query.passages, scores, strict=False)
    ]


AS_GIVEN: Final = Search(
    _as_given, {"method": "the release's ranking", "among": "own", "model": None}
)
"""The first k passages in the order of the data, for releases with a ranking.

Relevance falls with the rank as in reciprocal rank fusion; scores are ignored.
"""


def in_claims(
    dataset: Dataset,
    folder: Path,
    *,
    method: Method | None,
    among: Scope,
    embedder: Embedder | None,
    on_embedded: Callable[[], object] = lambda: None,
) -> Search:
    """Retrieval for the claims of a data set, from an index of all its passages.

    All passages are indexed, whatever part of the data set is evaluated, since they decide BM25's
    word weights. An index of an earlier run in the folder is opened; it must be of this data set.
    By default the method is the fused one if there is an embedder. A claim without passages (in
    FEVER, without evidence) is searched among those of all claims.

    Raises:
        InputError: Passages are missing, or the index cannot be written or read.
    """
    there = (folder / ABOUT).exists()
    index = (
        Index(folder, embedder) if there else build(dataset.corpus, folder, embedder, on_embedded)
    )
    method = method or ("hybrid" if embedder else "bm25")
    positions = {passage.id: place for place, passage in enumerate(dataset.corpus)}

    def find(query: Query, k: int) -> list[Retrieved]:
        own = None
        if among == "own" and query.passages:
            own = [positions[passage.id] for passage in query.passages]
        return index.search(query.claim, k=k, method=method, among=own)

    return Search(find, {"method": method, "among": among, "model": index.about.model})
