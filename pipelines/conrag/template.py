"""An answer without a language model: the evidence quoted, side by side, each sentence cited.

Quick, deterministic, and of the same structure as what a model writes.
"""

import textwrap
from collections.abc import Sequence

from pipelines.conrag.answer import About, AnswerSentence, Evidence, by_relation
from pipelines.conrag.policies import unmarked
from pipelines.conrag.stance import Adjudication, Stance
from pipelines.evidence.judgement import Relation

QUOTED = 2
"""Clusters of a side that are quoted; the others are cited."""

TITLE = 120
"""Characters of a passage's title, at most."""

_NESTED = str.maketrans("“”", "‘’")

VERDICT: dict[Stance, tuple[About, str]] = {
    Stance.SUPPORT: ("support", "The evidence supports it."),
    Stance.REFUTE: ("refute", "The evidence speaks against it."),
}
NOTHING_FOUND = "No passage found says whether this is so."
NO_ANSWER = "No passage found answers this."
DISAGREE = "The passages disagree: some support it, others contradict it."
WANTED = "A source that is independent of these would be needed to settle it."


def write(adjudicated: Adjudication, table: Sequence[Evidence]) -> tuple[AnswerSentence, ...]:
    """The sentences of the answer (ConRAG, section 2, cite; the case study of section 3).

    First the verdict, where there is one; then each side in the words of its passages; then what
    disagrees and what would settle it.

    Args:
        adjudicated: The stance.
        table: The evidence.
    """
    rows = by_relation(table)
    support, refute = rows[Relation.SUPPORTS], rows[Relation.CONTRADICTS]
    if not support and not refute:
        return (AnswerSentence(text=NOTHING_FOUND, about="none"),)
    written = []
    side = {Stance.SUPPORT: support, Stance.REFUTE: refute}.get(adjudicated.stance)
    if side:
        about, text = VERDICT[adjudicated.stance]
        written.append(AnswerSentence(text=text, about=about, cites=_numbers(side)))
    written += [_quoted(each, "support") for each in _leading(support)]
    written += [_quoted(each, "refute") for each in _leading(refute)]
    if support and refute:
        both = _numbers([*support, *refute])
        written += [
            AnswerSentence(text=DISAGREE, about="conflict", cites=both),
            AnswerSentence(text=WANTED, about="none"),
        ]
    return tuple(written)


def conflict_statement(table: Sequence[Evidence]) -> str | None:
    """What disagrees, in a sentence; None where no two passages take opposite sides."""
    rows = by_relation(table)
    support, refute = rows[Relation.SUPPORTS], rows[Relation.CONTRADICTS]
    if not support or not refute:
        return None
    return f"The passages disagree: {_marks(support)} for it, {_marks(refute)} against it."


def _leading(side: Sequence[Evidence]) -> list[Evidence]:
    """The surest passage of each of a side's clusters, the first few."""
    first: dict[str, Evidence] = {}
    for each in side:
        first.setdefault(each.cluster, each)
    return list(first.values())[:QUOTED]


def _quoted(evidence: Evidence, about: About) -> AnswerSentence:
    """A sentence around a document's words, which can neither cite anything nor end the quote."""
    verb = "supports" if about == "support" else "contradicts"
    title = textwrap.shorten(unmarked(evidence.passage.title or ""), TITLE, placeholder="…")
    words = unmarked(evidence.rationale or "").translate(_NESTED)
    quoted = f": “{words}”" if words else "."
    text = f"{title or 'A passage'} {verb} it{quoted}"
    return AnswerSentence(text=text, about=about, cites=(evidence.number,))


def _numbers(rows: Sequence[Evidence]) -> tuple[int, ...]:
    return tuple(each.number for each in rows)


def _marks(rows: Sequence[Evidence]) -> str:
    return " ".join(f"[{each.number}]" for each in rows)
