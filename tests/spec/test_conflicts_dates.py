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
    newest_first,
    parse,
    told_order,
    written,
)

TODAY = date(2025, 3, 2)
PARTS = ("2024", "12", "Jul", "May", "3rd", "at", "of", "BC", "am", ":", "-", "/", "ago", ".", "T")

days = st.dates(date(EARLIEST, 1, 1), date(LATEST, 12, 31))
precise = st.builds(
    lambda day, parts: PartialDate(*(day.year, day.month, day.day)[:parts]), days, st.integers(1, 3)
)


def source(when: str | None) -> Source:
    return Source(text="The bridge opened in 1955.", date=when)


def as_text(found: PartialDate | None) -> str | None:
    return None if found is None else found.as_text()


# PartialDate


def test_a_date_is_written_as_precisely_as_it_is_known() -> None:
    made = [PartialDate(2024), PartialDate(2024, 7), PartialDate(2024, 7, 30)]
    year, month, day = made
    assert [each.as_text() for each in made] == ["2024", "2024-07", "2024-07-30"]
    assert sorted([day, year, month]) == made


def test_its_place_on_a_line_of_years_is_the_middle_of_what_is_given() -> None:
    assert PartialDate(2023).decimal_year == 2023.5
    assert PartialDate(2024).decimal_year == 2024.5
    assert PartialDate(2024, 1).decimal_year == pytest.approx(2024 + 15.5 / 366)
    assert PartialDate(2023, 12, 31).decimal_year == pytest.approx(2023 + 364.5 / 365)


@pytest.mark.parametrize("parts", [(2024, 0, 5), (2023, 2, 29), (2024, 13), (0,), (2024, -1)])
def test_what_the_calendar_does_not_have_is_no_date(parts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"day|month|year"):
        PartialDate(*parts)


@given(precise, precise)
def test_order_and_place_agree_for_dates_of_one_precision(
    one: PartialDate, two: PartialDate
) -> None:
    assert one.year <= one.decimal_year < one.year + 1
    if bool(one.month) == bool(two.month) and bool(one.day) == bool(two.day):
        assert (one < two) == (one.decimal_year < two.decimal_year)


# A source's own date


@pytest.mark.parametrize("row", rows("dates.jsonl"), ids=lambda row: row["text"] or "empty")
def test_dates_as_search_results_write_them(row: dict[str, str | None]) -> None:
    assert as_text(parse(row["text"] or "")) == row["date"]


def test_numbers_and_repeated_years_are_no_date() -> None:
    assert parse("9" * 5000) is None
    assert parse("2024 " * 50) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", "2025-03-02"), ("Yesterday", "2025-03-01"), ("2 days ago", "2025-02-28"),
        ("3 weeks ago", "2025-02-09"), ("5 hours ago", "2025-03-02"), ("an hour ago", "2025-03-02"),
        ("2 months ago", "2025-01"), ("3 months ago", "2024-12"), ("1 year ago", "2024"),
        ("July 2024", "2024-07"),
        # Beyond the calendar, or no span.
        ("2000 years ago", None), ("99999 weeks ago", None), ("99999 months ago", None),
        ("ago", None),
    ],
)  # fmt: skip
def test_relative_dates_count_from_the_day_of_retrieval(text: str, expected: str | None) -> None:
    assert as_text(parse(text, TODAY)) == expected


@given(precise)
def test_what_is_written_is_read_again(given_date: PartialDate) -> None:
    assert parse(given_date.as_text()) == given_date


@given(
    st.one_of(
        st.text(max_size=120),
        st.text(alphabet="0123456789-/:., TZ+amJulyOct'()", max_size=25),
        st.lists(st.sampled_from(PARTS)).map(" ".join),
    ),
    st.sampled_from([None, TODAY]),
)
def test_no_string_is_an_error(text: str, today: date | None) -> None:
    found = parse(text, today)
    assert found is None or EARLIEST <= found.year <= LATEST


def test_only_a_sources_own_date_counts() -> None:
    assert written(source("Jul 30, 2024")) == PartialDate(2024, 7, 30)
    assert [written(source(each)) for each in ("NA", "2 days ago", None)] == [None] * 3


def test_absent() -> None:
    assert all(map(absent, (None, "", " NA ", "Unknown")))
    assert not absent("2 days ago")


def test_the_newest_of_sources() -> None:
    given_sources = [source("2024-01-05"), source("NA"), source("Mar 2024"), source("2023")]
    assert newest_first(given_sources)[0][1] == PartialDate(2024, 3)
    assert newest_first([source(None), source("NA")]) == []
    assert newest_first([source("2020"), source(None), source("2020-05"), source("2020")]) == [
        (1, PartialDate(2020)), (4, PartialDate(2020)), (3, PartialDate(2020, 5)),
    ]  # fmt: skip


def test_a_date_holds_the_more_precise_ones_within_it() -> None:
    year, month, day = PartialDate(2024), PartialDate(2024, 7), PartialDate(2024, 7, 30)
    assert year.holds(month) and year.holds(day) and month.holds(day)
    for one, other in ((year, year), (month, year), (month, PartialDate(2024, 1, 30))):
        assert not one.holds(other)
    assert not PartialDate(202).holds(year)


@given(precise, precise)
def test_dates_that_do_not_overlap_are_in_a_known_order(one: PartialDate, two: PartialDate) -> None:
    """The order of their middles is that of any two of their days."""
    if not (one == two or one.holds(two) or two.holds(one)):
        last = [PartialDate(each.year, each.month or 12, each.day or 28) for each in (one, two)]
        assert (one.decimal_year < two.decimal_year) == (last[0] < last[1])


def test_the_order_that_is_told_worked_by_hand() -> None:
    # 2024 may be before or after the first of January, and is surely after 2021 and before 2025.
    dates = ["2021", "2024", "2024-01-01", None, "2025-02", "2024-12-30"]
    assert told_order([source(each) for each in dates]) == [
        (5, "2025-02"),
        (6, "2024-12-30"),
        (2, "2024 (its place among those of 2024 is not known)"),
        (3, "2024-01-01"),
        (1, "2021"),
    ]
    months = [source("2024-07"), source("30 July 2024"), source("2024-06-02"), source("2024-07")]
    unsure = "2024-07 (its place among those of 2024-07 is not known)"
    assert told_order(months) == [(2, "2024-07-30"), (1, unsure), (4, unsure), (3, "2024-06-02")]
    # Alone, or beside its equal, a year has a place.
    years = [source(each) for each in ("2020", "2024", "2024")]
    assert told_order(years) == [(2, "2024"), (3, "2024"), (1, "2020")]
