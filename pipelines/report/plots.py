"""Plots as inline SVG: estimates with intervals, shares of a whole, curves, histograms.

Bars and dots are placed by percentages of the drawing's width, so a plot fits any column without
stretching lines and letters; a square plot keeps its proportions and line widths at any size. Every
plot appears with the numbers it shows. `templates/plots.html.j2` draws them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from pipelines.metrics.estimate import Estimate
from pipelines.report.template import macro

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def dots(rows: Sequence[tuple[str, Estimate | None]], title: str) -> Markup:
    """One line per (name, value): a dot at the value in [0, 1] and a bar over its interval.

    A missing value is a dash with an empty track.
    """
    return macro("dots", rows, title)


def shares(
    rows: Sequence[tuple[str, Mapping[str, int]]], names: Mapping[str, str], title: str
) -> Markup:
    """One bar per (label, counts), divided by the counts and labelled with their sum.

    `names` maps each category to its name, in the order of the legend. A category is also the
    suffix of the CSS class for its colour.
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
        across: Name of x: "pairs".
        up: Name of y: "accuracy".
        steps: If x counts something ("rounds"), its values in order. The axis has exactly these,
            and begins and ends half a step beyond them.
    """
    points = [point for _, line in series for point in line]
    left = steps[0] - 0.5 if steps else 0
    right = steps[-1] + 0.5 if steps else max((x for x, _ in points), default=0) or 1
    wide = right - left
    high = max([1.0, *(y for _, y in points)])  # shares show their whole range
    drawn = [
        (
            name,
            [
                ((x - left) / wide, y / high, f"{name}: {y:.3g} at {_number(x)} {across}")
                for x, y in line
            ],
        )
        for name, line in series[:4]
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
    """One bar per number, as high as its share of the total.

    Args:
        counts: Number -> how many have it; not empty, each number a multiple of `wide`.
        title: Heading.
        across: Name of the numbers: "documents".
        counted: Name of what is counted: "questions".
        marks: (name, number) of at most two vertical lines, such as our mean and the paper's.
        wide: Width of a bar.
    """
    total = sum(counts.values())
    places = [*counts, *(round(number / wide) * wide for _, number in marks)]
    left, right = min(places) - wide / 2, max(places) + wide / 2
    highest = max(counts.values()) / total
    high = next(limit for limit in (0.2, 0.4, 0.6, 0.8, 1.0) if highest < limit or limit == 1)

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
    step = -(-bins // 9)  # more labels would not be legible side by side
    ticks = [(place(x), f"{x:g}") for n in range(0, bins, step) for x in [left + (n + 0.5) * wide]]
    y_ticks = [(tick, f"{100 * tick * high:.0f}") for tick in _TICKS]
    lines = [(name, place(number)) for name, number in marks[:2]]
    return macro("histogram", bars, title, (across, f"% of {counted}"), ticks, y_ticks, lines)


class Place(NamedTuple):
    """A point of a plane: two shares in [0, 1], and its label for tooltips and screen readers."""

    x: float
    y: float
    said: str


def plane(
    series: Mapping[str, Sequence[Place]],
    title: str,
    axes: tuple[str, str],
    beside: Mapping[str, Place] | None = None,
) -> Markup:
    """Shares against shares: one large point per series, and a line through the others.

    Args:
        series: Name -> points, the main one first; at most five series.
        title: Heading.
        axes: Names of x and y.
        beside: Name of a series -> a hollow point to compare with.
    """
    drawn = list(series.items())[:5]
    return macro("plane", drawn, title, axes, beside or {})


def _number(x: float) -> str:
    """A count without decimals, a share with two digits."""
    return f"{x:,.0f}" if x > 1 else f"{x:.2g}"
