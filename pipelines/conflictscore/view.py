"""ConflictScore on the page: scores, plots, and every response against its documents."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from pipelines.conflictscore import tables
from pipelines.conflictscore.result import MEASURES, Result, claim_relations
from pipelines.conflictscore.scores import contradicting, supporting
from pipelines.data.jsonl import Skipped
from pipelines.data.records import Document
from pipelines.experiment.publish import Runs
from pipelines.experiment.summary import Figure, Page, Problem, truncations, unread_labels
from pipelines.judge.cascade import ChosenThreshold
from pipelines.judge.judgement import Judgement, Relation, Truncation, in_conflict, nearly_tied
from pipelines.judge.run_judge import judge_named
from pipelines.metrics.calibration import is_low
from pipelines.report import glance
from pipelines.report.blocks import Cell, Matrix, Row, Source, Sources
from pipelines.report.explorer import Example, Facet
from pipelines.report.texts import (
    CHARACTERS_SHOWN,
    Aside,
    Block,
    Chip,
    Heading,
    Inline,
    Note,
    Span,
    Text,
    Trouble,
)
from pipelines.text.words import locate


def sources(documents: Sequence[Document], truncations: Sequence[Truncation]) -> tuple[Source, ...]:
    """The documents; those that were cut say how much of them was seen."""
    cuts = {truncation.text: truncation for truncation in truncations}

    def source(number: int, document: Document) -> Source:
        about: tuple[Inline, ...] = (
            *([Aside(document.id)] if document.title else []),
            *([Aside(document.date)] if document.date else []),
        )
        seen = cuts.get(f"document {document.id}")
        note = f"Cut: {seen.kept:,} of {seen.tokens:,} tokens were seen." if seen else ""
        title, text = document.title or document.id, document.text
        return Source(number, title, text, about, document.url, note=note)

    return tuple(source(*numbered) for numbered in enumerate(documents, 1))


def document_blocks(
    documents: Sequence[Document], truncations: Sequence[Truncation]
) -> list[Block]:
    """The documents, under a heading with their number."""
    shown = sources(documents, truncations)
    return [Heading(f"Documents ({len(shown)})"), Sources(shown)]


def cell(
    judgement: Judgement | None, document: Document, truncations: Sequence[Truncation] = ()
) -> Cell | None:
    """A document's label for a claim; None if the pair was not judged."""
    if judgement is None:
        return None
    span = locate(judgement.snippet or "", document.text)
    shown = span is not None and span[1] <= CHARACTERS_SHOWN
    found = judgement.snippet_found if judgement.snippet_found is not None else span is not None
    seen = next(
        (truncation for truncation in truncations if truncation.text == f"document {document.id}"),
        None,
    )
    read = judgement.read_tokens
    out_of = f" of {seen.tokens:,}" if seen else ""
    return Cell(
        relation=judgement.relation.value,
        judge=judgement.source,
        shares=tuple((name.value, p) for name, p in (judgement.probabilities or {}).items()),
        unsure=nearly_tied(judgement.probabilities),
        mass=judgement.label_mass if is_low(judgement.label_mass) else None,
        span=Span(*span, "what decided") if span and shown else None,
        quote="" if shown else judgement.snippet or "",
        found=found,
        reasoning=judgement.reasoning or "",
        raw=judgement.raw or "",
        read="" if read is None else f"The judge saw the first {read:,} tokens{out_of}.",
    )


def first(rows: Sequence[Row], row: int) -> tuple[int, int]:
    """The cell of a row to open: its first contradiction, else first support, else first label."""
    for relation in (Relation.CONTRADICTS, Relation.SUPPORTS):
        for place, label in enumerate(rows[row].cells):
            if label is not None and label.relation == relation.value:
                return row, place
    return row, next((place for place, label in enumerate(rows[row].cells) if label is not None), 0)


ENOUGH_JUDGEMENTS = 20
"""With at least this many judgements, a note says so if all labels are the same."""

SQUARES = 24
"""Maximum number of claims of a response that the list shows as squares."""

_FOUND: Final = ("conflicting claims", "unreadable judgements", "truncated texts")
WITH: Final = Facet("With", _FOUND)
"""Filters the responses by what may need a look."""

_STATES: Final[Mapping[str, Chip]] = {
    "conflict": Chip("", "both", "±", "in conflict"),
    "support": Chip("", "support", "+", "supported"),
    "contradict": Chip("", "contradict", "−", "contradicted"),
    "none": Chip("", "plain", "○", "no evidence"),
    "undetermined": Chip("", "invalid", "?", "undetermined"),
}
_CHIPS: Final[Mapping[str, Chip]] = {
    "conflict": Chip("conflict", "both"),
    "undetermined": Chip("undetermined", "invalid"),
    "none": Chip("no evidence"),
}


def _notes(runs: Runs[Result]) -> Iterator[str]:
    """What a reader should know before trusting the figures."""
    config, judged = runs.configs[""], tables.judgements(runs.results[""])
    if "cascade" in config:
        yield f"Cascade: {ChosenThreshold.model_validate(config['cascade']).in_words()}."
    labels = {judgement.relation for judgement in judged}
    if len(labels) == 1 and len(judged) >= ENOUGH_JUDGEMENTS:
        label = "unreadable" if labels == {Relation.INVALID} else labels.pop().lower()
        yield (
            f"All {len(judged):,} judgements carry the same label ({label}). A judge that "
            "does not tell documents apart says nothing about the responses, whatever the scores."
        )
    yield from tables.remarks(judged, "the judge")


