"""Short answers that a text names, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.answer_recall import answer_recall, named_answers, normalised

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
        (["the", "..."], False, False),  # nothing is left of them
        ([], False, False),
    ],
)
def test_names(aliases: list[str], named: bool, by_substring: bool) -> None:
    assert named_answers([aliases], TEXT) == [named]
    assert named_answers([aliases], TEXT, substrings=True) == [by_substring]


def test_recall_is_the_share_of_answers_named() -> None:
    assert answer_recall([["1911"], ["Ada Ng", "A. Ng"], ["Maine"], ["US"]], TEXT) == 0.75
    assert answer_recall([], TEXT) is None


def test_of_a_list_five_are_enough() -> None:
    answers = [["1911"], ["Maine"], ["x"], ["y"], ["US"], ["z"], ["Alder"]]
    assert answer_recall(answers, TEXT) == 4 / 7
    assert answer_recall(answers, TEXT, most=5) == 4 / 5
    assert answer_recall(answers, TEXT, most=3) == 1
    assert answer_recall(answers[:2], TEXT, most=5) == 1


@given(words)
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(words, words, words)
def test_more_text_names_no_less(name: str, text: str, more: str) -> None:
    if named_answers([[name]], text) == [True]:
        assert named_answers([[name]], f"{text} {more}") == [True]
        assert named_answers([[name]], text, substrings=True) == [True]
