"""What a text says: its sentences, without what only arranges them."""

import re

from nli.sentences import Span, sentences

# Tags and entities of HTML, and numbers in the shape of emoji.
_MARKUP = re.compile(r"<(?:/?[a-zA-Z]|!--)[^<>]{0,200}>|&#?\w{1,10};|[\d#*]\ufe0f?\u20e3")
_HEADING = re.compile(r"#{1,6}\s|(?:```|~~~)[\w+-]*\Z")  # or the fence of code
_RULE = re.compile(r"[|:\s+-]*\|[|:\s+-]*")  # below the header of a table
_NUMBER = re.compile(r"[*_]*\(?(?:\d{1,3}|[a-zA-Z])[.)][*_]*")


def statements(text: str) -> list[Span]:
    """The sentences of a text that say something, in their order.

    Left out are those that do not (see `says`), headings without a stop, the header of a table,
    fences of code, and the number of a list's item alone on its line.
    """
    spans = sentences(text)
    parts = [text[slice(*span)] for span in spans]
    starts = [0, *(span.end for span in spans)]
    kept = []
    for span, part, before, follows in zip(spans, parts, starts, [*parts[1:], ""], strict=False):
        heading = _HEADING.match(part) and part[-1] not in ".!?…"
        header = "|" in part and _RULE.fullmatch(follows)
        begins = before == 0 or text[before : span.start].strip(" \t")
        number = len(spans) > 1 and begins and _NUMBER.fullmatch(part)
        if says(part) and not (heading or header or number):
            kept.append(span)
    return kept


def says(text: str) -> bool:
    """Whether a text has a letter or digit beside its markup; raised digits are notes."""
    return any(sign.isalpha() or sign.isdecimal() for sign in _MARKUP.sub("", text))