def _told(runs: Runs[Result]) -> Iterator[str]:
    results = runs.results[""]
    if beside := tables.unevidenced(results):
        yield f"{beside:,} of {glance.count(len(results), 'response')}: no document takes a side"


def example(run: str, result: Result) -> Example:
    """A response in the list."""
    relations = claim_relations(result)
    states = [_state(claim) for claim in relations]
    conflicts = states.count("conflict")
    unreadable = sum(claim.count(Relation.INVALID) for claim in relations)
    chips: list[Inline] = [Chip(result.status, "invalid", "!")]
    if result.status == "scored":
        more = len(states) - SQUARES
        said = f"{conflicts:,} of {glance.count(len(states), 'claim')} in conflict"
        chips = [_STATES[state] for state in states[:SQUARES]]
        chips.append(Aside(f"+{more:,}; {said}" if more > 0 else said))
    if unreadable:
        chips.append(Chip(f"{unreadable:,} unreadable", "invalid", "?"))
    if result.truncations:
        chips.append(Chip(f"{len(result.truncations):,} truncated"))
    kinds = zip(_FOUND, (conflicts, unreadable, result.truncations), strict=True)
    return Example(
        id=result.id,
        run=run,
        title=result.question or result.response[:160],
        status=result.status,
        blocks=partial(content, result),
        about=(tables.variant(result),),
        chips=tuple(chips),
        facets={
            "Variant": [tables.variant(result)],
            "With": [name for name, some in kinds if some],
        },
        figures={title: getattr(result, measure) for measure, title in MEASURES.items()},
        words=f"{result.response}\n{result.error or ''}",
    )


def content(result: Result) -> list[Block]:
    """An opened response: its text, claims against documents, documents."""
    blocks: list[Block] = []
    if result.error:
        blocks.append(Trouble(result.status.capitalize(), result.error, result.raw))
    blocks += [Heading("Response"), Text(result.response, "Response")]
    blocks += [
        Note(
            f"Truncated: the model saw the first {truncation.kept:,} of {truncation.tokens:,} "
            f"tokens of {truncation.text}."
        )
        for truncation in result.truncations
    ]
    if result.evidence == 0:
        blocks.append(Note("No document supports or contradicts any claim."))
    if copied := result.copied_claims:
        blocks.append(
            Note(
                f"{glance.count(len(copied), 'claim')} left out, copied by the model from its "
                "prompt; a larger model, or --claims sentences, splits better."
            )
        )
    if result.claims and result.documents:
        blocks += [Heading("Claims against documents"), matrix(result)]
    return blocks + document_blocks(result.documents, result.truncations)


def matrix(result: Result) -> Matrix:
    """The claims of a response against its documents."""
    judged = {(judgement.claim, judgement.document): judgement for judgement in result.judgements}
    relations = claim_relations(result)
    states = [_state(claim) for claim in relations]
    rows = tuple(
        Row(
            claim,
            tuple(
                cell(judged.get((claim, document.id)), document, result.truncations)
                for document in result.documents
            ),
            _CHIPS.get(state),
        )
        for claim, state in zip(result.claims, states, strict=True)
    )
    # Readers look for the conflicting claims first.
    row = states.index("conflict") if "conflict" in states else 0
    return Matrix("Claim", rows, sources(result.documents, result.truncations), first(rows, row))


def _state(relations: Sequence[Relation]) -> str:
    conflict = in_conflict(relations)
    if conflict is None:
        return "undetermined"
    if conflict:
        return "conflict"
    if supporting(relations):
        return "support"
    return "contradict" if contradicting(relations) else "none"


def problems(result: Result) -> Iterator[Problem]:
    """Parts of a response that have no score, could not be read, or were cut."""
    if result.status != "scored":
        yield Problem(result.status, result.error or "", result.raw)
    yield from unread_labels(result.judgements)
    if result.claims_capped:
        kept = f"the list ended at {len(result.claims):,} distinct claims"
        why = "it reached its limit, in claims or in tokens; claims may be missing"
        yield Problem("capped claims", f"{kept}: {why}")
    if result.copied_claims:
        yield Problem("copied claims", " ".join(result.copied_claims))
    yield from truncations(result.truncations)


PAGE: Final = Page(
    question="Do the responses admit that their documents disagree?",
    tables=lambda runs: tables.all_tables(
        runs.results[""], judge_named(runs.configs[""]), runs.configs[""]["data"]["name"]
    ),
    figures=(
        Figure(
            *("scores", "cs_c", "variant"),
            said="Claims in dispute, CS-C",
            aside=("all",),
            also=tuple(MEASURES)[1:],
            better="lower",
        ),
    ),
    example=example,
    problems=problems,
    failures="failures",
    facets=(WITH,),
    notes=_notes,
    skipped=lambda runs: runs.folder.noted(runs.experiment, "skipped", list[Skipped]) or (),
    brief=("variant", "responses"),
    told=_told,
)
