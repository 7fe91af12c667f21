"""Where dated sources lie on a line of years."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import floor

WIDE = 760.0
"""Width of the drawing on a wide screen, in its own units."""

NARROW = 340.0
"""Width of the drawing on a telephone."""

LABEL = 30.0
"""Least distance of two labels in a lane: the width of "[12]" with room around it."""

_MARGIN = LABEL / 2 + 1
_TICK = 50.0
"""Least distance of two years written on the axis."""


@dataclass(frozen=True)
class Dot:
    """A dated source, by its number from 1.

    Its day lies at x from the left end; its label stands in a lane: 0 is next to the axis.
    """

    number: int
    x: float
    lane: int


@dataclass(frozen=True)
class Tick:
    """A year, and the place of its first day from the left end."""

    year: int
    x: float


@dataclass(frozen=True)
class Axis:
    """A line of years with its dated sources (oldest first) and the numbers of the undated ones.

    Ticks are the years written on it, in order; empty without a dated source. `lanes` is the number
    of lanes of labels.
    """

    width: float
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    lanes: int
    undated: tuple[int, ...]


def axis(years: Sequence[float | None], width: float = WIDE) -> Axis:
    """Places sources on an axis of whole years, and stacks labels that would overlap.

    The axis goes from the beginning of the first year to the end of the last one. A label takes the
    lowest lane with room, which makes as few lanes as possible.

    Args:
        years: Dates of sources as years with decimals (2024.5 is the middle of 2024), or None.
        width: Width of the drawing in its own units; at least `NARROW`.
    """
    dated = sorted((year, number) for number, year in enumerate(years, 1) if year is not None)
    undated = tuple(number for number, year in enumerate(years, 1) if year is None)
    if not dated:
        return Axis(width, (), (), 0, undated)
    first, last = floor(dated[0][0]), floor(dated[-1][0]) + 1
    scale = (width - 2 * _MARGIN) / (last - first)

    def place(year: float) -> float:
        return _MARGIN + (year - first) * scale

    ends: list[float] = []
    dots = []
    for year, number in dated:
        x = place(year)
        lane = next((lane for lane, end in enumerate(ends) if x - end >= LABEL), len(ends))
        ends[lane : lane + 1] = [x]
        dots.append(Dot(number, x, lane))
    step = next(each for each in _steps() if each * scale >= _TICK)
    ticks = (Tick(year, place(year)) for year in range(first, last + 1) if year % step == 0)
    return Axis(width, tuple(dots), tuple(ticks), len(ends), undated)


def _steps() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50 and so on."""
    return (digit * int(10**power) for power in count() for digit in (1, 2, 5))
