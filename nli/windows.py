"""Windows of consecutive sentences that fit a model."""

import re
from collections.abc import Callable, Sequence

from nli.sentences import Span, sentences, stripped

LengthOf = Callable[[Sequence[str]], Sequence[int]]
"""Tokens of each text, without special tokens."""


def windows(text: str, length_of: LengthOf, budget: int, overlap: int) -> list[Span]:
    """Cover a text by windows of consecutive sentences.

    Each window takes as many sentences as fit; the next one repeats the last `overlap` of them,
    fewer if the next sentence would not fit beside them. A sentence longer than the budget (most
    tokens of a window) is cut between words, a longer word between characters; only a single
    character may exceed it.

    Returns:
        Spans in the order of the text; every character that is not white space is in at least one.
        A text that fits is one window; blank text has none.

    Raises:
        ValueError: The budget is below 1, or the overlap below 0.
    """
    if budget < 1 or overlap < 0:
        raise ValueError(f"windows of {budget} tokens with an overlap of {overlap} sentences")
    whole = stripped(text, 0, len(text))
    if whole.start == whole.end:
        return []
    if length_of([text[slice(*whole)]])[0] <= budget:
        return [whole]
    return _covered(text, sentences(text), length_of, budget, overlap)


def _covered(
    text: str, units: Sequence[Span], length_of: LengthOf, budget: int, overlap: int
) -> list[Span]:
    """Join units into windows within the budget; longer units are cut first."""
    pieces: list[Span] = []
    lengths: list[int] = []
    for unit, length in zip(units, _lengths(text, units, length_of), strict=True):
        if length > budget and (smaller := _smaller(text, unit)):
            smaller = _covered(text, smaller, length_of, budget, 0)
            pieces += smaller
            lengths += _lengths(text, smaller, length_of)
        else:
            pieces.append(unit)
            lengths.append(length)
    # Some tokenizers make more tokens of a text than of its parts together; then fill less.
    single = set(pieces)
    fill = budget
    while True:
        filled = _filled(pieces, lengths, fill, overlap)
        joined = [window for window in filled if window not in single]
        excess = max(_lengths(text, joined, length_of), default=0) - budget
        if excess <= 0:
            return filled
        fill -= excess


def _filled(
    pieces: Sequence[Span], lengths: Sequence[int], budget: int, overlap: int
) -> list[Span]:
    """Greedy windows; a piece above the budget is alone."""
    filled: list[Span] = []
    start = end = 0
    while end < len(pieces):
        # Repeat as many of the last pieces as fit beside the next one, which is new.
        start = max(start, end - overlap)
        while start < end and sum(lengths[start : end + 1]) > budget:
            start += 1
        end += 1
        total = sum(lengths[start:end])
        while end < len(pieces) and total + lengths[end] <= budget:
            total += lengths[end]
            end += 1
        filled.append(Span(pieces[start].start, pieces[end - 1].end))
    return filled


def _smaller(text: str, unit: Span) -> list[Span]:
    """The words of a unit, the characters of a single word, or nothing for a character."""
    words = [Span(*m.span()) for m in re.compile(r"\S+").finditer(text, unit.start, unit.end)]
    if len(words) > 1:
        return words
    if unit.end - unit.start > 1:
        return [Span(place, place + 1) for place in range(unit.start, unit.end)]
    return []


def _lengths(text: str, spans: Sequence[Span], length_of: LengthOf) -> list[int]:
    return list(length_of([text[slice(*span)] for span in spans])) if spans else []
