from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli.sentences import Span
from nli.windows import windows

texts = st.text(st.sampled_from("ab Z.!?\n\t-1。\"'()é\u2028"), max_size=120)


def read(text: str, budget: int, overlap: int) -> list[str]:
    return [text[slice(*span)] for span in windows(text, words, budget, overlap)]


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def characters(texts: Sequence[str]) -> list[int]:
    """More tokens for the whole than for its parts, as some tokenizers have it."""
    return [len(text) + 2 * text.count(" ") for text in texts]


@given(texts, st.integers(1, 30), st.integers(0, 3), st.sampled_from([words, characters]))
def test_windows_cover_the_text_within_the_budget(
    text: str, budget: int, overlap: int, length_of: object
) -> None:
    count = words if length_of is words else characters
    spans = windows(text, count, budget, overlap)
    covered = {place for span in spans for place in range(span.start, span.end)}
    assert all(text[place].isspace() for place in set(range(len(text))) - covered)
    for span in spans:
        part = text[slice(*span)]
        assert part == part.strip()
        assert count([part])[0] <= budget or len(part) == 1
    assert all(one.start < two.start and one.end < two.end for one, two in zip(spans, spans[1:]))  # noqa: B905, RUF007


def test_windows_fill_up_and_repeat_the_last_sentences() -> None:
    text = "A b c. D e f. G h i. J k l. M n o."
    assert read(text, 9, 1) == ["A b c. D e f. G h i.", "G h i. J k l. M n o."]
    assert read(text, 6, 0) == ["A b c. D e f.", "G h i. J k l.", "M n o."]
    # The next sentence comes first: what is repeated must leave room for it.
    assert len(windows(text, words, 3, 2)) == 5


def test_a_text_that_fits_is_one_window_and_blank_text_none() -> None:
    assert windows("  It rains. It falls.\n", words, 4, 1) == [Span(2, 21)]
    assert windows(" \n ", words, 4, 1) == []


def test_a_long_sentence_is_cut_between_words_and_a_long_word_within() -> None:
    cut = read("one two three four five. Six.", 2, 0)
    assert cut == ["one two", "three four", "five. Six."]
    assert [span.end - span.start for span in windows("x" * 10, characters, 4, 0)] == [4, 4, 2]


@pytest.mark.parametrize(("budget", "overlap"), [(0, 0), (5, -1)])
def test_impossible_windows_are_refused(budget: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="windows"):
        windows("text", words, budget, overlap)
