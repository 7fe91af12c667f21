"""A salience map on a page: pointing at a word lights up the words that it rests on.

Pointing at a word of the response shades the input by its shares of the word's salience, and the
other way round. Texts that the response hardly uses are marked, up to a limit that the reader can
move (`assets/heatmap.js`). Maps of lost log-probabilities look the same.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.report.blocks import Fold, Heatmap, Picture
from pipelines.report.texts import Block, Word, Words
from salience.heatmap import strength
from salience.maps import WordMap, attributions, contributions
from salience.words import Offset
from salience.words import Word as Found

CELL = 65535
"""The value of a share of 1 in a page's data."""

Side = tuple[Words, ...]
"""The texts of the input, or of the response."""


def sides(found: WordMap, given: Sequence[Offset], response: Sequence[Offset]) -> tuple[Side, Side]:
    """The texts on both sides of a map, with scored words.

    Texts of the input and of the response are characters [start, end) of prompt + response.
    """
    text = found.encoded.text
    return (
        _side(text, given, found.given, contributions(found.values)),
        _side(text, response, found.response, attributions(found.values)),
    )


def heatmap(
    given: Side,
    response: Side,
    values: NDArray[np.floating],
    *,
    left_out: str = "",
    added: str = "",
    limit: float = 0.0,
    nats: float | None = None,
) -> Heatmap:
    """The block of a map: shares in [0, 1] of shape (words of the input, words of the response).

    With `nats`, the value of the darkest cells, they are lost log-probabilities.

    Raises:
        ValueError: Values do not have a row and column for every word.
    """
    sizes = tuple(sum(len(part.words) for part in side) for side in (given, response))
    if values.shape != sizes:
        raise ValueError(f"{sizes} words, but values of shape {values.shape}")
    cells = np.rint(strength(values, nats) * CELL).astype("<u2")
    return Heatmap(given, response, cells.tobytes(), left_out, added, limit, nats)


def picture(png: bytes | None, darker: str = "the more salience") -> list[Block]:
    """The map as a picture, folded; empty without one."""
    if png is None:
        return []
    alt = f"The input down, the response across; the darker, {darker}"
    return [Fold("The map", (Picture(png, alt),))]


def _side(
    text: str, spans: Sequence[Offset], words: Sequence[Sequence[Found]], scores: Iterable[float]
) -> Side:
    left = iter(scores)
    return tuple(
        Words(
            text[start:end],
            tuple(
                Word(word.start - start, word.end - start, float(next(left))) for word in of_span
            ),
        )
        for (start, end), of_span in zip(spans, words, strict=True)
    )
