"""How like two texts are, by the words that say what they are about."""

from collections.abc import Iterable
from functools import lru_cache

from pipelines.text.words import terms

ALIKE = 0.5
"""Likeness from which on two sentences are taken for versions of one."""


@lru_cache(maxsize=100_000)  # a page's sentences are neighbours of many claims
def content_words(text: str) -> frozenset[str]:
    """Words that say what a text is about.

    They have four letters or more, a digit, or a letter that English has not.
    """
    return frozenset(
        term for term in terms(text) if len(term) > 3 or not (term.isascii() and term.isalpha())
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
