"""From tokens to words: words of a text, their tokens, maps between words (NPOV, section 3.2)."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

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
"""Function words of English, by class, and the parts that contractions leave at an apostrophe, from
NLTK's list, which the paper names."""

UNSPACED = (
    "\u0e00-\u0e4f\u0e80-\u0ecf\u0edc-\u0eff\u1000-\u103f\u1050-\u108f\u1780-\u17df\u3005-\u3007"
    "\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9d"
    "\U00020000-\U0003ffff"
)
"""Ranges of characters: letters of scripts without spaces between words (Thai, Lao, Myanmar, Khmer,
kana, Chinese characters)."""

_MARKS_END = 0x1F000
"""Past the combining marks of all scripts in use."""

# With thousands separators or one decimal separator. Adjacent digits and separators form such a
# number as a whole or not at all: a date and a version are several words.
_NUMBER = (
    r"(?<!\d[.,])(?:\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+(?:\.\d+|,\d\d?))"
    r"(?![.,]?\d)"
)


@cache
def word_pattern() -> re.Pattern[str]:
    """A word: letters and digits, with the marks that belong to them.

    Vowels of many scripts are combining marks, which are not word characters to `re`. A number is
    one word with its separators, "1,200" or "3.5", and in scripts without spaces (`UNSPACED`) every
    character is one.
    """
    marks = "".join(
        chr(code)
        for code in range(0x300, _MARKS_END)
        if unicodedata.category(chr(code)).startswith("M")
    )
    # The first condition spares most characters the lookup among the marks.
    marks = f"(?![\\x00-\u02ff])[{marks}\u200c\u200d\uff9e\uff9f]|\u00ad"
    letter = rf"[^\W\d_{UNSPACED}]"
    return re.compile(
        rf"(?:{letter}|{_NUMBER}|\d)(?:[^\W_{UNSPACED}]++|{marks})*|[^\W_](?:{marks})*"
    )


@dataclass(frozen=True)
class Word:
    """A word of a text, at characters [start, end), and all tokens that have a character of it."""

    text: str
    start: int
    end: int
    tokens: tuple[int, ...]


def content_words(text: str, offsets: Sequence[Offset], within: Offset) -> list[Word]:
    """The words of a part of a text, stop words dropped, in order.

    The paper joins consecutive tokens that are not separated by white space or punctuation. Here
    a word is a run of letters and digits, with every token that overlaps it; so a token may contain
    a comma, or the end of one word and the start of the next. Words without tokens, as for a model
    that drops a script, are left out.

    `offsets` gives each token's span in the text, empty for special tokens; `within` is the span of
    the part.
    """
    words = []
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
        if tokens and match[0].lower() not in STOP_WORDS:
            words.append(Word(match[0], start, end, tuple(tokens)))
    return words
