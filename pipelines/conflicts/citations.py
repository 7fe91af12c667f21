"""Inline citations: which sources each sentence of an answer cites (CONFLICTS, section 5.1)."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from nli.sentences import Span
from pipelines.conflicts.result import Sentence
from pipelines.text.citations import cut_out, cuts, without_lists
from pipelines.text.words import statements

# The number of an item of a list within a line.
_NUMBERED = re.compile(r"(?<!\S)[*_]{0,2}\(?([1-9][0-9]?)[.)][*_]{0,2}(?=\s|\Z)")
_BEFORE_ITEM = re.compile(r"(?:[.!…:;][\"'”’»)*_]*|\n|\A)[ \t]*\Z")
_CLOSED = re.compile(r"(?<=[.!?…])[*_]{1,3}(?=\s|\Z)")


def cited_sentences(text: str, sources: int) -> tuple[Sentence, ...]:
    """Split an answer into sentences, each with the sources that it cites.

    Citations are "[1]", "[1][2]", "[1, 2]", "[1-3]", "[Source 2]", "[^1]", "¹" and the like; lists
    of sources are left out (see `pipelines.text.citations`). Citations belong to the sentence that
    they stand in; after its full stop, or alone on the next line, still to it. One that begins a
    line, or is the subject of a sentence ("[2] says otherwise"), belongs to what follows. Other
    brackets, and links with a text, stay in the sentence. Where a sentence would lack a noun
    without its citation, it gets one: "According to [2]", "According to source 2".

    Args:
        text: Anything.
        sources: How many there are; they are numbered from 1.

    Returns:
        Its statements (`pipelines.text.words`) in their order; numbers of list items of which
        nothing follows are left out as well.
    """
    text = without_lists(text)
    marks = list(cuts(text))
    plain, places, subjects = cut_out(text, marks)
    marked = {place + len(mark.glue) for mark, place in zip(marks, places, strict=True)}
    spans = _spans(_splittable(plain, subjects), _items(plain, marked))
    cited: list[list[int]] = [[] for _ in spans]
    current = 0
    for mark, place in zip(marks, places, strict=True) if spans else ():
        while current + 1 < len(spans) and spans[current + 1].start < place:
            current += 1
        behind = current + 1 < len(spans) and spans[current].end <= place
        cited[current + 1 if mark.follows and behind else current] += mark.numbers
    return tuple(
        Sentence(
            text=" ".join(plain[span.start : span.end].split()),
            cites=tuple(dict.fromkeys(n for n in numbers if 1 <= n <= sources)),
            unknown=tuple(dict.fromkeys(n for n in numbers if not 1 <= n <= sources)),
        )
        for span, numbers in zip(spans, cited, strict=True)
    )


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
        number = int(found[1])
        if not stands or plain[end : end + 9].lstrip(" \t")[:1].islower():
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
