"""Histograms, as they are drawn."""

import re

import pytest
from pages import safe

from pipelines.report.plots import histogram

TOP, SIDE, LEFT = 8, 240, 34  # of the square that plots are drawn in


def bars(drawn: str) -> list[tuple[float, float, float]]:
    """Left edge, width and height of each bar, as shares of the square."""
    found = re.findall(
        r'class="bar" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="([\d.]+)"', drawn
    )
    return [
        ((float(x) - LEFT) / SIDE, float(width) / SIDE, float(height) / SIDE)
        for x, width, height in found
    ]


def test_bars_are_as_high_as_their_shares() -> None:
    drawn = histogram({0: 1, 2: 3}, "Wrong answers", "per question", "questions", [("mean", 1.5)])
    # The axes have 0 to 2, a third of the width each, and up to 80 %: 25 % and 75 % of questions.
    assert bars(drawn) == [
        pytest.approx((0.1 / 3, 0.8 / 3, 0.25 / 0.8), abs=1e-3),
        pytest.approx((2.1 / 3, 0.8 / 3, 0.75 / 0.8), abs=1e-3),
    ]
    assert "2 per question: 3 of 4" in drawn
    assert f'x1="{LEFT + SIDE * 2 / 3:.2f}"' in drawn, "1.5 lies two thirds across -0.5 to 2.5"
    assert [label for label in ("0", "1", "2") if f">{label}</text>" in drawn] == ["0", "1", "2"]
    safe(drawn)


def test_a_mark_outside_the_bars_lies_within_the_axes() -> None:
    drawn = histogram({1: 5}, "t", "a", "b", [("here", 1), ("paper", 2.2)])
    places = [float(x) for x in re.findall(r'class="path [^"]*" x1="([\d.]+)"', drawn)]
    assert len(places) == 2
    assert all(LEFT <= x <= LEFT + SIDE for x in places)
    ((_, _, height),) = bars(drawn)
    assert height == pytest.approx(1), "all of them: the axis ends at 100 %"
