"""BM25 written as passages come, against bm25s with all of them in memory, and by hand."""

import math
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.data.records import Document
from pipelines.retrieval import bm25
from pipelines.retrieval.bm25 import (
    Bm25,
    inverse_document_frequency,
    saturation,
    scores_among,
    stems,
    write_bm25,
)
from pipelines.retrieval.index import build, top
from pipelines.text.words import telling

WORDS = ["dam", "river", "cheese", "1902", "weir", "flood", "aldham", "the"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1)


def test_a_weight_by_hand() -> None:
    """A word of 2 of 8 passages, twice in a passage of half the mean length."""
    rarity = inverse_document_frequency(np.array([2]), 8)
    assert rarity[0] == pytest.approx(math.log(1 + 6.5 / 2.5))
    # 2 / (2 + 1.5 (0.25 + 0.75 / 2))
    assert saturation(np.array([2], np.int32), np.array([0.5]))[0] == pytest.approx(2 / 2.9375)


@settings(deadline=None, max_examples=40)
@given(TEXTS, st.integers(1, 20), st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=5))
def test_blocks_on_the_disk_give_the_scores_of_one_index_in_memory(
    texts: list[str], block: int, query: list[str]
) -> None:
    counted = list(stems(texts))
    if not any(counted):
        return
    whole = bm25s.BM25(k1=1.5, b=0.75, method="lucene", backend="numpy", auto_compile=False)
    whole.index(counted, show_progress=False)
    (wanted,) = stems([" ".join(query)], telling)
    known = [word for word in wanted if word in whole.vocab_dict]
    expected = whole.get_scores(known) if known else np.zeros(len(texts))
    with TemporaryDirectory() as folder, patch.object(bm25, "BLOCK", block):
        write_bm25(iter(texts), Path(folder) / "bm25")
        found = Bm25(Path(folder) / "bm25").scores(" ".join(query))
        assert not (Path(folder) / "bm25" / "counts").exists()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    (scores,) = scores_among(texts, [" ".join(query)])
    np.testing.assert_array_equal(scores, expected)


@given(st.lists(st.integers(0, 5), min_size=1), st.integers(1, 12))
def test_the_best_are_those_of_a_whole_sort(scores: list[int], k: int) -> None:
    array = np.array(scores, dtype=np.float32)
    expected = np.argsort(-array, kind="stable")[:k]
    assert top(array, k).tolist() == expected.tolist()


def test_passages_are_on_the_disk_before_the_last_one_comes(tmp_path: Path) -> None:
    """Nothing holds them all: neither the index nor its words."""
    written: list[int] = []

    def coming(pattern: str) -> Iterator[str]:
        for number in range(2_000):
            yield f"The dam {number} at Aldham."
        written.extend(file.stat().st_size for file in tmp_path.glob(pattern))

    documents = (Document(id=text[8:-11], text=text) for text in coming("i/files-1/passages.jsonl"))
    assert len(build(documents, tmp_path / "i")) == 2_000
    with patch.object(bm25, "BLOCK", 100):
        write_bm25(coming("bm25/counts"), tmp_path / "bm25")
    lines, counts = written
    assert lines > 50_000
    # Three numbers of four bytes for each of five words of a passage.
    assert 0.9 < counts / (2_000 * 5 * 3 * 4) <= 1
