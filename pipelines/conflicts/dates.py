"""Dates of sources, each as precise as it is given.

A source's own date is the one that its search result states. Dates within its text are another
matter: a page of 2024 may speak of 1955. So they are not read.
"""

import re
import unicodedata
from calendar import isleap, monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from pipelines.conflicts.question import Source
from pipelines.text.days import ISO_DAY, with_iso_days

EARLIEST, LATEST = 1000, 2100
"""Years outside of which a date is taken for a mistake."""


@dataclass(frozen=True, order=True)
class PartialDate:
    """A date, as precise as it is given. In order, a year stands before its months and days.

    Attributes:
        year: 1 to 9999.
        month: 1 to 12; 0 where only the year is given.
        day: 1 to 31; 0 where the day is not given.
    """

    year: int
    month: int = 0
    day: int = 0

    def __post_init__(self) -> None:
        if self.day and not self.month:
            raise ValueError("a day needs a month")
        date(self.year, self.month or 1, self.day or 1)

    def holds(self, other: "PartialDate") -> bool:
        """Whether it is less precise than another that may be meant: 2024 holds 2024-07.

        Two dates overlap if they are equal or one holds the other, and never otherwise.
        """
        return self != other and other.as_text().startswith(f"{self.as_text()}-")

    def as_text(self) -> str:
        """In ISO's form: "2024", "2024-07" or "2024-07-30"."""
        text = f"{self.year:04d}"
        if self.month:
            text += f"-{self.month:02d}"
        return text + f"-{self.day:02d}" if self.day else text

    @property
    def decimal_year(self) -> float:
        """The middle of the day, the month or the year that is given: 2024 is 2024.5."""
        first = date(self.year, self.month or 1, self.day or 1)
        of_year = 365 + isleap(self.year)
        of_month = monthrange(self.year, self.month)[1] if self.month else of_year
        passed = (first - date(self.year, 1, 1)).days + (1 if self.day else of_month) / 2
        return self.year + passed / of_year


def absent(text: str | None) -> bool:
    """Whether what stands for a date says that there is none: "", "NA", "unknown"."""
    return not text or text.strip().casefold() in _NONE


def parse(text: str, today: date | None = None) -> PartialDate | None:
    """A date as search results write it.

    The one day that `with_iso_days` finds, whatever stands beside it; else what dateutil
    understands, at the precision at which it is given: "July 2024" has no day. With dots the day
    is first. With slashes and dashes the month is, where both readings are possible: 07/08/2024 is
    the 8th of July, as in American pages. 21-07-04 is no date. Relative dates ("2 days ago",
    "yesterday") count from `today`, when the search result was retrieved; without it they say
    nothing. A span in months is known to the month, one in years to the year.

    Returns:
        The date; None where there is none, its year lies outside 1000 to 2100, or the text is
        something else, as a plain number or more than 100 characters are.
    """
    text = text.strip()
    if absent(text) or len(text) > 100:
        return None
    found = _relative(text.casefold(), today) or _absolute(text)
    return found if found and EARLIEST <= found.year <= LATEST else None


def written(source: Source) -> PartialDate | None:
    """When a source was written, as it states itself; None where it states nothing readable.

    A relative date is none: relative to which day, the data do not say.
    """
    return parse(source.date or "")


def newest_first(sources: Sequence[Source]) -> list[tuple[int, PartialDate]]:
    """The numbers of the sources that state a date, from 1, with it; the latest comes first.

    By the middle of what a date may mean, so that 2024 stands behind 2024-12-31 and before
    2024-01-01. Sources of one date stand in their order.
    """
    own = [(number, day) for number, each in enumerate(sources, 1) if (day := written(each))]
    return sorted(own, key=lambda pair: pair[1].decimal_year, reverse=True)


def told_order(sources: Sequence[Source]) -> list[tuple[int, str]]:
    """As `newest_first`, with what can be told of each: its date, and whether its place is sure.

    The place of 2024 is not sure where another source is of some month or day of 2024.
    """
    ordered = newest_first(sources)
    return [
        (
            number,
            f"{own.as_text()} (its place among those of {own.as_text()} is not known)"
            if any(own.holds(other) for _, other in ordered)
            else own.as_text(),
        )
        for number, own in ordered
    ]


_NONE = frozenset({"", "na", "n/a", "nan", "none", "null", "unknown", "no date", "undated", "-"})

_AGO = re.compile(r"(an?|[0-9]{1,5}) (second|minute|hour|day|week|month|year)s? ago")
_DAYS = {"second": 0, "minute": 0, "hour": 0, "day": 1, "week": 7}


def _relative(text: str, today: date | None) -> PartialDate | None:
    if today is None:
        return None
    if text in ("today", "yesterday"):
        return _of_day(today - timedelta(days=text == "yesterday"))
    if not (match := _AGO.fullmatch(" ".join(text.split()))):
        return None
    number, unit = 1 if match[1].startswith("a") else int(match[1]), match[2]
    months = today.year * 12 + today.month - 1 - number * (12 if unit == "year" else 1)
    try:
        if unit in _DAYS:
            return _of_day(today - timedelta(days=number * _DAYS[unit]))
        return PartialDate(months // 12, months % 12 + 1 if unit == "month" else 0)
    except (ValueError, OverflowError):  # before the first year of the calendar
        return None


def _of_day(day: date) -> PartialDate:
    return PartialDate(day.year, day.month, day.day)


# Numbers that dateutil would take for dates, "12.5" or "202407"; 20240730 and 2024 are some.
_NUMBER = re.compile(r"(?![0-9]{4}$|[0-9]{8}$)[-+]?[0-9]+(?:[.,][0-9]+)?")
_IN_DOUBT = re.compile(
    r"(?<![0-9])[0-9]{1,2}(?:-[0-9]{1,2}-[0-9]{1,2}|\.[0-9]{1,2}\.[0-9])(?![0-9])"
)
_DAY_FIRST = re.compile(r"(?<![0-9.])[0-9]{1,2}\. ?[0-9]{1,2}\. ?[0-9]{2}(?![0-9])")


def _absolute(text: str) -> PartialDate | None:
    from dateutil import parser

    text = with_iso_days(unicodedata.normalize("NFKC", text))
    if days := set(re.findall(ISO_DAY, text)):
        text = days.pop() if len(days) == 1 else ""
    if _NUMBER.fullmatch(text) or _IN_DOUBT.search(text):
        return None
    day_first = _DAY_FIRST.search(text) is not None
    # What is not given is taken from the default; so it is what two defaults differ in. Their days
    # fall on different days of the week, else "Tuesday, July 2024" would have a day.
    defaults = (datetime(2000, 1, 1), datetime(2004, 2, 15))
    try:
        one, two = (
            parser.parse(text, default=each, dayfirst=day_first, ignoretz=True) for each in defaults
        )
    except Exception:  # on strings that are no dates it raises errors of many kinds
        return None
    if one.year != two.year:
        return None
    years = re.findall(r"(?<![0-9])[0-9]{4}(?![0-9])", text)
    if years and str(one.year) not in years and f"{one.year:04d}" not in text:
        return None  # of "Jan 5-10, 2021" dateutil makes the year 2010
    month = one.month if one.month == two.month else 0
    day = one.day if month and one.day == two.day else 0
    if not day and not years:
        return None  # "12 50" would be December 2050
    return PartialDate(one.year, month, day)
