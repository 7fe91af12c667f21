"""Plots as inline SVG: estimates with intervals, shares of a whole, curves, histograms.

Bars and dots lie at percentages of the drawing's width, so that a plot fits any column without its
lines and letters being stretched; a square plot keeps its proportions, and its lines keep their
width at any size. Every plot stands beside the numbers it shows. `templates/plots.html.j2` draws.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from pipelines.metrics.estimate import Estimate
from pipelines.report.template import macro

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def dots(
    rows: Sequence[tuple[str, Estimate | None]],
    title: str,
    beside: Sequence[tuple[str, Estimate | None]] = (),
) -> Markup:
    """One line per (name, value): a dot at the value in [0, 1] and a bar over its interval.

    A row without a value has a dash and an empty track. Rows to compare with (`beside`) come below
    the others; their dots are hollow.
    """
    return macro("dots", rows, title, beside)


def shares(
    rows: Sequence[tuple[str, Mapping[str, int]]], names: Mapping[str, str], title: str
) -> Markup:
    """One bar per (label, counts), divided by the counts; their sum stands beside.

    Names are what the categories of the counts are called, in the legend's order; a category is
    the CSS class suffix of its colour.
    """
    return macro("shares", rows, names, title)


def curve(
    series: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    title: str,
    across: str,
    up: str,
    *,
    steps: Sequence[int] = (),
) -> Markup:
    """One line per series through its points; the axes begin at 0 and end at the largest value.

    Args:
        series: (name, points) of at most four lines; a point is (x, y), neither below 0.
        title: Heading.
        across: What x is: "pairs".
        up: What y is: "accuracy".
        steps: Where x counts something ("rounds"), the numbers that it takes, in order. The axis
            then has exactly these, and begins and ends half a step beyond them.
    """
    points = [point for _, one in series for point in one]
    left = steps[0] - 0.5 if steps else 0
    right = steps[-1] + 0.5 if steps else max((x for x, _ in points), default=0) or 1
    wide = right - left
    high = max([1.0, *(y for _, y in points)])  # shares are shown on their whole range
    drawn = [
        (
            name,
            [
                ((x - left) / wide, y / high, f"{name}: {y:.3g} at {_number(x)} {across}")
                for x, y in one
            ],
        )
        for name, one in series[:4]
    ]
    x_ticks = (
        [((step - left) / wide, f"{step:,}") for step in steps]
        if steps
        else [(tick, _number(tick * wide)) for tick in (0.0, 0.5, 1.0)]
    )
    y_ticks = [(tick, f"{tick * high:.2g}") for tick in _TICKS]
    return macro("curve", drawn, title, (across, up), x_ticks, y_ticks)


def histogram(
    counts: Mapping[float, int],
    title: str,
    across: str,
    counted: str,
    marks: Sequence[tuple[str, float]] = (),
    *,
    wide: float = 1.0,
) -> Markup:
    """A bar per number, as high as its share of all that are counted.

    Args:
        counts: Number -> how many have it; not empty, each number a multiple of `wide`.
        title: Heading.
        across: What the numbers are: "documents".
        counted: What has them: "questions".
        marks: (name, number) of at most two upright lines, such as a mean and one to compare with.
        wide: Width of a bar.
    """
    total = sum(counts.values())
    places = [*counts, *(round(number / wide) * wide for _, number in marks)]
    left, right = min(places) - wide / 2, max(places) + wide / 2
    highest = max(counts.values()) / total
    high = next(each for each in (0.2, 0.4, 0.6, 0.8, 1.0) if highest < each or each == 1)

    def place(x: float) -> float:
        return (x - left) / (right - left)

    bars = [
        (
            place(number - 0.4 * wide),
            place(number + 0.4 * wide),
            count / total / high,
            f"{number:g} {across}: {count:,} of {total:,}",
        )
        for number, count in counts.items()
    ]
    bins = round((right - left) / wide)
    every = -(-bins // 9)  # so many labels can be read beside each other
    ticks = [(place(x), f"{x:g}") for n in range(0, bins, every) for x in [left + (n + 0.5) * wide]]
    y_ticks = [(tick, f"{100 * tick * high:.0f}") for tick in _TICKS]
    lines = [(name, place(number)) for name, number in marks[:2]]
    return macro("histogram", bars, title, (across, f"% of {counted}"), ticks, y_ticks, lines)


class Place(NamedTuple):
    """A point of a plane: two shares in [0, 1], and what it is, for the pointer and the ear."""

    x: float
    y: float
    said: str


def plane(
    series: Mapping[str, Sequence[Place]],
    title: str,
    axes: tuple[str, str],
    beside: Mapping[str, Place] | None = None,
) -> Markup:
    """Shares against shares: a large point per series, and a line through its further ones.

    Args:
        series: Name -> points, the one that counts first; at most five.
        title: Heading.
        axes: What x and y are.
        beside: Name of a series -> a point to compare with, which is hollow.
    """
    drawn = list(series.items())[:5]
    return macro("plane", drawn, title, axes, beside or {})


def _number(x: float) -> str:
    """A count without decimals, a share with two digits."""
    return f"{x:,.0f}" if x > 1 else f"{x:.2g}"
