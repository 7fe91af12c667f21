"""Texts without their typography: what is left of it says the same in any typeface."""

import re
import unicodedata
from bisect import bisect_left, bisect_right

_SIGNS = str.maketrans(
    dict.fromkeys("‘’‚‛′ʼʹ`´", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−﹘", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff")  # soft hyphens, marks without width
)
_DASHES = re.compile(r" ?-+ ?")


def folded(text: str) -> str:
    """A text without case, and with one form of what typography writes in several.

    Compatible characters (NFKC: ligatures, full width, marks on letters), quotes, dashes with the
    space around them, ellipses and white space have one form; soft hyphens have none.
    """
    plain = unicodedata.normalize("NFKC", text.casefold().translate(_SIGNS))
    return _DASHES.sub("-", " ".join(plain.casefold().split()))


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Where a text has a quote, both `folded`; None if it does not, or if the quote is empty.

    Returns:
        Start and end in characters of `text`.
    """
    wanted = folded(quote)
    place = folded(text).find(wanted) if wanted else -1
    if place < 0:
        return None

    def length(end: int) -> int:
        return len(folded(text[:end]))

    ends = range(len(text) + 1)  # the longer a part from the beginning, the longer it is folded
    start = bisect_right(ends, place, key=length) - 1
    place += len(wanted)
    end = max(bisect_left(ends, place, key=length), bisect_right(ends, place, key=length) - 1)
    return start, len(text[:end].rstrip())
