"""Square plots as inline SVG: the reliability diagram, and curves through points.

A drawing has a coordinate system of its own and keeps its proportions; its lines keep their width
at any size. Every plot stands beside a table of the numbers it shows.
"""

from collections.abc import Sequence

from markupsafe import Markup

from pipelines.metrics.reliability import Bin
from pipelines.report.text import visible

SIDE = 240
"""Width and height of the plotted square, in units of the drawing."""

_LEFT, _TOP, _BELOW, _RIGHT = 34, 8, 34, 10
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_SERIES = ("first", "second", "third", "fourth")


def reliability_diagram(series: Sequence[tuple[str, Sequence[Bin]]], title: str) -> Markup:
    """Accuracy against mean confidence, a point per bin that holds examples.

    On the dashed line a confidence is what it says. Below it labels are less often right than they
    claim. Bars are the Wilson intervals of the accuracies; a larger point holds more examples.

    Args:
        series: (name, bins) of at most three sets of confidences: before and after calibration.
        title: Heading.
    """
    drawn = Markup('<line class="ideal" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
        *_place(0, 0), *_place(1, 1)
    )
    for kind, (name, bins) in zip(_SERIES, series, strict=False):
        drawn += _points(kind, name, bins)
    ticks = [(tick, f"{tick:g}") for tick in _TICKS]
    names = [name for name, _ in series]
    return _figure(drawn, ticks, ticks, axes=("confidence", "accuracy"), title=title, names=names)


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
    high = max((y for _, y in points), default=0) or 1
    high = max(1, high)  # shares are shown on their whole range
    drawn = Markup("")
    for kind, (name, one) in zip(_SERIES, series, strict=False):
        places = [_place((x - left) / wide, y / high) for x, y in one]
        line = " ".join(f"{x:.2f},{y:.2f}" for x, y in places)
        drawn += Markup('<polyline class="path {}" points="{}"/>').format(kind, line)
        for (x, y), (centre, top) in zip(one, places, strict=True):
            drawn += Markup(
                '<circle class="{}" cx="{:.2f}" cy="{:.2f}" r="2.5"><title>{}</title></circle>'
            ).format(kind, centre, top, f"{name}: {y:.3g} at {_number(x)} {across}")
    x_ticks = (
        [((step - left) / wide, f"{step:,}") for step in steps]
        if steps
        else [(tick, _number(tick * wide)) for tick in (0.0, 0.5, 1.0)]
    )
    y_ticks = [(tick, f"{tick * high:.2g}") for tick in _TICKS]
    names = [name for name, _ in series]
    return _figure(drawn, x_ticks, y_ticks, axes=(across, up), title=title, names=names)


def _number(x: float) -> str:
    """A count without decimals, a share with two digits."""
    return f"{x:,.0f}" if x > 1 else f"{x:.2g}"


def _points(kind: str, name: str, bins: Sequence[Bin]) -> Markup:
    most = max((one.n for one in bins), default=0)
    drawn = Markup("")
    for one in bins:
        if one.accuracy is None or one.confidence is None:
            continue
        x, y = _place(one.confidence, one.accuracy.value)
        if one.accuracy.low is not None and one.accuracy.high is not None:
            _, low = _place(0, one.accuracy.low)
            _, high = _place(0, one.accuracy.high)
            drawn += Markup(
                '<line class="whisker {0}" x1="{1:.2f}" x2="{1:.2f}" y1="{2:.2f}" y2="{3:.2f}"/>'
            ).format(kind, x, low, high)
        said = (
            f"{name}: {one.n:,} with confidence {one.confidence:.2f}, "
            f"{one.accuracy.value:.2f} of them right"
        )
        drawn += Markup(
            '<circle class="{}" cx="{:.2f}" cy="{:.2f}" r="{:.1f}"><title>{}</title></circle>'
        ).format(kind, x, y, 2 + 3 * (one.n / most) ** 0.5, said)
    return drawn


def _place(across: float, up: float) -> tuple[float, float]:
    """Where a point of the unit square lies in the drawing, whose y axis points down."""
    return _LEFT + across * SIDE, _TOP + (1 - up) * SIDE


def _figure(
    drawn: Markup,
    x_ticks: Sequence[tuple[float, str]],
    y_ticks: Sequence[tuple[float, str]],
    *,
    axes: tuple[str, str],
    title: str,
    names: Sequence[str],
) -> Markup:
    frame = Markup('<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>').format(
        _LEFT, _TOP, SIDE, SIDE
    )
    for tick, text in x_ticks:
        x, y = _place(tick, 0)
        frame += Markup(
            '<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
            '<text x="{0}" y="{3}" text-anchor="middle">{4}</text>'
        ).format(x, _TOP, y, y + 12, text)
    for tick, text in y_ticks:
        x, y = _place(0, tick)
        frame += Markup(
            '<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>'
            '<text x="{3}" y="{4}" text-anchor="end">{5}</text>'
        ).format(x, x + SIDE, y, x - 4, y + 3, text)
    frame += Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
        _LEFT + SIDE / 2, _TOP + SIDE + 26, axes[0]
    )
    frame += Markup(
        '<text transform="translate(9 {}) rotate(-90)" text-anchor="middle">{}</text>'
    ).format(_TOP + SIDE / 2, axes[1])
    legend = Markup("").join(
        Markup('<li><i class="swatch {}" aria-hidden="true"></i>{}</li>').format(
            kind, visible(name)
        )
        for kind, name in zip(_SERIES, names, strict=False)
    )
    return Markup(
        '<figure class="curve"><figcaption>{0}</figcaption>'
        '<svg viewBox="0 0 {1} {2}" role="img" aria-label="{0}">{3}{4}</svg>'
        '<ul class="legend">{5}</ul></figure>'
    ).format(title, _LEFT + SIDE + _RIGHT, _TOP + SIDE + _BELOW, frame, drawn, legend)
