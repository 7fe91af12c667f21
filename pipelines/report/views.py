"""Verdicts as chips: what something is worth, in the colours of the page."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pipelines.report.texts import Chip, Tone


class Mark(NamedTuple):
    """What something is worth: its tone, a sign, and the words."""

    tone: Tone
    sign: str
    words: str

    @property
    def chip(self) -> Chip:
        """The words after the sign."""
        return Chip(self.words, self.tone, self.sign)

    def on(self, name: str) -> Chip:
        """The name of what is worth that; the words are for the ear."""
        return Chip(name, self.tone, self.sign, self.words)


RIGHT = Mark("support", "✓", "right")
WRONG = Mark("contradict", "✗", "wrong")
UNREADABLE = Mark("invalid", "?", "unreadable")
UNJUDGED = Mark("plain", "·", "not judged")
FAILED = Chip("failed", "invalid", "!")


def words(marks: Iterable[Mark]) -> tuple[str, ...]:
    """What marks say, each once."""
    return tuple(dict.fromkeys(mark.words for mark in marks))


def values(marks: Mapping[str, Mark]) -> list[str]:
    """An example's values of a facet with groups: by the name of a group, what it is worth."""
    return [f"{name}: {mark.words}" for name, mark in marks.items()]
