"""Inline citations: which sources each sentence of an answer cites (CONFLICTS, section 5.1)."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from nli.sentences import Span
from pipelines.conflicts.result import Sentence
from pipelines.text.statements import statements

YEARS: Final = 1000
"""From here on a number in brackets that is no source's is part of the text: "[2019]"."""

RANGE: Final = 20
"""Most sources that a range such as "[1-3]" may name; a longer one is no citation."""

# Brackets hold no brackets, so the time grows with the length of the text, whatever it is like. A
# number may be a link to its page, whose address may hold "(x)"; other links are text.
_ADDRESS = r"https?://(?:[^\s()\[\]]|\([^\s()\[\]]{0,100}\)){1,500}"
_BRACKETS = re.compile(rf"[\[【](?P<inside>[^\[\]【】\n]{{1,200}})[\]】](?:\({_ADDRESS}\)|(?!\())")
_NAME = re.compile(r"†[^,;&†]*")  # 【1†source】
_PARTS = re.compile(r"[,;&]|\band\b", re.IGNORECASE)
_NUMBER = r"(0|[1-9][0-9]{0,5})"
_SOURCE = r"(?:(?:source|result|document|doc|reference|ref)s?\.?\s*|d|#|\^)?"
_PART = re.compile(rf"{_SOURCE}{_NUMBER}(?:\s*[-–—]\s*{_SOURCE}{_NUMBER})?", re.IGNORECASE)
_AND = re.compile(r"[ \t]*(?:[,;&]|(?:,[ \t]*)?\band\b)?[ \t]*")
_TO = re.compile(r"[ \t]*[-–—][ \t]*")
_ALONE = re.compile(r"\((?:(?:see|cf\.?|sources?:?)[ \t]*)?\Z|\*\*\Z|__\Z|\*\Z|_\Z|\^\Z", re.I)
_CLOSING: Final = {"(": ")", "^": ""}
# The marker of a list item, a heading, a quotation: what follows it begins a line.
_ITEM = re.compile(r"[ \t]*(?:(?:[-*•‣◦–—>]|#{1,6}|\(?[0-9]{1,3}[.)])[ \t]+)?[*_\"“]{0,3}")
_SPACE = re.compile(r"[ \t]*")
_LEAD = re.compile(r":?[ \t]*")
# What has a mark for its object. "By" may have the noun that follows, and "in" and "from" may end a
# clause of their own ("the town he lived in [1]."), so these ask for more than "according to".
_ACCORDING = re.compile(r"\b(?:according[ \t]+to|as[ \t]+per)[ \t]+\Z", re.I)
_BY = re.compile(
    r"\b(?:by|per|see|(?:cited|claimed|confirmed|described|discussed|explained|found|given|listed|"
    r"mentioned|noted|reported|said|seen|shown|stated)[ \t]+in)[ \t]+\Z",
    re.I,
)
_IN = re.compile(r"\b(?:in|from)[ \t]+\Z", re.I)
_NO_NOUN = re.compile(r"[ \t]*(?:[.,;:!?)\n]|\Z|(?:and|or|but|while|whereas|for)\b)")
_COMMA = re.compile(r"[ \t]*[,:]")
# The number of an item of a list within a line.
_NUMBERED = re.compile(r"(?<!\S)[*_]{0,2}\(?([1-9][0-9]?)[.)][*_]{0,2}(?=\s|\Z)")
_BEFORE_ITEM = re.compile(r"(?:[.!…:;][\"'”’»)*_]*|\n|\A)[ \t]*\Z")
_STOPPED = re.compile(r"[.!?…][\"'”’»)*_]*\Z")
_CLOSED = re.compile(r"(?<=[.!?…])[*_]{1,3}(?=\s|\Z)")


