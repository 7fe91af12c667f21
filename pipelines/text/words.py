"""Words of a text for lexical comparisons."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import pairwise

from nli.sentences import Span, sentences
from salience.words import STOP_WORDS, UNSPACED, word_pattern

_SIGNS = str.maketrans(
    dict.fromkeys("‘’‚‛′ʼʹ`´", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−﹘", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff")  # soft hyphens, marks without width
)
_DASHES = re.compile(r" ?-+ ?")


def folded(text: str) -> str:
    """A text in lower case with typographic variants unified.

    Compatible characters (NFKC: ligatures, full width, marks on letters), quotes, dashes with the
    space around them, ellipses and white space get one form; soft hyphens are dropped.
    """
    plain = unicodedata.normalize("NFKC", text.casefold().translate(_SIGNS))
    return _DASHES.sub("-", " ".join(plain.casefold().split()))


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """The place of a quote in a text, both `folded`; None if missing or empty.

    Returns:
        Start and end in characters of `text`.
    """
    wanted = folded(quote)
    place = folded(text).find(wanted) if wanted else -1
    if place < 0:
        return None

    def length(end: int) -> int:
        return len(folded(text[:end]))

    ends = range(len(text) + 1)  # a longer prefix is never shorter when folded
    start = bisect_right(ends, place, key=length) - 1
    place += len(wanted)
    end = max(bisect_left(ends, place, key=length), bisect_right(ends, place, key=length) - 1)
    return start, len(text[:end].rstrip())


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

    Numbers lose separators of thousands: "1,200" becomes "1200".
    """
    tokens: list[str] = word_pattern().findall(_THOUSANDS.sub("", text))
    return [token.lower() if token.isascii() else folded(token) for token in tokens]


def stems(text: str) -> tuple[str, ...]:
    """Stems of a text's content words, in order."""
    words = (match[0].lower() for match in word_pattern().finditer(text))
    return tuple(stem(word) for word in words if word not in STOP_WORDS)


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word's stem, by Porter's stemmer."""
    import Stemmer

    return str(Stemmer.Stemmer("porter").stemWord(word.lower()))


def terms(text: str) -> list[str]:
    """Search terms of a text: its words, and pairs of characters in scripts without spaces.

    Most words there have two characters; single characters are kept for one-character words.
    """
    singles = words(text)
    return singles + [
        one + other
        for one, other in pairwise(singles)
        if _UNSPACED.match(one) and _UNSPACED.match(other)
    ]


def telling(text: str) -> list[str]:
    """The `terms` of a text without function words; all terms if none would remain: "The Who"."""
    all_terms = terms(text)
    return [term for term in all_terms if term not in FUNCTION_WORDS] or all_terms


def content_words(text: str) -> frozenset[str]:
    """The distinct `telling` terms of a text."""
    return frozenset(telling(text))


# HTML tags and entities, and numbers as emoji.
_MARKUP = re.compile(r"<(?:/?[a-zA-Z]|!--)[^<>]{0,200}>|&#?\w{1,10};|[\d#*]\ufe0f?\u20e3")
_HEADING = re.compile(r"#{1,6}\s(?s:.*)(?<![.!?…])\Z|(?:```|~~~)[\w+-]*\Z")  # or a code fence
_RULE = re.compile(r"[|:\s+-]*\|[|:\s+-]*")  # below the header of a table
_NUMBER = re.compile(r"[*_]*\(?(?:\d{1,3}|[a-zA-Z])[.)][*_]*")


def statements(text: str) -> list[Span]:
    """The sentences of a text that say something, in order.

    Sentences that say nothing (see `says`), headings without a full stop, table headers, code
    fences, and list numbers alone on a line are left out.
    """
    spans = sentences(text)
    kept = []
    for span, before, after in zip(
        spans, [Span(0, 0), *spans], [*spans[1:], Span(0, 0)], strict=False
    ):
        part, gap = text[slice(*span)], text[before.end : span.start]
        header = "|" in part and _RULE.fullmatch(text[slice(*after)])
        number = len(spans) > 1 and _NUMBER.fullmatch(part) and (not before.end or gap.strip(" \t"))
        if says(part) and not (header or number or _HEADING.match(part)):
            kept.append(span)
    return kept


def says(text: str) -> bool:
    """Whether a text has a letter or digit outside markup; raised digits do not count."""
    return any(sign.isalpha() or sign.isdecimal() for sign in _MARKUP.sub("", text))
