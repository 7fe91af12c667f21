"""Inline citations: which sources each sentence of an answer cites (CONFLICTS, section 5.1)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nli.windows import sentences as split
from pipelines.conflicts.answer import Sentence

YEARS: Final = 1000
"""From here on a number in brackets that is no source's is part of the text: "[2019]"."""

RANGE: Final = 20
"""Most sources that a range such as "[1-3]" may name; a longer one is no citation."""

# Brackets hold no brackets, so the time grows with the length of the text, whatever it is like. A
# number may be a link to its page; other links are text.
_BRACKETS = re.compile(
    r"[\[【](?P<inside>[^\[\]【】\n]{1,200})[\]】](?:\(https?://[^\s()\[\]]{1,500}\)|(?!\())"
)
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

    Attributes:
        numbers: The mark's.
        follows: Whether it belongs to what follows it.
        subject: Whether it is followed by the verb of a sentence whose subject it was.
    """

    start: int
    end: int
    glue: str
    numbers: tuple[int, ...]
    follows: bool = False
    subject: bool = False


def cited_sentences(text: str, sources: int) -> tuple[Sentence, ...]:
    """Split an answer into sentences, each with the sources that it cites.

    Citations are "[1]", "[1][2]", "[1, 2]", "[1; 3]", "[1-3]", "[Source 2]", "[d2]". They belong
    to the sentence that they stand in; after its full stop, or alone on the next line, still to it.
    One that begins a line, or is the subject of a sentence ("[2] says otherwise"), belongs to what
    follows. Other brackets, and links with a text, stay in the sentence.

    Args:
        text: Anything.
        sources: How many there are; they are numbered from 1.

    Returns:
        The sentences in their order; those without a letter or digit are left out.
    """
    cuts = list(_cuts(text))
    plain, places, subjects = _without(text, cuts)
    spans = [
        span
        for span in split(_splittable(plain, subjects))
        if any(map(str.isalnum, plain[span.start : span.end]))
    ]
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


def _splittable(plain: str, subjects: Sequence[int]) -> str:
    """The same text, character by character, for a splitter that knows no Markdown.

    A sentence does not begin in lower case, so a verb without its subject gets a capital; emphasis
    that ends after a full stop becomes quotes.
    """
    letters = list(plain)
    for place in subjects:
        letters[place] = "X"
    return _CLOSED.sub(lambda found: '"' * len(found.group()), "".join(letters))


def _cuts(text: str) -> Iterator[_Cut]:
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
    for part in _PARTS.split(inside):
        found = _PART.fullmatch(part.strip())
        span = _range(int(found[1]), int(found[2] or found[1])) if found else range(0)
        if span and span[-1] >= YEARS:
            return []
        if not span:
            return []
        numbers += span
    return numbers


def _range(first: int, last: int) -> range:
    """From the first to the last number; nothing where that is no range, or too long a one."""
    return range(first, last + 1) if last - first < RANGE else range(0)
