"""Salience maps as pictures, and the scale that makes them readable."""

import textwrap
import warnings
from collections.abc import Sequence
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

DECADES = 3
"""Powers of ten that the scale shows: shares of salience below 1/1000 are blank."""

LONGEST = 24
"""Most characters of a word in a picture."""

DPI = 110

MOST_PIXELS = 2**14
"""Longest side of a picture. Maps of thousands of words are drawn smaller: at full size they would
take gigabytes, or exceed the renderer's limits."""


def strength(values: NDArray[np.floating], nats: float | None = None) -> NDArray[np.floating]:
    """How dark values are drawn, in [0, 1]: shares of salience on a logarithmic scale.

    A response token's salience is spread over all tokens before it, so most shares are small: on a
    linear scale a map is blank except for a few cells. 1 is a share of 1, 0 a share of 1/1000 or
    less. Lost log-probabilities are on a linear scale, 1 for `nats` or more, 0 if none are lost.
    """
    if nats is not None:
        return np.asarray(np.clip(values / nats, 0, 1))
    floor = 10.0**-DECADES
    return np.asarray(1 + np.log10(np.maximum(values, floor)) / DECADES)


def png(
    values: NDArray[np.floating],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str = "",
    nats: float | None = None,
) -> bytes:
    """A map as a PNG, in the layout of the paper's Figure 2 (NPOV): input down, response across.

    `values` has a row per input word and a column per response word: shares in [0, 1], or, if
    `nats` (the darkest value) is given, lost log-probabilities.

    Raises:
        ValueError: The map has no row or no column.
    """
    if not values.size:
        raise ValueError("a map without rows or columns cannot be drawn")
    # The figure is made without pyplot, whose state is global and which looks for a display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, columns = (
        [word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…" for word in words]
        for words in (rows, columns)
    )
    size = (
        3 + 0.17 * len(columns) + 0.07 * max(map(len, rows)),
        1.5 + 0.17 * len(rows) + 0.07 * max(map(len, columns)),
    )
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(strength(values, nats), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    # Document text is not mathematics, whatever dollar signs it contains.
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=8, parse_math=False)
    axes.set_yticks(range(len(rows)), rows, fontsize=8, parse_math=False)
    axes.set_xlabel("response")
    axes.set_ylabel("input")
    lines = textwrap.fill(title, width=max(24, round(9 * size[0])))
    axes.set_title(lines, fontsize=10, parse_math=False)
    scale = figure.colorbar(image, ax=axes, shrink=0.8)
    steps = range(DECADES + 1)
    labels = [f"{10.0 ** (n - DECADES) if nats is None else nats * n / DECADES:.3g}" for n in steps]
    scale.set_ticks([n / DECADES for n in steps], labels=labels)
    scale.set_label(
        "share of the column's salience" if nats is None else "nats lost without the row"
    )
    buffer = BytesIO()
    with warnings.catch_warnings():
        # Words of a script that the font lacks are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        dpi = min(DPI, MOST_PIXELS / max(size))
        figure.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight")
    return buffer.getvalue()
