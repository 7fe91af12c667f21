"""Contradictions made by exchanging one part of a text."""

import random

from hypothesis import given
from hypothesis import strategies as st

from pipelines.text.substitution import Kind, exchanged, falsified, has_words, mentions

SENTENCE = "In May 1902 the court moved to New Orleans, where 3,559 people and 2.5 clerks lived."


def test_mentions_are_dates_numbers_and_names_in_order() -> None:
    assert [(each.kind, each.text) for each in mentions(SENTENCE)] == [
        ("month", "May"),
        ("year", "1902"),
        ("name", "New Orleans"),
        ("number", "3,559"),
        ("number", "2.5"),
    ]
    assert all(SENTENCE[e.start :].startswith(e.text) for e in mentions(SENTENCE))


@given(seed=st.integers(0, 500))
def test_one_mention_is_exchanged_and_the_document_does_not_have_the_new_one(seed: int) -> None:
    document = f"The court was small. {SENTENCE} It closed in 1950."
    names: dict[Kind, tuple[str, ...]] = {
        "name": ("Broken Bow", "New Orleans"),
        "month": ("June", "May"),
    }
    false = falsified(SENTENCE, random.Random(seed), names, within=document)
    assert false is not None
    text, mention, substitute = false
    before, after = text[: mention.start], text[mention.start + len(substitute) :]
    assert before + mention.text + after == SENTENCE
    assert text[mention.start :].startswith(substitute)
    assert not has_words(document, substitute)


def test_what_only_the_claim_says_is_not_exchanged() -> None:
    # The document does not bear out 1902: exchanging it would not make a contradiction.
    assert falsified("It opened in 1902.", random.Random(0), {}, within="It opened.") is None


def test_whole_words_are_exchanged_whatever_their_case() -> None:
    assert exchanged("Golf? golf! golfers", "Golf", "Chess") == "Chess? Chess! golfers"
    assert exchanged("C++ (1985)", "C++", r"\1") == r"\1 (1985)"


WORDS = ("2", "2.5", "2,000", "12", "2nd", "x2", "1902", "1902.5", "may", "May", "Maybe", "York")
ENDS = ("", ",", ".", ";", ")", "-year")


@given(
    words=st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)), min_size=1),
    old=st.sampled_from(WORDS),
)
def test_only_the_mention_is_exchanged(words: list[tuple[str, str]], old: str) -> None:
    """Neither a part of another number or word, nor the same letters in another case."""
    text = " ".join(word + end for word, end in words)
    wanted = " ".join(("NEW" if word == old else word) + end for word, end in words)
    assert exchanged(text, old, "NEW", as_written=True) == wanted
    assert has_words(text, old, as_written=True) == (old in {word for word, _ in words})
