"""Sentences of a document that state something by themselves, and changes of what they state."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from nli.windows import sentences
from pipelines.data.records import Document
from pipelines.text.substitution import has_words

Kind = Literal["numbers", "dates", "names", "negation", "outdated", "namesakes", "opinions"]
"""What is changed. Opinions are found by a rule; a language model has to write the other one."""

WORDS: Final = (6, 35)
"""Fewest and most words of a sentence that becomes a claim, as `supervision.passages` has it."""

_POINTING: Final = re.compile(
    r"\A(?:That|Here|So|But|And)\b|"
    r"\b(?i:he|she|it|they|him|her|them|his|hers|its|their|this|these|those|such)\b"
)
"""Words at a beginning that lead to the sentence before; a claim has none."""
_SPEAKING: Final = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|[Uu]s|[Oo]ur|[Yy]ou|[Yy]our)\b")
_FIRST: Final = 8
"""Words that are its beginning."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a document: `text[start:end]` of it, in characters."""

    document: Document
    start: int
    end: int

    @property
    def text(self) -> str:
        """As it stands in the document."""
        return self.document.text[self.start : self.end]

    def says_elsewhere(self, part: str, start: int, end: int) -> bool:
        """Whether the document or its title has these words beside the place from start to end."""
        document = self.document
        beside = f"{document.text[:start]}\n{document.text[end:]}\n{document.title or ''}"
        return has_words(beside, part)


@dataclass(frozen=True)
class Edit:
    """A stretch of a text, `text[start:end]` in characters, and what is put there instead."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Change:
    """A fact of a document, and what is put in its place.

    Attributes:
        sentence: States it.
        edits: Of the document's text, in order, within the sentence.
        old, new: What the sentence says, and the changed one instead.
        keeps: What a rewriting of the changed sentence must have besides `new`.
        date: When the changed copy is from, where that is another date than the document's.
    """

    kind: Kind
    sentence: Sentence
    edits: tuple[Edit, ...]
    old: str
    new: str
    keeps: tuple[str, ...] = ()
    date: str | None = None

    @property
    def changed(self) -> str:
        """The changed sentence."""
        start, end = self.sentence.start, self.sentence.end
        grown = sum(len(each.new) - (each.end - each.start) for each in self.edits)
        return edited(self.sentence.document.text, self.edits)[start : end + grown]

    def copy(self, written: str | None = None) -> Document:
        """The changed copy of the document, with another sentence for the changed one if given."""
        sentence = self.sentence
        own = [Edit(sentence.start, sentence.end, written)] if written else self.edits
        original = sentence.document
        text = edited(original.text, own)
        return original.model_copy(update={"text": text, "date": self.date or original.date})


def edited(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made, which are in order and do not overlap."""
    parts, place = [], 0
    for each in edits:
        parts += [text[place : each.start], each.new]
        place = each.end
    return "".join([*parts, text[place:]])


def checkable(document: Document) -> list[Sentence]:
    """The sentences of a document that state something by themselves, in order.

    They have 6 to 35 words, begin with a capital or a number and end with a full stop. They do not
    begin by pointing back ("It ...", "In this ..."), and nobody speaks of himself in them.
    """
    found = (Sentence(document, *span) for span in sentences(document.text))
    return [each for each in found if _states(each.text)]


def _states(text: str) -> bool:
    words = text.split()
    return (
        WORDS[0] <= len(words) <= WORDS[1]
        and text.endswith(".")
        and re.match(r"[A-Z0-9]", text) is not None
        and not re.search(r" [,.;]", text)  # something was lost there
        and not text.count('"') % 2
        and text.count("“") == text.count("”")
        and not _POINTING.search(" ".join(words[:_FIRST]))
        and not _SPEAKING.search(text)
    )
