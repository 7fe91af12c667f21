"""Blocks that are words: lines, notes, quotes, sentences with verdicts, texts with marks.

They are drawn as the other blocks are; see `blocks`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pipelines.report.timeline import Axis

if TYPE_CHECKING:
    from pipelines.report.blocks import Block

CHARACTERS_SHOWN = 40_000
"""Characters of one text that the page holds; it says how many more there are."""

Tone = Literal[
    "plain", "support", "contradict", "both", "irrelevant", "invalid", "outline", "strong"
]
"""Colours of the page: blue for what supports or is right, orange for what contradicts or is wrong,
violet for what could not be read. A sign or a word always says the same."""


@dataclass(frozen=True)
class Chip:
    """A few words in a coloured box, within a line.

    Attributes:
        text: The words.
        tone: Colour.
        sign: Before them, for the eye: "✓".
        said: After them, for the ear: "right".
    """

    text: str
    tone: Tone = "plain"
    sign: str = ""
    said: str = ""


@dataclass(frozen=True)
class Aside:
    """Small words within a line."""

    text: str


@dataclass(frozen=True)
class Strong:
    """Words within a line that stand out."""

    text: str


@dataclass(frozen=True)
class Cite:
    """A link to the source of this number in the same example."""

    number: int


Inline = str | Chip | Aside | Strong | Cite


@dataclass(frozen=True)
class Line:
    """Words and chips side by side."""

    content: tuple[Inline, ...]


@dataclass(frozen=True)
class Items:
    """A list of lines."""

    items: tuple[tuple[Inline, ...], ...]


@dataclass(frozen=True)
class Heading:
    """Above the blocks that follow."""

    text: str


@dataclass(frozen=True)
class Note:
    """An explanation; a long one is folded after its beginning.

    Attributes:
        text: All of it.
        label: Before it: "Snippet".
    """

    text: str
    label: str = ""


@dataclass(frozen=True)
class Unread:
    """Why a reply could not be read, and the reply as it came."""

    problem: str
    raw: str | None = None


@dataclass(frozen=True)
class Trouble:
    """What went wrong with the example as a whole.

    Attributes:
        title: "Failed".
        text: Why.
        raw: The reply as it came, where there is one.
    """

    title: str
    text: str
    raw: str | None = None


@dataclass(frozen=True)
class Quote:
    """Words of a document."""

    text: str


@dataclass(frozen=True)
class Bar:
    """A share in [0, 1], as a bar.

    Attributes:
        label: What it is of.
        share: The share.
        chosen: Whether it is the one that was chosen.
        gold: Whether it is the right one.
    """

    label: str
    share: float
    chosen: bool = False
    gold: bool = False


@dataclass(frozen=True)
class Bars:
    """Shares of one whole, below each other; `label` says of what, for the ear."""

    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer, with what is said of it.

    Attributes:
        text: The sentence.
        after: What it cites, and what else stands at its end.
        tone: Of the line at its side.
        verdict: On it.
        why: Opens below the verdict.
    """

    text: str
    after: tuple[Inline, ...] = ()
    tone: Tone = "plain"
    verdict: Chip | None = None
    why: tuple["Block", ...] = ()


@dataclass(frozen=True)
class Sentences:
    """The sentences of an answer."""

    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Timeline:
    """Sources on a line of years; a label leads to its source.

    Attributes:
        axes: The same line for a wide screen and for a narrow one.
        labels: Of the sources, in order of their numbers.
    """

    axes: tuple[Axis, Axis]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Span:
    """A marked passage: its characters [start, end) in the text, and what it is, for the ear."""

    start: int
    end: int
    said: str = ""


@dataclass(frozen=True)
class Text:
    """A text to read, with marked passages; a long one scrolls.

    Attributes:
        text: At most `CHARACTERS_SHOWN` characters; see `cut`.
        label: What it is, for the ear: "Response".
        spans: In order, without overlap.
    """

    text: str
    label: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Word:
    """A word or token of a text: its characters [start, end), and its share, in [0, 1]."""

    start: int
    end: int
    share: float


@dataclass(frozen=True)
class Words:
    """An argument, a prompt, a sentence of a response, with its words.

    Attributes:
        text: The text.
        words: In order, without overlap.
        label: Before it: "pro".
        share: Of the text as a whole, in [0, 1]; None where there is none.
    """

    text: str
    words: tuple[Word, ...]
    label: str = ""
    share: float | None = None


def cut(text: str, limit: int = CHARACTERS_SHOWN) -> str:
    """The text, or its beginning and how much more there is."""
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}… ({more:,} more characters are not shown)"
