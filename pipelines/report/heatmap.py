"""A salience map on a page: texts whose words light up what they rest on.

Point at a word of the response and the input is shaded by how much of the word's salience falls on
it; point at a word of the input and the response is shaded likewise. Parts of which little is drawn
are marked, from a threshold that the reader moves.
"""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.report.page import Section, fragment
from salience.heatmap import strength
from salience.maps import WordMap
from salience.scores import Aggregation, attributions, contributions
from salience.words import Offset, Word

LEVELS = 10
"""Shades of the map."""

CELL = 65535
"""What a share of 1 is in the data of a page."""

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Unit:
    """A word or token.

    Attributes:
        start, end: Its characters in its part.
        error: 1 - its score; None where it has none.
    """

    start: int
    end: int
    error: float | None = None


@dataclass(frozen=True)
class Part:
    """An argument, a prompt, a sentence of a response.

    Attributes:
        text: The text.
        units: In order, without overlap.
        label: Before it: "pro".
        error: Of the part as a whole; None where there is none.
    """

    text: str
    units: tuple[Unit, ...]
    label: str = ""
    error: float | None = None


@dataclass(frozen=True)
class Map:
    """Texts and what is between them.

    Attributes:
        given: Parts of the input.
        response: Parts of the response.
        values: (units of the input, units of the response), shares in [0, 1].
        left_out: What a marked part of the input is: "left out". Without it nothing is marked.
        added: What a marked part of the response is.
        threshold: Error from which parts are marked at first, in [0, 1].
    """

    given: tuple[Part, ...]
    response: tuple[Part, ...]
    values: NDArray[np.floating]
    left_out: str = ""
    added: str = ""
    threshold: float = 1.0


@dataclass(frozen=True)
class _Piece:
    """Text that is a unit, or stands between two."""

    text: str
    place: int | None = None
    level: int | None = None


def parts(
    found: WordMap,
    given: Sequence[Offset],
    response: Sequence[Offset],
    aggregation: Aggregation = "max",
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """The texts that a map is between, cut into its words or tokens, each with its score.

    Args:
        found: The map.
        given: Characters [start, end) of its parts given, in prompt + response.
        response: Likewise, of its parts of the response.
        aggregation: How a row or column becomes a score.
    """
    text = found.encoded.text
    return (
        _parts(text, given, found.given, contributions(found.values, aggregation)),
        _parts(text, response, found.response, attributions(found.values, aggregation)),
    )


def _parts(
    text: str, spans: Sequence[Offset], words: Sequence[Sequence[Word]], scores: Iterable[float]
) -> tuple[Part, ...]:
    left = iter(scores)
    return tuple(
        Part(
            text[start:end],
            tuple(
                Unit(word.start - start, word.end - start, 1 - float(next(left))) for word in own
            ),
        )
        for (start, end), own in zip(spans, words, strict=True)
    )


def section(
    shown: Map,
    *,
    anchor: str,
    title: str,
    question: str = "",
    facts: Sequence[tuple[str, str]] = (),
    picture: bytes | None = None,
) -> Section:
    """The map as a section of a page; nothing in it is taken from texts as HTML.

    Args:
        shown: Texts and values.
        anchor: Id of the section.
        title: Its heading.
        question: What the response answers.
        facts: (label, value) above the texts.
        picture: The map as a PNG.

    Raises:
        ValueError: Values are not of as many rows and columns as there are units.
    """
    sizes = tuple(sum(len(part.units) for part in side) for side in (shown.given, shown.response))
    if shown.values.shape != sizes:
        raise ValueError(f"{sizes} units, but values of shape {shown.values.shape}")
    # Two bytes each, little-endian, as the script reads them.
    cells = np.rint(strength(shown.values) * CELL).astype("<u2")
    data = f"{anchor}-cells"
    body = fragment(
        _HERE / "templates",
        "heatmap.html.j2",
        anchor=anchor,
        data=data,
        columns=sizes[1],
        shown=shown,
        question=question,
        facts=facts,
        given=_pieces(shown.given),
        response=_pieces(shown.response),
        percent=round(shown.threshold * 1000) / 10,
        picture=base64.b64encode(picture).decode() if picture else "",
    )
    return Section(
        anchor=anchor,
        title=title,
        body=body,
        data=((data, base64.b64encode(cells.tobytes()).decode()),),
        style=(_HERE / "assets" / "heatmap.css").read_text(encoding="utf-8"),
        script=(_HERE / "assets" / "heatmap.js").read_text(encoding="utf-8"),
    )


def _pieces(parts: Sequence[Part]) -> list[tuple[Part, list[_Piece]]]:
    """Each part cut at its units, which are numbered through all parts."""
    found, place = [], 0
    for part in parts:
        pieces, done = [], 0
        for unit in part.units:
            if unit.start > done:
                pieces.append(_Piece(part.text[done : unit.start]))
            level = None
            if unit.error is not None:
                level = level_of(1 - unit.error)
            pieces.append(_Piece(part.text[unit.start : unit.end], place, level))
            done, place = unit.end, place + 1
        if done < len(part.text):
            pieces.append(_Piece(part.text[done:]))
        found.append((part, pieces))
    return found


def level_of(share: float) -> int:
    """The shade of a share: 0 for none, 9 for all."""
    return min(LEVELS - 1, int(float(strength(np.array(share))) * LEVELS))
