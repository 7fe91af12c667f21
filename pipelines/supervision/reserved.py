"""Keeps text of a test half out of what is trained on.

Halves are made by claim or question, yet sentences of one Wikipedia page may stand beside claims of
both halves. A text that any test item shows is never trained on, wherever it comes from: not as it
is, not as a part of a longer text, and no part of it either; nor is a sentence of it.
"""

from collections.abc import Iterable

from nli.pairs import PairT
from nli.sentences import sentences
from pipelines.text.words import words

FIRST = 6
"""Words by which reserved texts and others are looked for inside each other. Shorter ones say
little, and are known only as they are."""


class ReservedTexts:
    """Texts that nothing may be trained on: claims, questions, documents and evidence sentences."""

    def __init__(self, texts: Iterable[str]) -> None:
        whole = list(texts)
        parts = (text[slice(*span)] for text in whole for span in sentences(text))
        self._texts = {normal(text) for text in (*whole, *parts)} - {""}
        self._by_words: dict[int, list[str]] = {}
        for text in sorted(self._texts):
            for start in dict.fromkeys(_in_a_row(text)):
                self._by_words.setdefault(start, []).append(text)

    def __contains__(self, text: str) -> bool:
        """Whether a text is a reserved one, has one of them inside, or is a part of one."""
        plain = normal(text)
        return plain in self._texts or any(
            reserved in plain or plain in reserved
            for start in _in_a_row(plain)
            for reserved in self._by_words.get(start, ())
        )

    def trainable(self, pairs: Iterable[PairT]) -> list[PairT]:
        """The pairs of which neither side shows a reserved text."""
        return [pair for pair in pairs if pair.premise not in self and pair.hypothesis not in self]


def _in_a_row(plain: str) -> list[int]:
    """Of every place of a text, the hash of the `FIRST` words from there on."""
    row = words(plain)
    return [hash(tuple(row[n : n + FIRST])) for n in range(len(row) - FIRST + 1)]


def normal(text: str) -> str:
    """A text by which its copies are known: case and white space aside."""
    return " ".join(text.split()).casefold()
