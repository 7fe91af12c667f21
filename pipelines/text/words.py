"""Words of a text, as lexical comparisons count them."""

import re
from itertools import pairwise

from pipelines.text.folding import folded
from salience.words import UNSPACED, word_pattern

FUNCTION_WORDS = frozenset(
    """
    a about after all also an and any are as at be been before being between both but by can could
    did do does during each for from had has have he her here him his how i if in into is it its
    just like may might more most much must my no nor not of off on once only or other our out over
    own per same she should so some such than that the their them then there these they this those
    through to too under until up upon very was we were what when where which while who whom whose
    why will with would yet you your
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list
)

_THOUSANDS = re.compile(r"(?<=\d),(?=(?:\d\d,){0,6}\d{3}(?!\d))")
_UNSPACED = re.compile(f"[{UNSPACED}]")


def words(text: str) -> list[str]:
    """Words and numbers of a text, `folded`, in order (`salience.words.word_pattern`).

    A number has no separators of thousands: "1,200" is "1200".
    """
    found: list[str] = word_pattern().findall(_THOUSANDS.sub("", text))
    return [word.lower() if word.isascii() else folded(word) for word in found]


def terms(text: str) -> list[str]:
    """What a text is searched by: its words, and neighbours of scripts without spaces as pairs.

    There most words have two characters: one character says little, and pairs alone miss the words
    of one.
    """
    found = words(text)
    return found + [
        one + other
        for one, other in pairwise(found)
        if _UNSPACED.match(one) and _UNSPACED.match(other)
    ]


def telling(text: str) -> list[str]:
    """The `terms` of a text without function words; all where no other is: "The Who", "IT"."""
    found = terms(text)
    return [term for term in found if term not in FUNCTION_WORDS] or found


def content_words(text: str) -> frozenset[str]:
    """The distinct `telling` terms of a text."""
    return frozenset(telling(text))