@dataclass(frozen=True)
class _Mark:
    """Citations side by side: `text[start:end]` names the sources `numbers`, some perhaps twice."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class _Cut:
    """What is taken out of a text with a mark: `text[start:end]`, with `glue` in its place.

    The numbers are the mark's. It may belong to what follows it (`follows`), and may be the subject
    of a sentence whose verb comes then (`subject`).
    """

    start: int
    end: int
    glue: str
    numbers: tuple[int, ...]
    follows: bool = False
    subject: bool = False


def cited_sentences(text: str, sources: int, *, numbered: bool = True) -> tuple[Sentence, ...]:
    """Split an answer into sentences, each with the sources that it cites.

    Citations are "[1]", "[1][2]", "[1, 2]", "[1; 3]", "[1-3]", "[Source 2]", "[d2]". They belong
    to the sentence that they stand in; after its full stop, or alone on the next line, still to it.
    One that begins a line, or is the subject of a sentence ("[2] says otherwise"), belongs to what
    follows. Other brackets, and links with a text, stay in the sentence. Where a sentence would
    lack a noun without its citation, it gets one: "According to [2]", "According to source 2".

    Args:
        text: Anything.
        sources: How many there are; they are numbered from 1.
        numbered: Whether such a noun has its number; "the source" otherwise.

    Returns:
        Its statements (`pipelines.text.statements`) in their order; numbers of list items of which
        nothing follows are left out as well.
    """
    cuts = list(_cuts(text, numbered))
    plain, places, subjects = _without(text, cuts)
    marked = {place + len(cut.glue) for cut, place in zip(cuts, places, strict=True)}
    spans = _spans(_splittable(plain, subjects), _items(plain, marked))
    cited: list[list[int]] = [[] for _ in spans]
    current = 0
    for cut, place in zip(cuts, places, strict=True) if spans else ():
        while current + 1 < len(spans) and spans[current + 1].start < place:
            current += 1
        behind = current + 1 < len(spans) and spans[current].end <= place
        cited[current + 1 if cut.follows and behind else current] += cut.numbers
    return tuple(
        Sentence(
            text=" ".join(plain[span.start : span.end].split()),
            cites=tuple(dict.fromkeys(n for n in numbers if 1 <= n <= sources)),
            unknown=tuple(dict.fromkeys(n for n in numbers if not 1 <= n <= sources)),
        )
        for span, numbers in zip(spans, cited, strict=True)
    )


def _without(text: str, cuts: Sequence[_Cut]) -> tuple[str, list[int], list[int]]:
    """The text without marks, where in it each was, and where the verbs of their sentences are."""
    parts: list[str] = []
    places: list[int] = []
    subjects: list[int] = []
    length = end = 0
    for cut in cuts:
        parts += [text[end : cut.start], cut.glue]
        places.append(length + cut.start - end)
        length = places[-1] + len(cut.glue)
        end = cut.end
        if cut.subject:
            subjects.append(length)
    return "".join([*parts, text[end:]]), places, subjects


def _items(plain: str, marked: Collection[int]) -> dict[int, int]:
    """Where the items of numbered lists begin, and where their numbers end.

    Two items at least, 1 and 2, each at the beginning of a line, or behind a sentence, a colon or
    a mark; not in lower case, as in "two parts: 1) the deck; 2) the towers". So the 12 of "How
    many? It has 12. It shut." is none.
    """
    items: dict[int, int] = {}
    run: list[tuple[int, int]] = []
    for found in _NUMBERED.finditer(plain):
        start, end = found.span()
        stands = start in marked or _BEFORE_ITEM.search(plain[max(0, start - 10) : start])
        after = _end(_SPACE, plain, end)
        number = int(found[1])
        if not stands or plain[after : after + 1].islower():
            continue
        if number == 1:
            run = []
        if number == len(run) + 1:
            run.append((start, end))
            if number > 1:
                items.update(run)
    return items


def _spans(text: str, items: Mapping[int, int]) -> list[Span]:
    """The sentences, where an item of a list begins one with its number."""
    spans: list[Span] = []
    for start, end in pairwise([0, *(each for each in items if each), len(text)]):
        for span in statements(text[start:end]):
            own = Span(start + span.start, start + span.end)
            if items.get(own.start) != own.end:
                spans.append(own)
    return spans


def _splittable(plain: str, subjects: Sequence[int]) -> str:
    """The same text, character by character, for a splitter that knows no Markdown.

    A sentence does not begin in lower case, so a verb without its subject gets a capital; emphasis
    that ends after a full stop becomes quotes.
    """
    letters = list(plain)
    for place in subjects:
        letters[place] = "X"
    return _CLOSED.sub(lambda found: '"' * len(found.group()), "".join(letters))


def _cuts(text: str, numbered: bool) -> Iterator[_Cut]:
    """What to take out of the text, so that neither a space too many nor one too few is left."""
    end = 0
    for mark in _marks(text):
        before = text[end : mark.start]
        line = before[before.rfind("\n") + 1 :]
        begins = (end == 0 or "\n" in before) and _ITEM.fullmatch(line) is not None
        after = _end(_SPACE, text, mark.end)
        follows = text[after : after + 1]
        if begins and follows not in {"", "\n"} and follows not in ".,;!?)":
            cut = _Cut(mark.start, _end(_LEAD, text, mark.end), "", mark.numbers, follows=True)
        elif _is_object(before[-40:], text, mark.end):
            noun = _noun(mark.numbers, numbered) + " " * text[mark.end : mark.end + 1].isalnum()
            cut = _Cut(mark.start, mark.end, noun, mark.numbers)
        else:
            before = before.rstrip() if begins else before.rstrip(" \t")
            stopped = _STOPPED.search(before[-8:]) is not None
            subject = stopped and follows.islower()
            glue = ""
            if follows == "." and stopped:
                after += 1  # "It opened. [1]." has one full stop too many
            elif follows.isalnum() or (after > mark.end and follows not in ".,;:!?)…\n"):
                glue = " "
            cut = _Cut(end + len(before), after, glue, mark.numbers, subject, subject)
        yield cut
        end = cut.end


def _is_object(before: str, text: str, end: int) -> bool:
    """Whether a mark that ends there is the object of the preposition before it."""
    return (
        _ACCORDING.search(before) is not None
        or (_BY.search(before) is not None and _NO_NOUN.match(text, end) is not None)
        or (_IN.search(before) is not None and _COMMA.match(text, end) is not None)
    )


def _noun(numbers: Sequence[int], numbered: bool) -> str:
    """What stands in the place of a mark: "source 2", "sources 1, 2 and 3"."""
    *others, last = map(str, dict.fromkeys(numbers))
    name = "sources" if others else "source"
    if not numbered:
        return f"the {name}"
    return f"{name} {', '.join(others)} and {last}" if others else f"{name} {last}"


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    """Where a pattern that may match nothing ends, tried at a place."""
    found = pattern.match(text, place)
    return found.end() if found else place


def _marks(text: str) -> Iterator[_Mark]:
    """Citations in their order, those that stand side by side as one."""
    start = end = 0
    numbers: list[int] = []
    for found in _BRACKETS.finditer(text):
        named = _numbers(found["inside"])
        if not named:
            continue
        from_, to = _decorated(text, *found.span())
        between = text[end:from_]
        span = _range(numbers[-1], named[0]) if numbers and _TO.fullmatch(between) else range(0)
        if span:
            numbers += [*span[1:], *named[1:]]
        elif numbers and _AND.fullmatch(between):
            numbers += named
        else:
            if numbers:
                yield _Mark(*_decorated(text, start, end), tuple(numbers))
            start, numbers = from_, named
        end = to
    if numbers:
        yield _Mark(*_decorated(text, start, end), tuple(numbers))


def _decorated(text: str, start: int, end: int) -> tuple[int, int]:
    """A mark together with what is around it alone: "(see [1])", "**[1]**"."""
    opening = _ALONE.search(text[max(0, start - 12) : start])
    if opening is None:
        return start, end
    sign = opening.group()
    closing = _CLOSING.get(sign[0], sign)
    closed = text.startswith(closing, end)
    return (start - len(sign), end + len(closing)) if closed else (start, end)


def _numbers(inside: str) -> list[int]:
    """The numbers within brackets; none where anything else stands there."""
    numbers: list[int] = []
    for part in _PARTS.split(_NAME.sub("", inside)):
        found = _PART.fullmatch(part.strip())
        span = _range(int(found[1]), int(found[2] or found[1])) if found else range(0)
        if not span or span[-1] >= YEARS:
            return []
        numbers += span
    return numbers


def _range(first: int, last: int) -> range:
    """From the first to the last number; nothing where that is no range, or too long a one."""
    return range(first, last + 1) if last - first < RANGE else range(0)
