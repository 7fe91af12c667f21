"""Blocks: what one opened example of the page is made of.

A view builds these from a result; `encoded` turns them into JSON, and the function of the same name
in `assets/blocks.js` (or a script of its own) draws each. Texts may come from anywhere: they are
written as text only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from pipelines.report.texts import (
    Bars,
    Chip,
    Heading,
    Inline,
    Items,
    Line,
    Note,
    Quote,
    Sentences,
    Span,
    Text,
    Timeline,
    Tone,
    Trouble,
    Unread,
    Words,
    cut,
)


@dataclass(frozen=True)
class Heatmap:
    """Two sides whose words light up what they rest on.

    Attributes:
        given: The input.
        response: The response.
        cells: Shares of salience between words of the input and words of the response, row by row:
            16 bits each, little-endian, on the scale of `salience.heatmap.strength`; in base64.
        left_out: What a marked text of the input is: "left out?". Without it nothing is marked.
        added: What a marked text of the response is.
        limit: Share up to which texts are marked at first.
    """

    given: tuple[Words, ...]
    response: tuple[Words, ...]
    cells: str
    left_out: str = ""
    added: str = ""
    limit: float = 0.0


@dataclass(frozen=True)
class Node:
    """A point of a graph.

    Attributes:
        said: What it is.
        x, y: Where it lies, in the drawing's own units.
        tone: Its colour.
        number: Of the source that it leads to; 0 where it leads to none.
    """

    said: str
    x: float
    y: float
    tone: Tone = "plain"
    number: int = 0


@dataclass(frozen=True)
class Edge:
    """A line between two points: their places among the nodes, and its width."""

    one: int
    other: int
    width: float


@dataclass(frozen=True)
class Graph:
    """Points and lines between them.

    Attributes:
        label: What it shows, for the ear.
        width, height: Of the drawing.
        nodes: In order; tones tell groups apart, and `said` names them.
        edges: Below the points.
    """

    label: str
    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Picture:
    """A PNG in base64, and what it shows for those who do not see it."""

    png: str
    alt: str


@dataclass(frozen=True)
class Fact:
    """A named value: its label, the lines of its value, and what else there is to say of it."""

    label: str
    lines: tuple[tuple[Inline, ...], ...]
    content: tuple["Block", ...] = ()


@dataclass(frozen=True)
class Facts:
    """Named values side by side."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Grid:
    """A small table whose first cells name the rows.

    Attributes:
        label: What it shows, for the ear.
        columns: Headings.
        rows: Of as many cells.
    """

    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


@dataclass(frozen=True)
class Source:
    """A document that answers cite by its number.

    Attributes:
        number: From 1, unique within the example.
        title: Shown in the list.
        text: Shown when it is opened.
        about: Beside the title: date, kind.
        url: Where it is from.
        linked: Whether the URL may be a link.
        note: Above the text.
        spans: Of the text.
        tone: Colour of its side, where it takes one.
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


@dataclass(frozen=True)
class Sources:
    """The documents of an example, folded."""

    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Cell:
    """What a document says of a claim, and why that is thought.

    Attributes:
        relation: "SUPPORTS", "CONTRADICTS", "IRRELEVANT" or "INVALID".
        shares: (relation, probability) pairs.
        mass: Probability on all relations together.
        span: The passage that decided, in the text of the source.
        quote: That passage where it has no place in what is shown of the text.
        found: Whether the document has the quote.
        reasoning: Why.
        raw: The reply as it came, where it could not be read.
        read: How much of the document was seen, where that is not all.
        by: Who says so.
    """

    relation: str
    by: str
    shares: tuple[tuple[str, float], ...] = ()
    mass: float | None = None
    span: Span | None = None
    quote: str = ""
    found: bool = False
    reasoning: str = ""
    raw: str = ""
    read: str = ""


@dataclass(frozen=True)
class Row:
    """A claim, or who judges one: its name, a chip beside it, and a cell per source."""

    text: str
    cells: tuple[Cell | None, ...]
    chip: Chip | None = None


@dataclass(frozen=True)
class Matrix:
    """Rows against sources; a chosen cell shows the source and what is behind the cell.

    Attributes:
        corner: Heading of the rows: "Claim".
        rows: At least one.
        sources: Columns; what stands about a source marks its column.
        first: Row and column that are chosen at first.
    """

    corner: str
    rows: tuple[Row, ...]
    sources: tuple[Source, ...]
    first: tuple[int, int]


@dataclass(frozen=True)
class Voice:
    """A row of a debate: who speaks, and what it says in each round.

    Attributes:
        head: Who.
        title: Of its document.
        text: Its document, opened below the row.
        name: "Agent 3".
        cells: One per round.
    """

    name: str
    head: tuple["Block", ...]
    title: str
    text: str
    cells: tuple[tuple["Block", ...], ...]


@dataclass(frozen=True)
class Debate:
    """Voices down, rounds across; below them what was concluded after each round.

    Attributes:
        name: Of the debate.
        corner: Heading of the voices.
        voices: In order.
        closing: Name of the last row.
        conclusions: One per round.
        end: How it ended, in a sentence.
    """

    name: str
    corner: str
    voices: tuple[Voice, ...]
    closing: tuple["Block", ...]
    conclusions: tuple[tuple["Block", ...], ...]
    end: str


@dataclass(frozen=True)
class Card:
    """Blocks under a title."""

    title: str
    content: tuple["Block", ...]


@dataclass(frozen=True)
class Cards:
    """Cards side by side."""

    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Fold:
    """Blocks that are folded away under a title."""

    title: str
    content: tuple["Block", ...]


@dataclass(frozen=True)
class Choice:
    """One of several, chosen by name; what it is a choice of is said to the ear."""

    label: str
    options: tuple[Card, ...]


Block = (
    Inline
    | Line
    | Items
    | Heading
    | Note
    | Unread
    | Trouble
    | Quote
    | Text
    | Heatmap
    | Graph
    | Picture
    | Bars
    | Sentences
    | Timeline
    | Facts
    | Grid
    | Sources
    | Matrix
    | Debate
    | Cards
    | Fold
    | Choice
)


def noted(text: str | None, label: str = "") -> list[Block]:
    """An explanation, where there is one."""
    return [Note(cut(text), label)] if text else []


def unread(problem: str | None, raw: str | None) -> list[Block]:
    """Why a reply could not be read, where it could not."""
    return [] if problem is None else [Unread(problem, None if raw is None else cut(raw))]


def encoded(value: Any) -> Any:
    """Blocks as JSON: each an object with its `kind` and the fields that are not at their default.

    Floats keep four significant digits, which is more than a page shows.
    """
    if is_dataclass(value):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        usual = {field.name: field.default for field in fields(value)}
        return {"kind": type(value).__name__.lower()} | {
            name: encoded(each) for name, each in own.items() if each != usual[name]
        }
    if isinstance(value, Mapping):
        return {name: encoded(each) for name, each in value.items()}
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [encoded(each) for each in value]
    return value
