"""An answer without a language model: the evidence quoted, side by side, each sentence cited.

Quick, deterministic, and with the same structure as a model's answer.
"""

import textwrap
from collections.abc import Iterable, Sequence

from pipelines.conrag.answer import ABOUT, About, Statement, sides_of, unmarked
from pipelines.conrag.evidence import Stance, TaggedPassage

QUOTED = 2
"""Number of clusters of a side that are quoted; the others are only cited."""

TITLE = 120
"""Maximum characters of a passage's title."""

_NESTED = str.maketrans("“”", "‘’")

VERDICT = {
    Stance.SUPPORT: "The evidence supports it.",
    Stance.REFUTE: "The evidence speaks against it.",
}
MOSTLY = {
    Stance.SUPPORT: "Most of the evidence supports it.",
    Stance.REFUTE: "Most of the evidence speaks against it.",
}
"""The verdict if passages take both sides."""
NOTHING_FOUND = "No passage found says whether this is so."
NO_ANSWER = "No passage found answers this."
DISAGREE = "The passages disagree: some support it, others contradict it."
WANTED = "Only an independent source could settle it."


def write(stance: Stance, table: Sequence[TaggedPassage]) -> tuple[Statement, ...]:
    """The sentences of the answer (ConRAG, section 2, cite; the case study of section 3).

    First the verdict, if any; then both sides in the words of their passages; then the
    disagreement, and what would settle it.
    """
    support, refute = sides_of(table)
    if not support and not refute:
        return (Statement(text=NOTHING_FOUND, about="none"),)
    written = []
    side = {Stance.SUPPORT: support, Stance.REFUTE: refute}.get(stance)
    if side:
        said = (MOSTLY if support and refute else VERDICT)[stance]
        written.append(Statement(text=said, about=ABOUT[stance], cites=_ids(side)))
    written += [_quoted(row, "support", "supports") for row in _leading(support)]
    written += [_quoted(row, "refute", "contradicts") for row in _leading(refute)]
    if support and refute:
        both = _ids(support + refute)
        written += [
            Statement(text=DISAGREE, about="conflict", cites=both),
            Statement(text=WANTED, about="none"),
        ]
    return tuple(written)


def conflict_statement(table: Sequence[TaggedPassage]) -> str | None:
    """A sentence on the disagreement; None if no two passages take opposite sides."""
    marks = [" ".join(f"[{row.number}]" for row in side) for side in sides_of(table)]
    if not all(marks):
        return None
    return "The passages disagree: {} for it, {} against it.".format(*marks)


def _leading(side: Iterable[TaggedPassage]) -> list[TaggedPassage]:
    """The surest passages of a side's first few clusters."""
    first: dict[str, TaggedPassage] = {}
    for row in sorted(side, key=lambda row: -row.confidence):
        first.setdefault(row.cluster, row)
    return list(first.values())[:QUOTED]


def _quoted(row: TaggedPassage, about: About, verb: str) -> Statement:
    """A sentence around a document's words, which can neither cite anything nor end the quote."""
    title, words = (
        unmarked(text or "").translate(_NESTED) for text in (row.passage.title, row.rationale)
    )
    passage = f"“{textwrap.shorten(title, TITLE, placeholder='…')}”" if title else "A passage"
    quoted = f": “{words}”" if words else "."
    return Statement(text=f"{passage} {verb} it{quoted}", about=about, cites=(row.id,))


def _ids(rows: Iterable[TaggedPassage]) -> tuple[str, ...]:
    return tuple(row.id for row in rows)
