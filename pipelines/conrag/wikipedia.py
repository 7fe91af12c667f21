"""Evidence from all of FEVER's Wikipedia: pages first, then their sentences (Thorne et al. 2018).

The dump has 5.4 million pages; they are indexed as they are read, by words, and stay on the disk.
The sentences of the pages that fit a claim best are ranked among themselves, their page's title in
front of each, since a sentence seldom repeats whom it is of.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pipelines.conrag.corpora import page_name, page_passages
from pipelines.conrag.query import Query
from pipelines.data.fever import page_key, page_title, wiki_files, wiki_pages
from pipelines.data.records import Document
from pipelines.retrieval.bm25 import scores_among
from pipelines.retrieval.fusion import normalised
from pipelines.retrieval.index import ABOUT, Index, Retrieved, build
from pipelines.retrieval.top import top
from serving.folders import sha256_of

PAGES = 10
"""Pages whose sentences are ranked."""

_EMPTY = "—"
"""Stands for a sentence that has no text, so that lines of a page are numbered as its sentences."""


class WikipediaSearch:
    """Retrieval of sentences from all pages of a folder wiki-pages.

    The index is made in a folder within the one given, named after the pages; one that is there is
    opened.

    Raises:
        InputError: There are no pages, or the index cannot be written or read.
    """

    def __init__(
        self, dump: Path, folder: Path, on_file: Callable[[], object] = lambda: None
    ) -> None:
        self._digest = digest_of_pages(dump)
        own = folder / f"index-wiki-{self._digest[:8]}"
        there = (own / ABOUT).exists()
        self._index = Index(own) if there else build(_documents(dump, on_file), own)

    def __call__(self, query: Query, k: int) -> list[Retrieved]:
        """The k sentences that fit a claim best, the best first; see `Index.search`."""
        pages = self._index.search(query.claim, k=PAGES)
        sentences = [each for found in pages for each in _sentences(found.passage)]
        scores = scores_among([each.as_read() for each in sentences], query.claim)
        best = [int(place) for place in top(scores, k) if scores[place] > 0]
        relevance = normalised([float(scores[place]) for place in best])
        return [
            Retrieved(sentences[place], share, float(scores[place]))
            for place, share in zip(best, relevance, strict=True)
        ]

    def about(self) -> dict[str, Any]:
        """How is searched, for `run.json`."""
        return {
            **{"method": "bm25", "among": "wiki", "model": None, "pages": PAGES},
            "passages": self._digest,
        }


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
    lines = {n: each for n, each in enumerate(page.text.split("\n")) if each != _EMPTY}
    # A long title is cut in ids, and whole here.
    own = page_passages(page.id, lines)
    return tuple(each.model_copy(update={"title": page.title}) for each in own)
