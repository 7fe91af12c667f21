"""Quotes are found in documents whatever the typography of either."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_rows import rows

from pipelines.judge.model import contains
from pipelines.text.words import folded, locate


@pytest.mark.parametrize("row", rows("quotes.jsonl"), ids=lambda row: row["kind"])
def test_quotes(row: dict[str, Any]) -> None:
    span = locate(row["quote"], row["document"])
    assert (row["document"][slice(*span)] if span else None) == row["span"]
    assert contains(row["document"], row["quote"]) == (span is not None)


@given(st.text(), st.text(), st.text())
def test_any_quote_has_a_place_in_the_text_or_none(before: str, quote: str, after: str) -> None:
    text = before + quote + after
    span = locate(quote, text)
    assert (span is not None) == contains(text, quote)
    if span is not None:
        assert 0 <= span[0] <= span[1] <= len(text)


WORDS = st.text("abé’–ﬁ\u00ad", min_size=1, max_size=4)


@given(st.lists(WORDS, min_size=1, max_size=9), st.data())
def test_what_is_located_is_the_quote(parts: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(parts) - 1))
    end = data.draw(st.integers(start + 1, len(parts)))
    text, quote = (f"{' '.join(of)}" for of in (parts, parts[start:end]))
    span = locate(quote, text)
    assert (span is None) == (not folded(quote))
    if span is not None:
        assert folded(text[slice(*span)]) == folded(quote)


@pytest.mark.parametrize("part", ["a", "—", " -", "ﬁ", "\u00ad", "e\u0301", "\n \t", "’"])
def test_long_texts_take_no_long_time(part: str) -> None:
    text = part * (100_000 // len(part)) + "."
    began = time.process_time()
    assert locate(text[-99:], text)
    assert time.process_time() - began < 10
