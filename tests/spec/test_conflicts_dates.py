"""Dates of sources and in texts, each as precise as it is given."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_rows import rows

from pipelines.conflicts.data import (
    EARLIEST,
    LATEST,
    PartialDate,
    Source,
    absent,
    parse,
    written,
)

PARTS = ("2024", "12", "Jul", "May", "3rd", "at", "of", "BC", "am", ":", "-", "/", "ago", ".", "T")

days = st.dates(date(EARLIEST, 1, 1), date(LATEST, 12, 31))
precise = st.builds(
    lambda day, parts: PartialDate(*(day.year, day.month, day.day)[:parts]), days, st.integers(1, 3)
)


def source(when: str | None) -> Source:
    return Source(text="The bridge opened in 1955.", date=when)


def as_text(found: PartialDate | None) -> str | None:
    if found is None:
        return None
    return "-".join(f"{part:02d}" for part in (found.year, found.month, found.day) if part)


# PartialDate


@pytest.mark.parametrize("parts", [(2024, 0, 5), (2023, 2, 29), (2024, 13), (0,), (2024, -1)])
def test_what_the_calendar_does_not_have_is_no_date(parts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"day|month|year"):
        PartialDate(*parts)


# A source's own date


@pytest.mark.parametrize("row", rows("dates.jsonl"), ids=lambda row: row["text"] or "empty")
def test_dates_as_search_results_write_them(row: dict[str, str | None]) -> None:
    assert as_text(parse(row["text"] or "")) == row["date"]


def test_numbers_and_repeated_years_are_no_date() -> None:
    assert parse("9" * 5000) is None
    assert parse("2024 " * 50) is None


@given(precise)
def test_what_is_written_is_read_again(given_date: PartialDate) -> None:
    assert parse(as_text(given_date) or "") == given_date


@given(
    st.one_of(
        st.text(max_size=120),
        st.text(alphabet="0123456789-/:., TZ+amJulyOct'()", max_size=25),
        st.lists(st.sampled_from(PARTS)).map(" ".join),
    )
)
def test_no_string_is_an_error(text: str) -> None:
    found = parse(text)
    assert found is None or EARLIEST <= found.year <= LATEST


def test_only_a_sources_own_date_counts() -> None:
    assert written(source("Jul 30, 2024")) == PartialDate(2024, 7, 30)
    assert [written(source(each)) for each in ("NA", "2 days ago", None)] == [None] * 3


def test_absent() -> None:
    assert all(map(absent, (None, "", " NA ", "Unknown")))
    assert not absent("2 days ago")
