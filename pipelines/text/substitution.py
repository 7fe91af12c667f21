"""Makes contradictions by exchanging a number, a date or a name in a text.

A document that says 1902 contradicts an otherwise identical claim that says 1885. Exchanging one
part of a true sentence makes a false one (as in FactCC, Kryscinski et al. 2020), with a numeric
mismatch or an entity substitution (ConRAG, section 2, "Conflict typology").
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.text.days import MONTH

Kind = Literal["year", "number", "month", "name"]

# Numbers are exchanged whole: 2 is not part of 2.5, 2,000 or 2nd.
_BEFORE, _AFTER = r"(?<!\w)(?<!\d[.,])", r"(?!\w|[.,]\d)"
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("month", re.compile(rf"\b(?:{MONTH})\b")),
    ("year", re.compile(rf"{_BEFORE}(?:1[5-9]|20)\d\d{_AFTER}")),
    ("number", re.compile(rf"{_BEFORE}\d+(?:,\d{{3}})*(?:\.\d+)?{_AFTER}")),
    # Names are not looked for at the start of a sentence, where any word has a capital.
    ("name", re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+(?: [A-Z][a-z]+){0,3}\b")),
)


@dataclass(frozen=True)
class Mention:
    """A part of a text that can be exchanged for another of its kind, and its start."""

    kind: Kind
    text: str
    start: int


def mentions(text: str) -> list[Mention]:
    """The numbers, dates and names of a text, in order, none inside another."""
    found: list[Mention] = []
    taken: set[int] = set()
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            place = set(range(*match.span()))
            if not place & taken:
                taken |= place
                found.append(Mention(kind, match.group(), match.start()))
    return sorted(found, key=lambda mention: mention.start)


def pool(texts: Iterable[str]) -> dict[Kind, tuple[str, ...]]:
    """The mentions of texts by kind, as material for substitutions."""
    by_kind: dict[Kind, dict[str, None]] = defaultdict(dict)
    for text in texts:
        for mention in mentions(text):
            by_kind[mention.kind][mention.text] = None
    return {kind: tuple(sorted(names)) for kind, names in by_kind.items()}


def falsified(
    text: str, rng: random.Random, names: Mapping[Kind, Sequence[str]], *, within: str
) -> tuple[str, Mention, str] | None:
    """A text with one mention exchanged for another of its kind.

    Args:
        text: A sentence that the document supports.
        rng: Chooses the mention and its substitute.
        names: Substitutes for months and names, from `pool`; numbers and years are made up.
        within: The document; its mentions are not substitutes, since they may be true as well.

    Returns:
        The new text, the old part and its substitute; None if nothing can be exchanged.
    """
    # Exchanging a part that the document lacks would not make the text false.
    shared = [
        candidate
        for candidate in mentions(text)
        if has_words(within, candidate.text, as_written=True)
    ]
    if not shared:
        return None
    mention = rng.choice(shared)
    for _ in range(8):
        substitute = substitute_of(mention, rng, names)
        if substitute and substitute != mention.text and not has_words(within, substitute):
            end = mention.start + len(mention.text)
            return text[: mention.start] + substitute + text[end:], mention, substitute
    return None


def exchanged(text: str, old: str, new: str, *, as_written: bool = False) -> str:
    """A text with `new` for every `old` that stands there as whole words or a whole number.

    With `as_written` case must match, as months and names need: "May" is not "may".
    """
    return _words(old, as_written).sub(lambda _: new, text)


def has_words(text: str, part: str, *, as_written: bool = False) -> bool:
    """Whether a text has a part as whole words and numbers; `as_written` respects case."""
    return _words(part, as_written).search(text) is not None


def _words(part: str, as_written: bool) -> re.Pattern[str]:
    before = _BEFORE if part[:1].isdigit() else r"(?<!\w)"
    after = _AFTER if part[-1:].isdigit() else r"(?!\w)"
    return re.compile(f"{before}{re.escape(part)}{after}", 0 if as_written else re.IGNORECASE)


def substitute_of(
    mention: Mention, rng: random.Random, names: Mapping[Kind, Sequence[str]]
) -> str | None:
    """Another mention of the kind: a made-up number or year, or a month or name from `names`.

    It may equal the mention; None if `names` lacks the kind.
    """
    match mention.kind:
        case "year":
            return str(int(mention.text) + rng.choice((-1, 1)) * rng.choice((1, 2, 3, 7, 12, 30)))
        case "number":
            return _other_number(mention.text, rng)
        case _:
            others = names.get(mention.kind, ())
            return rng.choice(others) if others else None


def _other_number(text: str, rng: random.Random) -> str:
    """A number of about the same size, written the same way."""
    digits = text.replace(",", "")
    decimals = len(digits.partition(".")[2])
    value = float(digits) * rng.choice((0.1, 0.5, 0.8, 1.3, 2.0, 10.0)) + rng.choice((0, 1, 2))
    return f"{value:,.{decimals}f}" if "," in text else f"{value:.{decimals}f}"
