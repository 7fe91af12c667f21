"""Judgements of claims by documents, as a matrix of the page."""

from collections.abc import Sequence
from typing import Final

from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation, Truncation
from pipelines.metrics.label_mass import is_low
from pipelines.report.blocks import Cell, Row, Source
from pipelines.report.text import CHARACTERS_SHOWN
from pipelines.report.texts import Aside, Inline, Span
from pipelines.text.folding import locate

NAMES: Final = {
    Relation.SUPPORTS.value: "supports",
    Relation.CONTRADICTS.value: "contradicts",
    Relation.IRRELEVANT.value: "irrelevant",
    Relation.INVALID.value: "unreadable",
}


def sources(documents: Sequence[Document], truncations: Sequence[Truncation]) -> tuple[Source, ...]:
    """The documents, with how much of each was seen where that is not all."""
    cuts = {each.text: each for each in truncations}

    def source(number: int, document: Document) -> Source:
        about: tuple[Inline, ...] = (
            *([Aside(document.id)] if document.title else []),
            *([Aside(document.date)] if document.date else []),
        )
        seen = cuts.get(f"document {document.id}")
        note = f"Cut: {seen.kept:,} of {seen.tokens:,} tokens were seen." if seen else ""
        title, text = document.title or document.id, document.text
        return Source(number, title, text, about, document.url, note=note)

    return tuple(source(*each) for each in enumerate(documents, 1))


def cell(
    judgement: Judgement | None, document: Document, truncations: Sequence[Truncation] = ()
) -> Cell | None:
    """What a document says of a claim; None where nobody judged it."""
    if judgement is None:
        return None
    span = locate(judgement.snippet or "", document.text)
    shown = span is not None and span[1] <= CHARACTERS_SHOWN
    found = judgement.snippet_found if judgement.snippet_found is not None else span is not None
    seen = next((each for each in truncations if each.text == f"document {document.id}"), None)
    read = judgement.read_tokens
    of = f" of {seen.tokens:,}" if seen else ""
    return Cell(
        relation=judgement.relation.value,
        judge=judgement.source,
        shares=tuple((name.value, p) for name, p in (judgement.probabilities or {}).items()),
        mass=judgement.label_mass if is_low(judgement.label_mass) else None,
        span=Span(*span, "what decided") if span and shown else None,
        quote="" if shown else judgement.snippet or "",
        found=found,
        reasoning=judgement.reasoning or "",
        raw=judgement.raw or "",
        read="" if read is None else f"The labeller saw the first {read:,} tokens{of}.",
    )


def first(rows: Sequence[Row], row: int) -> tuple[int, int]:
    """The cell of a row that opens by itself: its first contradiction, else what says anything."""
    for relation in (Relation.CONTRADICTS, Relation.SUPPORTS):
        for place, each in enumerate(rows[row].cells):
            if each is not None and each.relation == relation.value:
                return row, place
    return row, next((place for place, each in enumerate(rows[row].cells) if each is not None), 0)
