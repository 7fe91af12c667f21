"""From tokens to words: words of a text, their tokens, maps between words (NPOV, section 3.2)."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Offset = tuple[int, int]
"""Characters [start, end) of a text."""

STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    what which who whom this that these those
    am is are was were be been being have has had having do does did doing
    will can should
    a an the and but if or because as until while
    of at by for with about against between into through during before after above below
    to from up down in out on off over under again further then once here there when where why how
    all any both each few more most other some such no nor not only own same so than too very
    just now
    s t d m o y re ve ll ain aren couldn didn doesn don hadn hasn haven isn ma mightn mustn needn
    shan shouldn wasn weren won wouldn
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list
)
"""Function words of English, in their classes, and what contractions leave at an apostrophe: those
of NLTK's list, which the paper names."""

_MARKS_END = 0x1F000
"""Past the combining marks of all scripts in use."""


@cache
def word_pattern() -> re.Pattern[str]:
    """A word: letters and digits, with the marks that belong to them.

    Vowels of many scripts are combining marks, which are no word characters to `re`.
    """
    marks = "".join(
        chr(code)
        for code in range(0x300, _MARKS_END)
        if unicodedata.category(chr(code)).startswith("M")
    )
    joiners = "\u200c\u200d"
    return re.compile(rf"[^\W_](?:[^\W_]|[{marks}{joiners}])*")


@dataclass(frozen=True)
class Word:
    """A word of a text.

    Attributes:
        text: As it stands.
        start, end: Its characters in the text.
        tokens: Positions of the tokens that have a character of it; at least one.
    """

    text: str
    start: int
    end: int
    tokens: tuple[int, ...]


def content_words(
    text: str,
    offsets: Sequence[Offset],
    within: Offset,
    *,
    stop_words: Collection[str] = STOP_WORDS,
) -> list[Word]:
    """The words of a part of a text, stop words dropped, in order.

    The paper joins consecutive tokens that neither white space nor punctuation parts. Here words
    are runs of letters and digits, and have every token that stands in them: so a token that holds
    a comma, or the end of one word and the start of the next, does no harm. What has no token, as a
    model without some script drops it, is left out.

    Args:
        text: Prompt and response.
        offsets: Per token its characters in the text; empty of special tokens.
        within: Characters [start, end) of the part.
        stop_words: In lower case.
    """
    found = []
    place = 0
    for match in word_pattern().finditer(text, *within):
        start, end = match.span()
        while place < len(offsets) and offsets[place][1] <= start:
            place += 1
        tokens = []
        for n in range(place, len(offsets)):
            if offsets[n][0] >= end:
                break
            if offsets[n][1] > start:
                tokens.append(n)
        if tokens and match[0].lower() not in stop_words:
            found.append(Word(match[0], start, end, tuple(tokens)))
    return found


def normalised(salience: NDArray[np.floating]) -> NDArray[np.floating]:
    """The map squared, each column divided by its sum (NPOV, section 3.2).

    Args:
        salience: (n, l), signed or not.

    Returns:
        (n, l) in [0, 1]; a column sums to 1, or to 0 where it has nothing but zeros.
    """
    # Divided first, so that squares of a half-precision model's outliers do not overflow.
    largest = np.abs(salience).max(axis=0, keepdims=True, initial=0)
    squares = np.divide(salience, largest, out=np.zeros_like(salience), where=largest > 0) ** 2
    sums = squares.sum(axis=0, keepdims=True)
    return np.asarray(np.divide(squares, sums, out=np.zeros_like(squares), where=sums > 0))


def word_salience(
    normalised_map: NDArray[np.floating],
    rows: Sequence[Word],
    columns: Sequence[Word],
    prompt_tokens: int,
) -> NDArray[np.floating]:
    """M_words: attribution from words to words (NPOV, section 3.2).

    From an input word to an output word it is the largest attribution from any token of the one to
    any token of the other.

    Args:
        normalised_map: (n, n - m), from `normalised`. It is over all tokens: normalising comes
            before words are chosen.
        rows: Words of the input.
        columns: Words of the response.
        prompt_tokens: m.

    Returns:
        (rows, columns), in [0, 1].
    """
    words = np.zeros((len(rows), len(columns)), normalised_map.dtype)
    for i, row in enumerate(rows):
        by_column = normalised_map[list(row.tokens)].max(axis=0)
        for j, column in enumerate(columns):
            words[i, j] = by_column[[token - prompt_tokens for token in column.tokens]].max()
    return words
