"""BM25 by hand, and its index on disk against one in memory."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.retrieval.bm25 import Bm25, scores_among, stems, write_bm25
from pipelines.retrieval.index import top

WORDS = ["dam", "river", "cheese", "1902", "weir", "flood", "aldham", "the"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1)


def test_a_weight_by_hand() -> None:
    """A word in 2 of 8 passages, twice in a passage of half the mean length."""
    others = ["dam weir flood river cheese aldham", *["weir flood river cheese"] * 6]
    (scores,) = scores_among(["dam dam", *others], ["dam"])
    # 2 / (2 + 1.5 (0.25 + 0.75 / 2))
    assert scores[0] == pytest.approx(math.log(1 + 6.5 / 2.5) * 2 / 2.9375)


@settings(deadline=None, max_examples=40)
@given(TEXTS, st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=5))
def test_an_index_on_the_disk_gives_the_scores_of_one_in_memory(
    texts: list[str], query: list[str]
) -> None:
    if not any(stems(texts)):
        return
    with TemporaryDirectory() as folder:
        write_bm25(iter(texts), Path(folder) / "bm25")
        found = Bm25(Path(folder) / "bm25").scores(" ".join(query))
    (expected,) = scores_among(texts, [" ".join(query)])
    np.testing.assert_array_equal(found, expected)


@given(st.lists(st.integers(0, 5), min_size=1), st.integers(1, 12))
def test_the_best_are_those_of_a_whole_sort(scores: list[int], k: int) -> None:
    array = np.array(scores, dtype=np.float32)
    expected = np.argsort(-array, kind="stable")[:k]
    assert top(array, k).tolist() == expected.tolist()
