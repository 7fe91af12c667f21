"""Where a claim's passages come from: an index, FEVER's Wikipedia, or the release's own ranking."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pipelines.conrag.data import Dataset, Query, page_name, page_passages
from pipelines.data.fever import page_key, page_title, wiki_files, wiki_pages
from pipelines.data.records import Document
from pipelines.retrieval.bm25 import scores_among
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.index import (
    ABOUT,
    RANK_CONSTANT,
    Index,
    Method,
    Retrieved,
    build,
    normalised,
    top,
)
from serving.folders import sha256_of

PAGES = 10
"""Pages of Wikipedia whose sentences are ranked."""

_EMPTY = "—"
"""Stands for a sentence without text, so that lines are numbered as the page's sentences are."""

Scope = Literal["own", "all", "wiki"]
"""Where passages are searched: among a claim's own, those of all claims, or all of Wikipedia."""


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

Relevance falls with the rank as in reciprocal rank fusion; scores are not read.
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

    All passages are indexed, whatever part of the data set is evaluated, since BM25 weighs words by
    them. An index of an earlier run in the folder is opened; it must be of this data set. Unless
    given, the method is the fused one if there is an embedder. A claim without passages (in FEVER,
    without evidence) is searched among those of all claims.

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


def in_wikipedia(dump: Path, folder: Path, on_file: Callable[[], object] = lambda: None) -> Search:
    """Retrieval of sentences from all pages of a folder wiki-pages.

    The index lies in a subfolder named after the pages, and is made unless it exists.

    Raises:
        InputError: Pages are missing, or the index cannot be written or read.
    """
    digest = digest_of_pages(dump)
    within = folder / f"index-wiki-{digest[:8]}"
    there = (within / ABOUT).exists()
    index = Index(within) if there else build(_documents(dump, on_file), within)

    def find(query: Query, k: int) -> list[Retrieved]:
        pages = index.search(query.claim, k=PAGES)
        sentences = [one for page in pages for one in _sentences(page.passage)]
        (scores,) = scores_among([one.as_read() for one in sentences], [query.claim])
        best = [int(place) for place in top(scores, k) if scores[place] > 0]
        relevance = normalised([float(scores[place]) for place in best])
        return [
            Retrieved(sentences[place], share, float(scores[place]))
            for place, share in zip(best, relevance, strict=True)
        ]

    about = {"method": "bm25", "among": "wiki", "model": None, "pages": PAGES, "passages": digest}
    return Search(find, about)


def digest_of_pages(dump: Path) -> str:
    """SHA-256 over names and digests of the files of a dump, as hex."""
    digest = hashlib.sha256()
    for file in wiki_files(dump):
        digest.update(f"{sha256_of(file)}  {file.name}\n".encode())
    return digest.hexdigest()


def _documents(dump: Path, on_file: Callable[[], object]) -> Iterator[Document]:
    """Pages with text, a line per sentence."""
    for page in wiki_pages(dump, on_file):
        if sentences := page.sentences():
            lines = (sentences.get(number, _EMPTY) for number in range(max(sentences) + 1))
            key = page_key(page.id)
            yield Document(id=page_name(key), text="\n".join(lines), title=page_title(key))


def _sentences(page: Document) -> tuple[Document, ...]:
    """The sentences of a page, called as evidence calls them."""
    lines = {n: line for n, line in enumerate(page.text.split("\n")) if line != _EMPTY}
    # A long title is cut in ids, and whole here.
    found = page_passages(page.id, lines)
    return tuple(sentence.model_copy(update={"title": page.title}) for sentence in found)
