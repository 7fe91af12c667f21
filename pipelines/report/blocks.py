"""Blocks: the parts of an opened example on the page.

A view builds these from a result; `encoded` turns them into JSON, and the function of the same name
in `assets/blocks.js` (or in a separate script) draws them. Texts are untrusted, so they are written
as text only.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pipelines.report.texts import Block, Chip, Inline, Span, Tone, Words, cut


class Heatmap(Block):
    """Input and response; pointing at a word lights up the words that it rests on.

    Values are shares of salience, or nats if the map is in nats.

    Attributes:
        cells: Shares of salience between words of the input and words of the response, row by row:
            16 bits each, little-endian, on the scale of `salience.heatmap.strength`.
        left_out: Mark for a text of the input: "left out?"; empty marks nothing.
        added: Mark for a text of the response.
        limit: Share up to which texts are marked initially.
        nats: Value of the largest cell, if cells are log-probabilities that words of the response
            lose without those of the input.
    """

    given: tuple[Words, ...]
    response: tuple[Words, ...]
    cells: bytes
    left_out: str = ""
    added: str = ""
    limit: float = 0.0
    nats: float | None = None


class Picture(Block):
    """A PNG, and its description for screen readers."""

    png: bytes
    alt: str


class Fact(Block):
    """A named value: its label, lines of text, and a remark."""

    label: str
    lines: tuple[tuple[Inline, ...], ...]
    content: tuple[Block, ...] = ()


class Facts(Block):
    """Named values side by side."""

    facts: tuple[Fact, ...]


class Grid(Block):
    """A small table whose first cells name the rows; `label` is for screen readers."""

    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


class Source(Block):
    """A document that answers cite by its number: from 1, unique within the example.

    The list shows its title, remarks (date, kind) and the tone of its side; opened, it shows its
    URL (a link if `linked`), a note, and the text.
    """

    number: int
    title: str
    text: str
    about: tuple[Inline, ...] = ()
    url: str | None = None
    linked: bool = False
    note: str = ""
    spans: tuple[Span, ...] = ()
    tone: Tone = "plain"


class Sources(Block):
    """The documents of an example, folded."""

    sources: tuple[Source, ...]


class Cell(Block):
    """A document's relation to a claim, and why.

    Attributes:
        relation: "SUPPORTS", "CONTRADICTS", "IRRELEVANT" or "INVALID", by the judge.
        shares: (relation, probability) pairs.
        unsure: Whether the relation is only slightly more probable than the next one.
        mass: The judge's total probability on relations, if it is worryingly low.
        span: The passage that decided, in the text of the source.
        quote: That passage, if the shown part of the text does not have it.
        found: Whether the document has the quote.
        raw: The raw reply, if it could not be read.
        read: How much of the document the judge read, if not all.
    """

    relation: str
    judge: str
    shares: tuple[tuple[str, float], ...] = ()
    unsure: bool = False
    mass: float | None = None
    span: Span | None = None
    quote: str = ""
    found: bool = False
    reasoning: str = ""
    raw: str = ""
    read: str = ""


class Row(Block):
    """A claim, or a judge of one: its name, a chip, and a cell per source."""

    text: str
    cells: tuple[Cell | None, ...]
    chip: Chip | None = None


class Matrix(Block):
    """Rows (at least one) against sources; selecting a cell shows its source and reasons.

    `corner` heads the rows ("Claim"); `first` is the row and column selected initially.
    """

    corner: str
    rows: tuple[Row, ...]
    sources: tuple[Source, ...]
    first: tuple[int, int]


class Voice(Block):
    """A row of a debate: the speaker ("Agent 3"), its document, and its reply in each round."""

    name: str
    head: tuple[Block, ...]
    title: str
    text: str
    cells: tuple[tuple[Block, ...], ...]


class Debate(Block):
    """Voices as rows, rounds as columns, and the conclusion of every round below.

    `corner` heads the column of voices, `closing` the row of conclusions; `end` is a sentence on
    how the debate ended.
    """

    name: str
    corner: str
    voices: tuple[Voice, ...]
    closing: tuple[Block, ...]
    conclusions: tuple[tuple[Block, ...], ...]
    end: str


class Card(Block):
    """Blocks under a title."""

    title: str
    content: tuple[Block, ...]


class Cards(Block):
    """Cards side by side."""

    cards: tuple[Card, ...]


class Side(Block):
    """One side of a comparison: its title ("A: results") and its blocks.

    Sources are numbered within a side, and its links stay within it.
    """

    title: str
    content: tuple[Block, ...]


class Sides(Block):
    """A comparison, side by side, or stacked on narrow screens."""

    sides: tuple[Side, ...]


class Fold(Block):
    """Blocks that are folded away under a title."""

    title: str
    content: tuple[Block, ...]


class Choice(Block):
    """Cards, of which the page shows the one chosen by title; `label` is for screen readers."""

    label: str
    options: tuple[Card, ...]


def fact(label: str, *values: Inline) -> Fact:
    """A named value; several values get a line each."""
    return Fact(label, tuple((value,) for value in values))


def encoded(value: Any) -> Any:
    """Blocks as JSON objects with their `kind` and the fields that differ from the default.

    Floats keep four significant digits, more than a page shows. Long texts are `cut`.
    """
    if isinstance(value, str | bytes):
        return cut(value) if isinstance(value, str) else b64encode(value).decode()
    if is_dataclass(value):
        values = {field.name: getattr(value, field.name) for field in fields(value)}
        usual = {field.name: field.default for field in fields(value)}
        return {"kind": type(value).__name__.lower()} | {
            name: encoded(item) for name, item in values.items() if item != usual[name]
        }
    if isinstance(value, Mapping):
        return {name: encoded(item) for name, item in value.items()}
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Sequence):
        return [encoded(item) for item in value]
    return value
