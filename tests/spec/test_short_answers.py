"""Short answers in canonical form, worked out by hand."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.answer_recall import normalised
from pipelines.metrics.short_answers import canonical, distinct, is_unknown

# Pieces that the rules are about, so that random texts meet them often.
pieces = st.sampled_from([
    "15", "july", "May", "1905", "1905-07-15", "-05-15", "1,234", "64.40", ".5", "5", ".", "-",
    "'", '"', "(", "/", ",", "$", "€", "%", "½", "²", "é", "İ", "\u2013", "the", "a", "of", "th",
    "million", "thousand", "per cent", "about", " ", "  ", "\u00a0", "\u202f", "\ue000", "\ue001",
])  # fmt: skip
texts = st.one_of(st.text(max_size=12), st.lists(pieces, max_size=9).map("".join))


@pytest.mark.parametrize(
    ("spellings", "form"),
    [
        (["Cloutierville, Louisiana", "cloutierville Louisiana."], "cloutierville louisiana"),
        (["A novel", "the novel", "Novel!"], "novel"),
        (["Punjabi-language", "Punjabi language", "Punjabi\u2013language"], "punjabi language"),
        (["São Paulo", "Sao Paulo", "Sa\u0303o Paulo"], "sao paulo"),
        (["the Go-Go's", "Go\u2010Go\u2019s"], "go gos"),
        (["U.S.", "US"], "us"),
        (["O'Hara", "O\u2019Hara", "O\u00b4Hara"], "ohara"),
        (["\u0149", "'n"], "n"),  # one character that is an apostrophe and a letter
        (["Spanish Top 40/CHR"], "spanish top 40 chr"),
        (['Missy "Misdemeanor" Elliott', "Missy “Misdemeanor” Elliott"],
         "missy misdemeanor elliott"),
        (["Football(Soccer) "], "football soccer"),
        # numbers keep their value
        (["3,559 people", "3559 people", "3\u00a0559 people", "3\u202f559 people"], "3559 people"),
        (["64.40", "64.4", "64.400"], "64.4"),
        (["42.0", "42"], "42"),
        (["0.5", ".5", "0.50"], "0.5"),
        (["-40", "\u221240"], "-40"),
        (["1,234.50"], "1234.5"),
        (["1.2 million", "1,200,000", "1200 thousand"], "1200000"),
        (["0.0000012 million"], "1.2"),  # the point moves by six places
        (["12,34", "12 34"], "12 34"),  # no thousands
        (["5½"], "5 1\u20442"),  # not 51
        (["3,559²"], "3559 2"),  # a footnote
        (["3.10.2"], "3.10.2"),
        (["1893-1896", "1893\u20131896"], "1893 1896"),
        (["7%", "7 %", "7 percent", "7 per cent"], "7 percent"),
        (["$31,250", "31,250 dollars", "31,250 $"], "31250 dollars"),
        (["$1.2 million", "1,200,000 dollars"], "1200000 dollars"),
        (["c. 1835", "c.1835"], "c 1835"),
        # days
        (
            ["July 15, 1905", "July 15th 1905", "15 July 1905", "15th of July, 1905", "1905-07-15",
             "Jul. 15, 1905", "15 Jul 1905", "the 15th of July 1905"],
            "1905-07-15",
        ),
        (["29 March, 1814", "March 29, 1814"], "1814-03-29"),
        (["3 Sept. 1717"], "1717-09-03"),
        (["31 June 1905"], "31 june 1905"),  # June has 30 days
        (["1905-13-15"], "1905 13 15"),
        (["September 1888"], "september 1888"),
        (["7/15/1905"], "7 15 1905"),
        (["fifteenth of July"], "fifteenth of july"),
        (["two"], "two"),
        (["...", "the", ""], ""),
    ],
)  # fmt: skip
def test_spellings_of_one_answer(spellings: list[str], form: str) -> None:
    assert [canonical(each) for each in spellings] == [form] * len(spellings)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("64.4", "644"),
        ("42,800", "428"),
        ("-40", "40"),
        ("15 July 1905", "16 July 1905"),
        ("1.2 million", "1.2 billion"),
        ("$5", "£5"),
    ],
)
def test_other_answers_keep_apart(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@given(texts)
def test_the_form_of_a_form_is_itself(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


@given(st.text(alphabet="abcxyz THE.'!\"", max_size=20))
def test_without_numbers_and_parting_marks_it_is_the_usual_normalisation(text: str) -> None:
    assert canonical(text) == normalised(text)


@given(st.integers(min_value=0, max_value=10**15))
def test_thousands_separators_change_nothing(number: int) -> None:
    for separator in (",", "\u00a0", "\u2009", "\u202f"):
        assert canonical(f"{number:,}".replace(",", separator)) == str(number)


@given(st.dates(), st.sampled_from(["%d %B {}", "%B %d, {}", "%dth of %b. {}", "{}-%m-%d"]))
def test_every_day_is_one_word(day: date, order: str) -> None:
    assert canonical(day.strftime(order).format(f"{day.year:04}")) == day.isoformat()


@pytest.mark.parametrize(
    "text",
    ["unknown", "Unknown.", "None", "N/A", "n/a.", "n.a.", "not stated", "I don't know",
     "not mentioned in the document", "Not specified in this text.", "unknown (not stated)",
     "Unknown based on the document", "Cannot be determined from the passage", "It is unknown.",
     "The document does not provide this information", "Not explicitly stated",
     "Information not available", "Information is not available in the document",
     "The provided document does not mention any such information.", "The text doesn't say.",
     "This information is not provided", "Not directly mentioned in the text",
     "The document does not say when it was built.", "There is no information", "None provided",
     "The text does not specify the year", "No information given in the document.",
     "The document provides no information about the date.", "The year is not mentioned",
     "There is no information about this in the document", "No specific date is given",
     "The exact date is not specified in the text.", "Date not provided", "Unspecified",
     "Unable to determine", "I cannot answer this question based on the document.",
     "Sorry, the document does not mention this.", "unknown (the document does not say)",
     "I don\u2019t know.", "No answer", "The answer is unknown", "", " ... ", "the"],
)  # fmt: skip
def test_what_says_that_there_is_no_answer(text: str) -> None:
    assert is_unknown(text)


@pytest.mark.parametrize(
    "text",
    [
        "None of the above",
        "The Unknown Soldier",
        "unknown artist",
        "The document does not mention Boston",
        "The document does not say when it was built, but it was in 1856",
        "This document does not say so. The mill does.",
        "there is no place like home",
        "Information Age",
        "no information on Boston",
        "mentioned in the document",
        "The year is not mentioned, but Boston is",
        "date given",
        "Sorry",
        "Unable",
        "no country",
        "The company does not provide insurance",
        "It was not until 1932",
        "It is 1902",
        "Na",
        "N",
        "0",
        "no",
        "Nobody",
        "the unknown son",
    ],
)
def test_what_only_sounds_like_it(text: str) -> None:
    assert not is_unknown(text)


def test_distinct_keeps_first_spellings_in_order() -> None:
    answers = ["The Film", "3,559", "film", "...", "", "Play", "3559", "unknown"]
    assert distinct(answers) == ("The Film", "3,559", "Play", "unknown")
    assert distinct(iter([])) == ()


@given(st.lists(texts, max_size=6))
def test_distinct_answers_are_distinct_and_all_there(answers: list[str]) -> None:
    kept = distinct(answers)
    assert len({canonical(each) for each in kept}) == len(kept)
    assert {canonical(each) for each in kept} == {canonical(each) for each in answers} - {""}
    assert distinct(kept) == kept
