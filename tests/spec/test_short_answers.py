"""Canonical forms of short answers: those in tests/texts/answers.jsonl, and invariants."""

import time
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_rows import rows

from pipelines.metrics.answers import canonical, distinct

# Fragments that the rules handle, so that random texts contain them often.
pieces = st.sampled_from([
    "15", "july", "May", "1905", "1905-07-15", "-05-15", "1,234", "64.40", ".5", "5", ".", "-",
    "'", '"', "(", "/", ",", "$", "€", "%", "½", "²", "é", "İ", "\u2013", "the", "a", "of", "th",
    "million", "thousand", "per cent", "about", " ", "  ", "\u00a0", "\u202f", "A", "An", "vitamin",
    "+", "#", "10^6", "×10⁶", "M", "k", "bn", "ft", "feet", "''", "年", "月", "日", "AB", "is", "&",
])  # fmt: skip
texts = st.one_of(st.text(max_size=12), st.lists(pieces, max_size=9).map("".join))


@pytest.mark.parametrize("row", rows("answers.jsonl"), ids=lambda row: " = ".join(row["texts"]))
def test_spellings_of_one_answer_have_one_form_and_other_answers_another(
    row: dict[str, Any],
) -> None:
    forms = {canonical(text) for text in row["texts"]}
    assert len(forms) == (1 if row["same"] else len(row["texts"])), forms


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Division I-A", "division i a."),
        ("A novel of the Arts", "novel of arts"),
        ("C++ and C#", "c++ and c#"),
        ("AB- or A-", "ab- or a-"),
        ("$1.2 million", "1200000 dollars"),
        ("0.0000012 million", "1.2"),  # the point moves by six places
        ("1.5M people", "1500000 people"),
        ("5 × 10^6", "5000000"),
        ("5 feet 11 inches", "5ft11in"),
        ("7 per cent", "7 percent"),
        ("on 15.7.1905, at noon", "on 1905-07-15 at noon"),
        ("5½", "5 1\u20442"),
        ("The", "the"),
        ("...", ""),
    ],
)
def test_forms(text: str, form: str) -> None:
    assert canonical(text) == form


@given(texts)
def test_the_form_of_a_form_is_itself(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


@given(st.integers(min_value=0, max_value=10**15))
def test_thousands_separators_change_nothing(number: int) -> None:
    for separator in (",", "'", "\u00a0", "\u2009", "\u202f"):
        assert canonical(f"{number:,}".replace(",", separator)) == str(number)


@given(
    st.dates(), st.sampled_from(["%d %B {}", "%B %d, {}", "%dth of %b. {}", "{}-%m-%d", "%d.%m.{}"])
)
def test_every_day_is_one_word(day: date, order: str) -> None:
    assert canonical(day.strftime(order).format(f"{day.year:04}")) == day.isoformat()


@pytest.mark.parametrize("unit", ["a ", "A. ", "1.", "1,", "5' ", "vitamin ", "july ", "((", "10^"])
def test_a_long_text_takes_no_long_time(unit: str) -> None:
    start = time.perf_counter()
    canonical(unit * 8_000)
    assert time.perf_counter() - start < 5


def test_distinct_keeps_first_spellings_in_order() -> None:
    answers = ["The Film", "3,559", "film", "...", "", "Play", "3559", "unknown"]
    assert distinct(answers) == ("The Film", "3,559", "Play", "unknown")
    assert distinct(iter([])) == ()
