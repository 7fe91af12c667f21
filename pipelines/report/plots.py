"""Small plots as inline SVG: estimates with their intervals, and shares of a whole.

Positions are percentages of the drawing's width, so that a plot fits any column without its lines
and letters being stretched. Every plot stands beside the numbers it shows.
"""

from collections.abc import Mapping, Sequence
from math import ceil

from markupsafe import Markup

from pipelines.metrics.estimate import Estimate
from pipelines.report.table import shown
from pipelines.report.text import visible

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_SHADES = 8
"""Shades of a cell of the heat map that is not empty."""


def dots(
    rows: Sequence[tuple[str, Estimate | None]],
    title: str,
    beside: Sequence[tuple[str, Estimate | None]] = (),
) -> Markup:
    """One line per row: a dot at the value in [0, 1] and a bar over its interval.

    A row without a value has a dash and an empty track.

    Args:
        rows: Name and value.
        title: Heading.
        beside: Rows to compare with, below the others; their dots are hollow.
    """
    lines = Markup("").join(
        Markup(
            '<div class="plot-label{0}" dir="auto">{1}</div>{2}<div class="plot-value">{3}</div>'
        ).format(kind, visible(label), _dot(estimate, kind), _value(estimate))
        for kind, group in (("", rows), (" beside", beside))
        for label, estimate in group
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


def _dot(estimate: Estimate | None, kind: str = "") -> Markup:
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
        mark += Markup('<circle class="dot{}" cx="{:.2f}%" cy="11" r="5"/>').format(
            kind, estimate.value * 100
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


def confusion(
    rows: Sequence[tuple[str, Sequence[int]]], columns: Sequence[str], title: str
) -> Markup:
    """A heat map of counts: true classes down, what was predicted across.

    A cell is shaded by its share of the row; where row and column have one name, it has a frame.

    Args:
        rows: Name of a class, and a count per column.
        columns: Names.
        title: Heading of the map.
    """
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in columns)
    body = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            name,
            Markup("").join(
                _shaded(count, sum(counts), right=name == column)
                for column, count in zip(columns, counts, strict=True)
            ),
        )
        for name, counts in rows
    )
    return Markup(
        '<figure class="heat"><figcaption dir="auto">{0}</figcaption>'
        '<div class="scroll" tabindex="0" role="region" aria-label="What was taken for what: {0}">'
        '<table><caption class="hidden-text">{0}: a row is a true class, a column what was '
        'predicted</caption><thead><tr><th scope="col">Gold type</th>{1}</tr></thead>'
        "<tbody>{2}</tbody></table></div></figure>"
    ).format(visible(title), head, body)


def _shaded(count: int, total: int, *, right: bool) -> Markup:
    kind = f"shade-{ceil(_SHADES * count / total) if count else 0}{' same' if right else ''}"
    share = Markup(' <span class="share">{:.0%}</span>').format(count / total) if count else ""
    return Markup('<td class="{}">{}{}</td>').format(kind, count, share)
