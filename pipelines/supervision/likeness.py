"""How like two texts are, by the words that say what they are about."""

import re
from collections.abc import Iterable
from functools import lru_cache

ALIKE = 0.5
"""Likeness from which on two sentences are taken for versions of one."""


@lru_cache(maxsize=100_000)  # a page's sentences are neighbours of many claims
def content_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about: of four letters or more, or a number."""
    return frozenset(
        word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3 or word.isdigit()
    )


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of words that two texts have in common, of those of either; in [0, 1]."""
    return len(one & other) / len(one | other) if one or other else 1.0


def distinct(texts: Iterable[str]) -> list[str]:
    """Texts of which none is a version of one before it, in order."""
    kept: list[tuple[str, frozenset[str]]] = []
    for text in texts:
        words = content_words(text)
        if all(likeness(words, other) < ALIKE for _, other in kept):
            kept.append((text, words))
    return [text for text, _ in kept]
