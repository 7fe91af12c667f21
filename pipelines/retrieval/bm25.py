"""Retrieval by words: BM25 with stemming, on the disk, memory-mapped (bm25s)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import InputError
from pipelines.text.words import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.5, 0.75
"""The usual parameters; Lucene's variant of the formula."""


def stems(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text in lower case, function words aside, stemmed (Snowball, English)."""
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    return [stemmer.stemWords(words(text)) for text in texts]


def write_bm25(texts: Sequence[str], folder: Path) -> None:
    """Index passages, at least one, into a folder that is made.

    Raises:
        InputError: No text has a word.
    """
    import bm25s

    counted = stems(texts)
    if not any(counted):
        raise InputError("no passage has a word to search by; name documents that have text")
    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy", auto_compile=False)
    index.index(counted, show_progress=False)
    index.save(folder, show_progress=False)


class Bm25:
    """A BM25 index that `write_bm25` wrote into a folder; its arrays stay on the disk."""

    def __init__(self, folder: Path) -> None:
        import bm25s

        self._index = bm25s.BM25.load(
            folder, mmap=True, show_progress=False, auto_compile=False, backend="numpy"
        )

    def scores(self, query: str) -> "NDArray[np.float32]":
        """The score of every passage, at least 0; 0 where it shares no word with the query."""
        import numpy as np

        (wanted,) = stems([query])
        known = [word for word in wanted if word in self._index.vocab_dict]
        if not known:
            return np.zeros(self._index.scores["num_docs"], dtype=np.float32)
        scores: NDArray[np.float32] = self._index.get_scores(known)
        return scores
