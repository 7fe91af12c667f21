"""Short answers named in a text, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.alce import named_answers

TEXT = "The U.S. built Alder Bridge, in Maine, in 1911."

words = st.text(alphabet="abc, .", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("aliases", "named", "by_substring"),
    [
        (["1911"], True, True),
        (["the Alder bridge!"], True, True),
        (["Alder Bridge in Maine"], True, True),
        (["US"], True, True),
        (["19"], False, True),
        (["a ridge"], False, True),
        (["1954", "Maine"], True, True),
        (["bridge Alder"], False, False),
        (["the", "..."], False, False),  # they normalise to nothing
        ([], False, False),
    ],
)
def test_names(aliases: list[str], named: bool, by_substring: bool) -> None:
    assert named_answers([aliases], TEXT) == [named]
    assert named_answers([aliases], TEXT, substrings=True) == [by_substring]


@given(words, words, words)
def test_more_text_names_no_less(name: str, text: str, more: str) -> None:
    if named_answers([[name]], text) == [True]:
        assert named_answers([[name]], f"{text} {more}") == [True]
        assert named_answers([[name]], text, substrings=True) == [True]
