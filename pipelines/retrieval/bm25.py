"""Retrieval by words: BM25 with stemming, on the disk, memory-mapped (bm25s).

bm25s indexes what lies in memory as lists of words. Passages are streamed here, and the weights are
written in its format: how often words stand in passages goes to the disk in blocks, and when the
frequencies of all words are known, each weight goes to its place.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import InputError
from pipelines.text.words import telling, terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.5, 0.75
"""The usual parameters; Lucene's variant of the formula."""

BLOCK = 1 << 22
"""Pairs of word and passage that are counted in memory."""

# As bm25s calls its arrays.
_WEIGHTS, _PASSAGES = "data.csc.index.npy", "indices.csc.index.npy"


def stems(texts: Iterable[str], read: Callable[[str], list[str]] = terms) -> Iterator[list[str]]:
    """The terms of each text, stemmed (Snowball, English); `telling` ones of a query."""
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    for text in texts:
        yield stemmer.stemWords(read(text))


@lru_cache(maxsize=256)  # one text is compared with many
def distinct_stems(text: str) -> frozenset[str]:
    """The distinct stems of a text's `telling` terms."""
    return frozenset(next(stems([text], telling)))


def write_bm25(texts: Iterable[str], folder: Path) -> None:
    """Index passages, at least one, into a folder that is made.

    In memory are the vocabulary, two numbers of each passage and one block of counts.

    Raises:
        InputError: No text has a word.
    """
    import numpy as np

    folder.mkdir()
    counted = folder / "counts"
    vocabulary: dict[str, int] = {}
    lengths = array("i")
    sizes = []
    with counted.open("wb") as file:
        for block in _blocks(texts, vocabulary, lengths):
            sizes.append(block.shape[1])
            block.tofile(file)
    if not vocabulary:
        raise InputError("no passage has a word to search by; name documents that have text")

    passages = np.zeros(len(vocabulary), dtype=np.int64)  # that have a word
    for has, _, _ in _counts(counted, sizes):
        passages += np.bincount(has, minlength=len(vocabulary))
    ends = np.cumsum(passages)
    index = _bm25()
    index.vocab_dict = vocabulary
    index.nonoccurrence_array = None  # absent words weigh nothing in Lucene's variant
    index.scores = {
        "data": np.zeros(0, np.float32),
        "indices": np.zeros(0, np.int32),
        "indptr": np.concatenate([[0], ends]),
        "num_docs": len(lengths),
    }
    index.save(folder, data_name=_WEIGHTS, indices_name=_PASSAGES, show_progress=False)

    every = int(ends[-1])
    weights = _on_disk(folder / _WEIGHTS, np.float32, every)
    where = _on_disk(folder / _PASSAGES, np.int32, every)
    rarity = inverse_document_frequency(passages, len(lengths))
    length = np.asarray(lengths, dtype=np.float64)
    length /= length.mean()
    free = ends - passages  # the next place of each word
    for word, passage, times in _counts(counted, sizes):
        own = np.bincount(word, minlength=len(vocabulary))
        place = free[word] + np.arange(len(word)) - (np.cumsum(own) - own)[word]
        weights[place] = rarity[word] * saturation(times, length[passage])
        where[place] = passage
        free += own
    weights.flush()
    where.flush()
    counted.unlink()


def inverse_document_frequency(passages: "NDArray[np.int64]", every: int) -> "NDArray[np.float64]":
    """ln(1 + (N - n + 0.5) / (n + 0.5)) for words that stand in n of N passages (Lucene's BM25)."""
    import numpy as np

    found: NDArray[np.float64] = np.log(1 + (every - passages + 0.5) / (passages + 0.5))
    return found


def saturation(times: "NDArray[np.int32]", length: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """The part of a weight that grows with a word's frequency tf: tf / (tf + k1 (1 - b + b L)).

    L is the passage's number of words over the mean of all passages.
    """
    found: NDArray[np.float64] = times / (times + K1 * (1 - B + B * length))
    return found


class Bm25:
    """A BM25 index that `write_bm25` wrote into a folder; its arrays stay on the disk."""

    def __init__(self, folder: Path) -> None:
        import bm25s

        self._index = bm25s.BM25.load(
            folder, mmap=True, show_progress=False, auto_compile=False, backend="numpy"
        )

    def scores(self, query: str) -> "NDArray[np.float32]":
        """The score of every passage, at least 0; 0 where it shares no word with the query."""
        return _scores(self._index, query)


def scores_among(texts: Sequence[str], queries: Iterable[str]) -> "Iterator[NDArray[np.float32]]":
    """The scores of a few texts for each query, words weighed by these texts; none is kept."""
    import numpy as np

    counted = list(stems(texts))
    index = _bm25()
    if any(counted):
        index.index(counted, show_progress=False)
    for query in queries:
        yield _scores(index, query) if any(counted) else np.zeros(len(counted), dtype=np.float32)


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


def _blocks(
    texts: Iterable[str], vocabulary: dict[str, int], lengths: "array[int]"
) -> "Iterator[NDArray[np.int32]]":
    """Rows of word, passage and how often the one stands in the other, sorted by word.

    Words and passages are numbered from 0 in the order met; words are added to the vocabulary, the
    number of each passage's words to the lengths.
    """
    word, passage, times = array("i"), array("i"), array("i")
    for number, own in enumerate(map(Counter, stems(texts))):
        lengths.append(own.total())
        word.extend(vocabulary.setdefault(each, len(vocabulary)) for each in own)
        passage.extend(repeat(number, len(own)))
        times.extend(own.values())
        if len(word) >= BLOCK:
            yield _by_word(word, passage, times)
            word, passage, times = array("i"), array("i"), array("i")
    if word:
        yield _by_word(word, passage, times)


def _by_word(*columns: "array[int]") -> "NDArray[np.int32]":
    import numpy as np

    block = np.array([np.asarray(column, dtype=np.int32) for column in columns])
    return block[:, np.argsort(block[0], kind="stable")]


def _counts(file: Path, sizes: Sequence[int]) -> "Iterator[NDArray[np.int32]]":
    """The blocks again, from the disk."""
    import numpy as np

    with file.open("rb") as opened:
        for size in sizes:
            yield np.fromfile(opened, dtype=np.int32, count=3 * size).reshape(3, size)


def _on_disk(file: Path, dtype: Any, size: int) -> "np.memmap[Any, Any]":
    import numpy as np

    return np.lib.format.open_memmap(file, mode="w+", dtype=dtype, shape=(size,))  # type: ignore[no-untyped-call, no-any-return]
