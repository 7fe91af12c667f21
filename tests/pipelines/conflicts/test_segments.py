"""Windows of a page, and the one that matters most to a question."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.conflicts.data import best_segment, reader, token_windows


class Words:
    """A tokenizer whose tokens are words; it puts two tokens around a text."""

    def __call__(self, text: str, **options: Any) -> dict[str, list[tuple[int, int]]]:
        assert options["return_offsets_mapping"]
        assert not options["add_special_tokens"]
        assert not options["truncation"]
        return {"offset_mapping": [match.span() for match in re.finditer(r"\S+", text)]}

    def num_special_tokens_to_add(self) -> int:
        return 2


@dataclass
class Counting:
    """An embedder whose vectors count "dam" and "mill"; it keeps what it was given."""

    tokenizer: Any = field(default_factory=Words)
    given: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.given += texts
        return np.array([[t.count("dam"), t.count("mill")] for t in texts], dtype=np.float32)


def numbered(n: int) -> str:
    return " ".join(f"w{number}" for number in range(n))


@pytest.mark.parametrize(
    ("text", "tokens", "stride", "windows"),
    [
        (numbered(9), 4, 2, ["w0 w1 w2 w3", "w2 w3 w4 w5", "w4 w5 w6 w7", "w6 w7 w8"]),
        # No window is superfluous: the last one alone reaches the end.
        (numbered(8), 4, 2, ["w0 w1 w2 w3", "w2 w3 w4 w5", "w4 w5 w6 w7"]),
        (numbered(9), 4, 4, ["w0 w1 w2 w3", "w4 w5 w6 w7", "w8"]),
        # What fits is left as it is; white space and case stay.
        ("  a \n b ", 2, 1, ["  a \n b "]),
        ("", 2, 1, [""]),
        ("A  b\nC d", 3, 3, ["A  b\nC", "d"]),
    ],
)
def test_windows_by_hand(text: str, tokens: int, stride: int, windows: list[str]) -> None:
    assert token_windows(text, Words(), tokens, stride) == windows


def test_the_window_with_the_largest_dot_product_is_the_segment() -> None:
    embedder: Any = Counting()
    text = "a b dam c d e f g mill mill h i j k l"
    assert best_segment("mill", text, embedder, tokens=6, stride=2) == "f g mill mill"
    # Lengths of vectors count: two mills weigh more than one mill alone.
    assert embedder.given[0] == "mill"
    assert all(len(window.split()) <= 4 for window in embedder.given)


# The real model


def test_the_real_model_reads_windows_whole_and_finds_the_passage(small_embedder: Path) -> None:
    embedder = reader(small_embedder)
    assert embedder.reads == 512
    filling = "The committee met again and spoke about the budget of the coming year. " * 60
    answer = "The dam at Aldham was built in 1902 by the river board."
    text = filling[: len(filling) // 3] + answer + " " + filling
    windows = token_windows(text, embedder.tokenizer, 510, 256)
    assert len(windows) > 3
    found = best_segment("When was the dam at Aldham built?", text, embedder)
    assert answer in found
    assert len(embedder.tokenizer(found)["input_ids"]) <= 514

    # Far behind the 256th token a text still makes a difference.
    before = " ".join(filling.split()[:330])
    one, other = embedder.embed([before, f"{before} {answer}"])
    assert not np.allclose(one, other, atol=1e-3)
