"""Text blocks: lines, notes, quotes, sentences with verdicts, texts with marks.

They are drawn like the other blocks; see `blocks`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, dataclass_transform

CHARACTERS_SHOWN = 40_000
"""Maximum characters of a text on the page, which gives the number of the rest."""

_VISIBLE = (
    {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
    | {0x7F: 0x2421}
    | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
    # Bidirectional embeddings, overrides and isolates reorder the text around them.
    | dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
    # Tag characters spell ASCII that models can read but people cannot see; their intended use is
    # in the flags of three regions.
    | dict.fromkeys(range(0xE0000, 0xE0080), 0xFFFD)
    # Surrogates cannot be written as UTF-8; non-characters are invalid in HTML.
    | dict.fromkeys([*range(0xD800, 0xE000), *range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF], 0xFFFD)
)


def visible(text: str) -> str:
    """Replaces control characters with visible signs, one for one.

    Tabs, line feeds and the letters of every script stay. The length stays, too, so positions in
    `text` are valid in the result. A carriage return before a line feed becomes a space.
    """
    return text.replace("\r\n", " \n").translate(_VISIBLE)


def one_line(text: str, limit: int | None = None) -> str:
    """`text` with runs of white space as one space, cut to `limit` characters.

    An ellipsis marks the cut and counts towards `limit`.
    """
    line = " ".join(text.split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def cut(text: str, limit: int = CHARACTERS_SHOWN) -> str:
    """The text, or its beginning with the number of characters left out."""
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}… ({more:,} more characters are not shown)"


Tone = Literal[
    "plain", "support", "contradict", "both", "irrelevant", "invalid", "outline", "strong"
]
"""Colours of the page: blue for what supports or is right, orange for what contradicts or is wrong,
violet for what could not be read. A sign or a word always carries the same meaning."""


@dataclass_transform(frozen_default=True)
class Block:
    """A part of an opened example; every kind is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        """Make the kind a dataclass."""
        dataclass(frozen=True)(cls)


class Chip(Block):
    """A few words in a coloured box, with a sign ("✓") before and text for screen readers after."""

    text: str
    tone: Tone = "plain"
    sign: str = ""
    said: str = ""


class Aside(Block):
    """Words in smaller, softer type within a line."""

    text: str


class Strong(Block):
    """Words within a line that stand out."""

    text: str


class Cite(Block):
    """A link to the source with this number in the same example."""

    number: int


Inline = str | Chip | Aside | Strong | Cite


class Line(Block):
    """Words and chips side by side."""

    content: tuple[Inline, ...]


class Items(Block):
    """A list of lines."""

    items: tuple[tuple[Inline, ...], ...]


class Heading(Block):
    """A heading above the blocks that follow."""

    text: str


class Note(Block):
    """A labelled explanation ("Snippet"); long ones are folded after the beginning."""

    text: str
    label: str = ""


class Unread(Block):
    """Why a reply could not be read, and the raw reply."""

    problem: str
    raw: str | None = None


class Trouble(Block):
    """A problem of the whole example: a title ("Failed"), the reason, the raw reply."""

    title: str
    text: str
    raw: str | None = None


class Quote(Block):
    """Words of a document."""

    text: str


class Bar(Block):
    """A share in [0, 1] as a bar, with flags for chosen and right (gold)."""

    label: str
    share: float
    chosen: bool = False
    gold: bool = False


class Bars(Block):
    """Shares of one whole, one below the other; `label` is for screen readers."""

    label: str
    bars: tuple[Bar, ...]


class Sentence(Block):
    """A sentence of an answer, what follows it (citations), and a verdict with details to open."""

    text: str
    after: tuple[Inline, ...] = ()
    tone: Tone = "plain"
    verdict: Chip | None = None
    why: tuple[Block, ...] = ()


class Sentences(Block):
    """The sentences of an answer."""

    sentences: tuple[Sentence, ...]


class Span(Block):
    """A marked passage: characters [start, end) of the text, and its label for screen readers."""

    start: int
    end: int
    said: str = ""


class Text(Block):
    """A text with marked passages in order; `label` is for screen readers."""

    text: str
    label: str
    spans: tuple[Span, ...] = ()


class Word(Block):
    """A word or token of a text: its characters [start, end), and its share (see `Heatmap`)."""

    start: int
    end: int
    share: float


class Words(Block):
    """An argument, a prompt or a sentence of a response, with its words in order.

    `label` is shown before it ("pro"); `share` is that of the whole text.
    """

    text: str
    words: tuple[Word, ...]
    label: str = ""
    share: float | None = None


def line(*content: Inline) -> Line:
    """Words and chips side by side."""
    return Line(content)


def noted(text: str | None, label: str = "") -> list[Block]:
    """A note with an explanation, if there is one."""
    return [Note(text, label)] if text else []


def unread(problem: str | None, raw: str | None) -> list[Block]:
    """The problem of an unreadable reply; empty if the reply could be read."""
    return [] if problem is None else [Unread(problem, raw)]


# Verdicts.


class Mark(NamedTuple):
    """A verdict: its tone, a sign, and the words."""

    tone: Tone
    sign: str
    words: str

    @property
    def chip(self) -> Chip:
        """The words after the sign."""
        return Chip(self.words, self.tone, self.sign)

    def on(self, name: str) -> Chip:
        """A name with its verdict, in words for screen readers."""
        return Chip(name, self.tone, self.sign, self.words)


RIGHT = Mark("support", "✓", "right")
WRONG = Mark("contradict", "✗", "wrong")
UNREADABLE = Mark("invalid", "?", "unreadable")
UNJUDGED = Mark("plain", "·", "not judged")
FAILED = Chip("failed", "invalid", "!")


def words(marks: Iterable[Mark]) -> tuple[str, ...]:
    """Labels of marks, without repetition."""
    return tuple(dict.fromkeys(mark.words for mark in marks))


def values(marks: Mapping[str, Mark]) -> list[str]:
    """An example's values of a facet with groups: group -> verdict."""
    return [f"{name}: {mark.words}" for name, mark in marks.items()]
