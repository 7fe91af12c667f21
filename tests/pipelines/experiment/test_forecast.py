"""What a dry run says, worked by hand."""

import pytest

from pipelines.experiment.forecast import Amounts, Forecast, Hours, Range, table
from serving.probe import Pace, Window

PACE = Pace((Window(1, 100, 10), Window(3, 300, 30)), 20, "2026-11-23 22:00 UTC")
"""Two calls a second; a tenth of the windows is below 1.2, a tenth above 2.8."""


def test_ranges_say_what_is_known() -> None:
    assert str(Range(120, 120)) == "120"
    assert str(Range(52, 3100)) == "from 52 to 3,100"
    assert str(Range(52, 310, 97.4)) == "about 97 (from 52 to 310)"
    assert Range(1, 1) + Range(2, 4, 3) == Range(3, 5, 4)
    assert Range(1, 2) + Range(2, 4, 3) == Range(3, 6, None)


def test_hours_are_calls_by_calls_per_second() -> None:
    known = Forecast(10, amounts=Amounts(calls=Range(7200, 7200)), pace=PACE, model="m")
    assert known.hours is not None
    assert known.hours.expected == pytest.approx(1)
    assert known.hours.low == pytest.approx(2 / 2.8)
    assert known.hours.high == pytest.approx(2 / 1.2)
    assert str(known.hours) == "1 (0.71 to 1.7)"
    bounds = Forecast(10, amounts=Amounts(calls=Range(3600, 7200)), pace=PACE, model="m")
    assert str(bounds.hours) == f"from {1 / 2.8:.2g} to 1.7"


def test_without_a_probe_there_are_hours_only_where_nothing_is_asked() -> None:
    assert Forecast(10, amounts=Amounts(calls=Range(1, 1)), model="m").hours is None
    assert Forecast(10).hours == Hours(0, 0, 0)


def test_lines_say_what_was_looked_at() -> None:
    told = Forecast(
        items=1000,
        done=100,
        amounts=Amounts(Range(4, 4), Range(5, 9, 6), Range(1, 2), Range(8, 8), Range(3, 3)),
        sampled=50,
        spread=0.04,
        measured=12,
        model="m",
        refused=(2, "too long"),
        missing="no folder",
        pace=None,
    ).lines("questions")
    assert told == [
        "100 of 1,000 questions are done",
        "pairs to tag: 3",
        "calls to m: 4",
        "tokens read: about 6 (from 5 to 9)",
        "  of these shared prefixes: from 1 to 2",
        "tokens written: 8",
        "hours: unknown; --probe measures them",
        "from 50 of the 900 questions that are left, within 4%",
        "expected as of 12 questions that the cache knows whole",
        "2 of 50 cannot be asked about: too long",
        "tokens are counted as four characters each: no folder",
    ]
    assert Forecast(3).lines("examples") == ["no language model is asked"]


def test_a_table_adds_up() -> None:
    one = Forecast(
        1, amounts=Amounts(Range(3600, 3600), Range(9, 9), written=Range(1, 3)), pace=PACE
    )
    rows = table([("1/2  conrag", one), ("2/2  npov", Forecast(5))])
    assert [row.split("  ")[0] for row in rows] == ["", "1/2", "2/2", "all"]
    assert rows[-1].split()[1:] == [
        "3,600",
        "9",
        "from",
        "1",
        "to",
        "3",
        "0.5",
        "(0.36",
        "to",
        "0.83)",
    ]
    unknown = Forecast(1, amounts=Amounts(Range(1, 1)), model="m")
    assert table([("a", one), ("b", unknown)])[-1].endswith("unknown")
