"""Words of texts of many scripts, and what is found by them."""

import time
from typing import Any

import pytest
from text_rows import rows

from pipelines.retrieval.bm25 import scores_among
from pipelines.text.words import content_words, terms, words
from salience.words import content_words as placed_words


@pytest.mark.parametrize("row", rows("words.jsonl"), ids=lambda row: row["kind"])
def test_words(row: dict[str, Any]) -> None:
    assert words(row["text"]) == row["words"]


@pytest.mark.parametrize("row", rows("search.jsonl"), ids=lambda row: row["kind"])
def test_a_query_finds_the_right_text(row: dict[str, Any]) -> None:
    ((right, wrong),) = scores_among([row["right"], row["wrong"]], [row["query"]])
    assert right > wrong


def test_neighbours_of_scripts_without_spaces_are_searched_as_pairs() -> None:
    assert terms("桥于1932年") == ["桥", "于", "1932", "年", "桥于"]
    assert terms("The mill, 1902") == ["the", "mill", "1902"]


def test_function_words_count_where_there_are_no_others() -> None:
    assert content_words("The Who are a band") == {"band"}
    assert content_words("The Who") == {"the", "who"}
    assert content_words("...") == frozenset()


def test_a_number_with_separators_is_one_word_of_a_salience_map() -> None:
    text = "Of 1,200 mills 3.5 % stand; 桥。"
    found = placed_words(text, [(n, n + 1) for n in range(len(text))], (0, len(text)))
    spans = [text[word.start : word.end] for word in found]
    assert spans == ["1,200", "mills", "3.5", "stand", "桥"]


@pytest.mark.parametrize("part", ["1", "1.", "1,11", "1.111,", "क्", "桥", "a\u0301", "\u00ad"])
def test_long_texts_take_no_long_time(part: str) -> None:
    began = time.process_time()
    terms(part * (100_000 // len(part)))
    assert time.process_time() - began < 10
