"""An answer without a language model: the evidence quoted, side by side, each sentence cited.

Quick, deterministic, and of the same structure as what a model writes.
"""

import textwrap
from collections.abc import Iterable, Sequence

from pipelines.conrag.answer import ABOUT, About, AnswerSentence, Evidence, sides_of, unmarked
from pipelines.conrag.evidence import Stance

QUOTED = 2
"""Clusters of a side that are quoted; the others are cited."""

TITLE = 120
"""Characters of a passage's title, at most."""

_NESTED = str.maketrans("“”", "‘’")

VERDICT = {
    Stance.SUPPORT: "The evidence supports it.",
    Stance.REFUTE: "The evidence speaks against it.",
}
NOTHING_FOUND = "No passage found says whether this is so."
NO_ANSWER = "No passage found answers this."
DISAGREE = "The passages disagree: some support it, others contradict it."
WANTED = "A source that is independent of these would be needed to settle it."


def write(stance: Stance, table: Sequence[Evidence]) -> tuple[AnswerSentence, ...]:
    """The sentences of the answer (ConRAG, section 2, cite; the case study of section 3).

    First the verdict, where there is one; then each side in the words of its passages; then what
    disagrees and what would settle it.
    """
    support, refute = sides_of(table)
    if not support and not refute:
        return (AnswerSentence(text=NOTHING_FOUND, about="none"),)
    written = []
    side = {Stance.SUPPORT: support, Stance.REFUTE: refute}.get(stance)
    if side:
        written.append(
            AnswerSentence(text=VERDICT[stance], about=ABOUT[stance], cites=_numbers(side))
        )
    written += [_quoted(each, "support", "supports") for each in _leading(support)]
    written += [_quoted(each, "refute", "contradicts") for each in _leading(refute)]
    if support and refute:
        both = _numbers(support + refute)
        written += [
            AnswerSentence(text=DISAGREE, about="conflict", cites=both),
            AnswerSentence(text=WANTED, about="none"),
        ]
    return tuple(written)


def conflict_statement(table: Sequence[Evidence]) -> str | None:
    """What disagrees, in a sentence; None where no two passages take opposite sides."""
    marks = [" ".join(f"[{each.number}]" for each in side) for side in sides_of(table)]
    if not all(marks):
        return None
    return "The passages disagree: {} for it, {} against it.".format(*marks)


def _leading(side: Iterable[Evidence]) -> list[Evidence]:
    """The surest passage of each of a side's clusters, the first few."""
    first: dict[str, Evidence] = {}
    for row in sorted(side, key=lambda row: -row.confidence):
        first.setdefault(row.cluster, row)
    return list(first.values())[:QUOTED]


def _quoted(evidence: Evidence, about: About, verb: str) -> AnswerSentence:
    """A sentence around a document's words, which can neither cite anything nor end the quote."""
    title = textwrap.shorten(unmarked(evidence.passage.title or ""), TITLE, placeholder="…")
    words = unmarked(evidence.rationale or "").translate(_NESTED)
    quoted = f": “{words}”" if words else "."
    text = f"{title or 'A passage'} {verb} it{quoted}"
    return AnswerSentence(text=text, about=about, cites=(evidence.number,))


def _numbers(rows: Iterable[Evidence]) -> tuple[int, ...]:
    return tuple(each.number for each in rows)
