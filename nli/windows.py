"""Sentences of a text, and windows of consecutive sentences that fit a model."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

LengthOf = Callable[[Sequence[str]], Sequence[int]]
"""Tokens of each text, without special tokens."""


class Span(NamedTuple):
    """A stretch of a text: `text[start:end]`, in characters."""

    start: int
    end: int


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The lookbehinds have a run of dots or spaces tried from its beginning only: from each of its
# characters, the time would grow with the square of its length.
_END = re.compile(r"(?:(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?=\s|\Z)|[。！？]+[”’」』）]*)")
_LINE = re.compile(r"(?<![^\S\n])[^\S\n]*\n\s*")
_BULLET = re.compile(r"(?:[-*•‣◦–—]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s")
# Never the end of a sentence: something always follows.
_TITLES = _words(
    """mr mrs ms dr prof rev hon gov sen rep gen col maj capt lt sgt cmdr adm pres messrs mme mlle
    mt ft fig figs eq eqs sec ch vs cf viz eg ie al approx ca"""
)
# The end of a sentence only before a word that usually begins one.
_SHORTENED = _words(
    """inc corp co ltd llc plc jr sr bros st ave blvd rd dept univ assn est nos vol vols pp ed
    eds trans jan feb mar apr jun jul aug sep sept oct nov dec"""
)
_OPENERS = _words(
    """the a an it its he she they we i you his her their our this that these those there here in
    on at as by for from with after before during since while when where however but and or if
    although because what who how why no yes then so such some
    many most several both each all"""
)
# Lines of this many characters are taken for text that was wrapped, not for headings or items.
_WRAPPED = range(60, 101)


def sentences(text: str) -> list[Span]:
    """Split a text into sentences by rules.

    A sentence ends at final punctuation (with closing quotes and brackets) before white space,
    unless what follows begins in lower case, or the full stop belongs to an abbreviation, an
    initial or an item's number. Line ends separate headings and list items; a line that was merely
    wrapped goes on.

    Returns:
        Spans in the order of the text, without white space at their ends. They do not overlap, and
        every character that is not white space is in one of them.
    """
    cuts = {match.end() for match in _END.finditer(text) if _ends_sentence(text, match)}
    cuts |= {match.end() for match in _LINE.finditer(text) if _ends_line(text, match)}
    edges = [0, *sorted(cuts - {0, len(text)}), len(text)]
    found = (_stripped(text, start, end) for start, end in pairwise(edges))
    return [span for span in found if span.start < span.end]


def windows(text: str, length_of: LengthOf, budget: int, overlap: int) -> list[Span]:
    """Cover a text by windows of consecutive sentences.

    Each window takes as many sentences as fit; the next one repeats the last `overlap` of them,
    fewer where the next sentence would not fit beside them. A sentence that is longer than the
    budget (most tokens of a window) is cut between words, a word that is longer between
    characters; only a single character may have more.

    Returns:
        Spans in the order of the text; every character that is not white space is in at least one.
        A text that fits is one window; blank text has none.

    Raises:
        ValueError: The budget is below 1, or the overlap below 0.
    """
    if budget < 1 or overlap < 0:
        raise ValueError(f"windows of {budget} tokens with an overlap of {overlap} sentences")
    whole = _stripped(text, 0, len(text))
    if whole.start == whole.end:
        return []
    if length_of([text[slice(*whole)]])[0] <= budget:
        return [whole]
    return _covered(text, sentences(text), length_of, budget, overlap)


def _covered(
    text: str, units: Sequence[Span], length_of: LengthOf, budget: int, overlap: int
) -> list[Span]:
    """Join units to windows within the budget; units that are too long are cut first."""
    pieces: list[Span] = []
    for unit, length in zip(units, _lengths(text, units, length_of), strict=True):
        if length > budget and (smaller := _smaller(text, unit)):
            pieces += _covered(text, smaller, length_of, budget, 0)
        else:
            pieces.append(unit)
    lengths = _lengths(text, pieces, length_of)
    # Some tokenizers make more tokens of a text than of its parts: fill a little less, then.
    single = set(pieces)
    fill = budget
    while True:
        found = _filled(pieces, lengths, fill, overlap)
        joined = [window for window in found if window not in single]
        excess = max(_lengths(text, joined, length_of), default=0) - budget
        if excess <= 0:
            return found
        fill -= excess


def _filled(
    pieces: Sequence[Span], lengths: Sequence[int], budget: int, overlap: int
) -> list[Span]:
    """Greedy windows; a piece above the budget is alone."""
    found: list[Span] = []
    start = end = 0
    while end < len(pieces):
        # As many of the last pieces again as fit beside the next one, which is new.
        start = max(start, end - overlap)
        while start < end and sum(lengths[start : end + 1]) > budget:
            start += 1
        end += 1
        total = sum(lengths[start:end])
        while end < len(pieces) and total + lengths[end] <= budget:
            total += lengths[end]
            end += 1
        found.append(Span(pieces[start].start, pieces[end - 1].end))
    return found


def _smaller(text: str, unit: Span) -> list[Span]:
    """The words of a unit; of a word, its characters; of a character, nothing."""
    words = [Span(*m.span()) for m in re.compile(r"\S+").finditer(text, unit.start, unit.end)]
    if len(words) > 1:
        return words
    if unit.end - unit.start > 1:
        return [Span(place, place + 1) for place in range(unit.start, unit.end)]
    return []


def _lengths(text: str, spans: Sequence[Span], length_of: LengthOf) -> list[int]:
    return list(length_of([text[slice(*span)] for span in spans])) if spans else []


def _stripped(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return Span(start, max(start, start + len(part.strip())))


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match.group()
    after = text[match.end() : match.end() + 80].lstrip()
    if mark[0] in "。！？" or not after:
        return True
    follows = after.lstrip("\"'“‘«([")
    if follows[:1].islower():
        return False
    if mark[0] != "." or mark[:2] == "..":
        return True
    opener = re.split(r"\W", follows, maxsplit=1)[0].casefold() in _OPENERS
    return not _shortens(text, match.start(), opener)


def _shortens(text: str, place: int, opener: bool) -> bool:
    """Whether the full stop there is that of an abbreviation, an initial or an item's number."""
    word = re.split(r"[\s\"'“‘«(\[]", text[max(0, place - 40) : place])[-1]
    if word.casefold().replace(".", "") in _TITLES:
        return True
    if re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", word) or word.casefold() in _SHORTENED:
        return not opener
    if re.fullmatch(r"[A-Z]", word) and word != "I":
        return not opener
    if word.casefold() in {"no", "p", "c"}:  # "no." ends many a sentence, "no. 5" none
        return text[place + 1 : place + 9].lstrip()[:1].isdigit()
    return re.fullmatch(r"\d{1,3}", word) is not None and _begins_line(text, place - len(word))


def _begins_line(text: str, place: int) -> bool:
    head = text[:place].rstrip(" \t")
    return not head or head.endswith("\n")


def _ends_line(text: str, match: re.Match[str]) -> bool:
    after = text[match.end() : match.end() + 8]
    if match.group().count("\n") > 1 or _BULLET.match(after):
        return True
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    wrapped = len(line) in _WRAPPED and not line.rstrip().endswith(":")
    return not (after[:1].islower() or wrapped)
