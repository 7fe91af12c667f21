"""What a text says: its sentences, without what only arranges them."""

import re

from nli.sentences import Span, sentences

# Tags and entities of HTML, and numbers in the shape of emoji.
_MARKUP = re.compile(r"<(?:/?[a-zA-Z]|!--)[^<>]{0,200}>|&#?\w{1,10};|[\d#*]\ufe0f?\u20e3")
_HEADING = re.compile(r"#{1,6}\s(?s:.*)(?<![.!?…])\Z|(?:```|~~~)[\w+-]*\Z")  # or the fence of code
_RULE = re.compile(r"[|:\s+-]*\|[|:\s+-]*")  # below the header of a table
_NUMBER = re.compile(r"[*_]*\(?(?:\d{1,3}|[a-zA-Z])[.)][*_]*")


def statements(text: str) -> list[Span]:
    """The sentences of a text that say something, in their order.

    Left out are those that do not (see `says`), headings without a stop, the header of a table,
    fences of code, and the number of a list's item alone on its line.
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
    """Whether a text has a letter or digit beside its markup; raised digits are notes."""
    return any(sign.isalpha() or sign.isdecimal() for sign in _MARKUP.sub("", text))
