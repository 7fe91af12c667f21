"""Lexical retrieval: BM25 with stemming, memory-mapped from disk (bm25s)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import InputError
from pipelines.text.words import telling, terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.5, 0.75
"""The usual parameters; Lucene's variant of the formula.

A term in n of N passages scores ln(1 + (N - n + 0.5) / (n + 0.5)) tf / (tf + k1 (1 - b + b L)) in a
passage that contains it tf times and is L times the mean length.
"""


def stems(texts: Iterable[str], read: Callable[[str], list[str]] = terms) -> Iterator[list[str]]:
    """The stemmed terms of texts (Snowball, English); pass `telling` for queries."""
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    for text in texts:
        yield stemmer.stemWords(read(text))


@lru_cache(maxsize=256)  # one text is compared with many
def distinct_stems(text: str) -> frozenset[str]:
    """The distinct stems of a text's `telling` terms."""
    return frozenset(next(stems([text], telling)))


def write_bm25(texts: Iterable[str], folder: Path) -> None:
    """Index passages, at least one, into a new folder; their terms are held in memory.

    Raises:
        InputError: No text contains a word.
    """
    stemmed = list(stems(texts))
    if not any(stemmed):
        raise InputError("no passage contains a word to search for; name documents with text")
    index = _bm25()
    index.index(stemmed, show_progress=False)
    index.save(folder, show_progress=False)


class Bm25:
    """A BM25 index in a folder written by `write_bm25`; its arrays stay on disk."""

    def __init__(self, folder: Path) -> None:
        import bm25s

        self._index = bm25s.BM25.load(
            folder, mmap=True, show_progress=False, auto_compile=False, backend="numpy"
        )

    def scores(self, query: str) -> "NDArray[np.float32]":
        """Scores of all passages, at least 0; 0 for passages without a query term."""
        return _scores(self._index, query)


def scores_among(texts: Sequence[str], queries: Iterable[str]) -> "Iterator[NDArray[np.float32]]":
    """Scores of a few texts for queries, with term weights from these texts."""
    import numpy as np

    stemmed = list(stems(texts))
    index = _bm25()
    if any(stemmed):
        index.index(stemmed, show_progress=False)
    for query in queries:
        yield _scores(index, query) if any(stemmed) else np.zeros(len(stemmed), dtype=np.float32)


def _bm25() -> Any:
    import bm25s

    return bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy", auto_compile=False)


def _scores(index: Any, query: str) -> "NDArray[np.float32]":
    import numpy as np

    (wanted,) = stems([query], telling)
    known = [word for word in wanted if word in index.vocab_dict]
    if not known:
        return np.zeros(index.scores["num_docs"], dtype=np.float32)
    scores: NDArray[np.float32] = index.get_scores(known)
    return scores
