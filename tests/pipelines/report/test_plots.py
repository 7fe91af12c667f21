"""Histograms, planes and curves, as they are drawn."""

import re

import pytest
from pages import safe

from pipelines.metrics.estimate import Estimate
from pipelines.report.plots import Place, curve, dots, histogram, plane, shares

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


def test_a_point_lies_where_its_shares_are() -> None:
    drawn = str(plane({"a": [Place(0, 1, "a, all"), Place(1, 0, "a, few")]}, "T", ("x", "y")))
    # The frame begins at 34, 8 and is 240 wide and high; y points down.
    assert 'cx="34.00" cy="8.00" r="5"' in drawn
    assert 'cx="274.00" cy="248.00" r="2"' in drawn
    assert drawn.index('r="2"') < drawn.index('r="5"'), "what counts is drawn on top"
    assert "a, all: 0.00, 1.00" in drawn
    assert "hollow" not in drawn


def test_a_curve_over_steps_has_each_step_in_a_column_of_its_own() -> None:
    rounds = [(1.0, 0.25), (2.0, 0.5), (3.0, 1.0)]
    names = ["first", "second", "third", "fourth"]
    drawn = curve([(name, rounds) for name in names], "F1", "rounds", "F1", steps=(1, 2, 3))
    # Three steps share the width evenly, each in the middle of its third.
    columns = [34 + SIDE * share for share in (1 / 6, 3 / 6, 5 / 6)]
    for name in names:
        found = re.findall(rf'<circle class="{name}" cx="([\d.]+)"', drawn)
        assert [float(x) for x in found] == pytest.approx(columns, abs=0.01)
    ticks = re.findall(r'<text x="([\d.]+)" y="260" text-anchor="middle">(\d)</text>', drawn)
    assert [text for _, text in ticks] == ["1", "2", "3"]
    assert [float(x) for x, _ in ticks] == pytest.approx(columns, abs=0.01)
    assert "fourth: 0.5 at 2 rounds" in drawn


def test_plots_show_what_they_are_given() -> None:
    plot = str(dots([("<a>", Estimate(0.5, 0.25, 0.75, 9)), ("none", None)], "Title"))
    assert 'cx="50.00%"' in plot
    assert 'x1="25.00%" x2="75.00%"' in plot
    assert plot.count("<circle") == 1
    assert "&lt;a&gt;" in plot
    assert "–" in plot
    bars = str(shares([("v", {"S": 3, "C": 1})], {"S": "yes", "C": "no", "I": "other"}, "Title"))
    assert 'x="0.000%" y="2" width="75.000%"' in bars
    assert 'x="75.000%" y="2" width="25.000%"' in bars
    assert 'aria-label="yes 3, no 1"' in bars
    assert "nothing" in str(shares([("v", {})], {"S": "yes"}, "Title"))
