"""Small plots as inline SVG: estimates with their intervals, and shares of a whole.

Positions are percentages of the drawing's width, so that a plot fits any column without its lines
and letters being stretched. Every plot stands beside the numbers it shows.
"""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from pipelines.metrics.estimate import Estimate
from pipelines.report.table import shown
from pipelines.report.text import visible

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def dots(rows: Sequence[tuple[str, Estimate | None]], title: str) -> Markup:
    """One line per row: a dot at the value in [0, 1] and a bar over its interval.

    A row without a value has a dash and an empty track.
    """
    lines = Markup("").join(
        Markup(
            '<div class="plot-label" dir="auto">{}</div>{}<div class="plot-value">{}</div>'
        ).format(visible(label), _dot(estimate), _value(estimate))
        for label, estimate in rows
    )
    axis = Markup("").join(
        Markup('<text x="{}%" y="11" text-anchor="{}">{:g}</text>').format(
            tick * 100, {0.0: "start", 1.0: "end"}.get(tick, "middle"), tick
        )
        for tick in _TICKS
        if tick in (0.0, 0.5, 1.0)
    )
    return Markup(
        '<figure class="plot"><figcaption>{}</figcaption><div class="plot-rows">{}'
        '<svg class="plot-axis" height="14" width="100%" aria-hidden="true">{}</svg>'
        "</div></figure>"
    ).format(title, lines, axis)


def shares(
    rows: Sequence[tuple[str, Mapping[str, int]]], names: Mapping[str, str], title: str
) -> Markup:
    """One bar per row, divided by the row's counts; the counts stand in the legend's order beside.

    Args:
        rows: Label -> count per category.
        names: Category -> name shown; the category is the CSS class suffix of its colour.
        title: Heading of the plot.
    """
    lines = Markup("").join(
        Markup(
            '<div class="plot-label" dir="auto">{}</div>{}<div class="plot-value">{}</div>'
        ).format(visible(label), _bar(counts, names), f"{sum(counts.values()):,}")
        for label, counts in rows
    )
    legend = Markup("").join(
        Markup('<li><i class="swatch fill-{}" aria-hidden="true"></i>{}</li>').format(key, name)
        for key, name in names.items()
    )
    return Markup(
        '<figure class="plot whole"><figcaption>{}</figcaption><div class="plot-rows">{}</div>'
        '<ul class="legend">{}</ul></figure>'
    ).format(title, lines, legend)


def _value(estimate: Estimate | None) -> Markup:
    value, _, interval = shown(estimate).partition(" ")
    return Markup('{} <span class="interval">{}</span>').format(value, interval)


def _dot(estimate: Estimate | None) -> Markup:
    grid = Markup("").join(
        Markup('<line class="grid" x1="{0}%" x2="{0}%" y1="0" y2="22"/>').format(tick * 100)
        for tick in _TICKS
    )
    mark = Markup("")
    if estimate is not None:
        if estimate.low is not None and estimate.high is not None:
            mark += Markup(
                '<line class="whisker" x1="{:.2f}%" x2="{:.2f}%" y1="11" y2="11"/>'
            ).format(estimate.low * 100, estimate.high * 100)
        mark += Markup('<circle class="dot" cx="{:.2f}%" cy="11" r="5"/>').format(
            estimate.value * 100
        )
    return Markup(
        '<svg class="track" height="22" width="100%" aria-hidden="true">{}{}</svg>'
    ).format(grid, mark)


def _bar(counts: Mapping[str, int], names: Mapping[str, str]) -> Markup:
    total = sum(counts.values())
    start, parts, said = 0.0, Markup(""), []
    for key, name in names.items():
        count = counts.get(key, 0)
        if not count:
            continue
        width = 100 * count / total
        parts += Markup(
            '<rect class="fill-{}" x="{:.3f}%" y="2" width="{:.3f}%" height="18">'
            "<title>{}: {:,} ({:.0f} %)</title></rect>"
        ).format(key, start, width, name, count, width)
        said.append(f"{name} {count:,}")
        start += width
    return Markup(
        '<svg class="track" height="22" width="100%" role="img" aria-label="{}">{}</svg>'
    ).format(", ".join(said) or "nothing", parts)
