"""Blocks that are words: lines, notes, quotes, sentences with verdicts, texts with marks.

They are drawn as the other blocks are; see `blocks`.
"""

from dataclasses import dataclass
from typing import Literal

from pipelines.report.text import cut
from pipelines.report.timeline import Axis

Tone = Literal[
    "plain", "support", "contradict", "both", "irrelevant", "invalid", "outline", "strong"
]
"""Colours of the page: blue for what supports or is right, orange for what contradicts or is wrong,
violet for what could not be read. A sign or a word always says the same."""


class Block:
    """Anything that an opened example shows."""


@dataclass(frozen=True)
class Chip(Block):
    """A few words in a coloured box, after a sign for the eye ("✓"), before words for the ear."""

    text: str
    tone: Tone = "plain"
    sign: str = ""
    said: str = ""


@dataclass(frozen=True)
class Aside(Block):
    """Small words within a line."""

    text: str


@dataclass(frozen=True)
class Strong(Block):
    """Words within a line that stand out."""

    text: str


@dataclass(frozen=True)
class Cite(Block):
    """A link to the source of this number in the same example."""

    number: int


Inline = str | Chip | Aside | Strong | Cite


@dataclass(frozen=True)
class Line(Block):
    """Words and chips side by side."""

    content: tuple[Inline, ...]


@dataclass(frozen=True)
class Items(Block):
    """A list of lines."""

    items: tuple[tuple[Inline, ...], ...]


@dataclass(frozen=True)
class Heading(Block):
    """Above the blocks that follow."""

    text: str


@dataclass(frozen=True)
class Note(Block):
    """An explanation, after its label ("Snippet"); a long one is folded after its beginning."""

    text: str
    label: str = ""


@dataclass(frozen=True)
class Unread(Block):
    """Why a reply could not be read, and the reply as it came."""

    problem: str
    raw: str | None = None


@dataclass(frozen=True)
class Trouble(Block):
    """What went wrong with the whole example: a title ("Failed"), why, the reply as it came."""

    title: str
    text: str
    raw: str | None = None


@dataclass(frozen=True)
class Quote(Block):
    """Words of a document."""

    text: str


@dataclass(frozen=True)
class Bar(Block):
    """A share in [0, 1] as a bar: whether it was chosen, and whether it is the right one (gold)."""

    label: str
    share: float
    chosen: bool = False
    gold: bool = False


@dataclass(frozen=True)
class Bars(Block):
    """Shares of one whole, below each other; `label` says of what, for the ear."""

    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Sentence(Block):
    """A sentence of an answer, what stands at its end, and a verdict; below that opens why."""

    text: str
    after: tuple[Inline, ...] = ()
    tone: Tone = "plain"
    verdict: Chip | None = None
    why: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Sentences(Block):
    """The sentences of an answer."""

    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Timeline(Block):
    """Sources on a line of years, for a wide screen and a narrow one; labels lead to sources."""

    axes: tuple[Axis, Axis]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Span(Block):
    """A marked passage: its characters [start, end) in the text, and what it is, for the ear."""

    start: int
    end: int
    said: str = ""


@dataclass(frozen=True)
class Text(Block):
    """A text to read (see `cut`), with marked passages in order; `label` is for the ear."""

    text: str
    label: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Word(Block):
    """A word or token of a text: its characters [start, end), and its share, in [0, 1]."""

    start: int
    end: int
    share: float


@dataclass(frozen=True)
class Words(Block):
    """An argument, a prompt, a sentence of a response, with its words in order.

    Its label stands before it ("pro"); its share is that of the text as a whole, in [0, 1].
    """

    text: str
    words: tuple[Word, ...]
    label: str = ""
    share: float | None = None


def noted(text: str | None, label: str = "") -> list[Block]:
    """An explanation, where there is one."""
    return [Note(cut(text), label)] if text else []


def unread(problem: str | None, raw: str | None) -> list[Block]:
    """Why a reply could not be read, where it could not."""
    return [] if problem is None else [Unread(problem, None if raw is None else cut(raw))]
