"""A response that was written again, on the page: what was told, and which words are new."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Final

from pipelines.conflictscore import view as of_responses
from pipelines.conflictscore.regeneration.regenerate import (
    Attempt,
    Ended,
    Feedback,
    Regeneration,
)
from pipelines.conflictscore.view import sources
from pipelines.report.blocks import Card, Cards, Sources
from pipelines.report.explorer import Example, ExperimentView
from pipelines.report.glance import ModelUsed, count
from pipelines.report.texts import Block, Chip, Heading, Line, Note, Quote, Span, Text

NAME = "regeneration"

ENDS: Final[Mapping[Ended, str]] = {
    "no conflict": "no claim is in conflict",
    "no evidence": "no document takes a side on any claim",
    "no longer falls": "the score did not fall",
    "rounds": "all rounds were used",
    "unchanged": "the writer gave its answer again",
    "unreadable": "the answer could not be scored",
}


def regeneration_view(
    found: Regeneration, models: Sequence[ModelUsed], title: str
) -> ExperimentView:
    """The page of one response."""
    example = Example(
        id=found.before.score.id,
        run="",
        title=title,
        status=found.ended,
        blocks=partial(content, found),
    )
    return ExperimentView(NAME, "The answer", examples=(example,), models=tuple(models))


def content(found: Regeneration) -> list[Block]:
    """Before and after, what the writer was told in each round, claims against documents."""
    cards = [Card("Before", tuple(_attempt(found.before, "")))]
    cards += [
        Card(
            f"Round {number}",
            tuple(_attempt(attempt, before.response, chosen=number == found.chosen)),
        )
        for number, (before, attempt) in enumerate(
            zip(found.attempts, found.attempts[1:], strict=False), start=1
        )
    ]
    rounds = count(len(found.attempts) - 1, "round")
    ended = Note(f"{rounds}; it ended because {ENDS[found.ended]}.")
    made: list[Block] = [Heading("Answers"), Cards(tuple(cards)), ended]
    for number, attempt in enumerate(found.attempts[1:], start=1):
        if attempt.feedback is not None:
            made += [Heading(f"What the writer was told in round {number}")]
            made += told(attempt.feedback)
    for attempt, what in ((found.before, "before"), (found.after, "after")):
        if attempt.score.judgements and (what == "before" or found.chosen):
            made += [Heading(f"Claims {what}"), of_responses.matrix(attempt.score)]
    papers = sources(found.before.score.documents, found.before.score.truncations)
    return [*made, Heading(f"Documents ({len(papers)})"), Sources(papers)]


def told(feedback: Feedback) -> list[Block]:
    """The disputed claim, and the passages for and against it."""
    made: list[Block] = [Note(feedback.claim, "Claim")]
    for label, quotes in (
        ("Supported by", feedback.supporting),
        ("Contradicted by", feedback.contradicting),
    ):
        for quote in quotes:
            made += [Note(f"document {quote.document}", label), Quote(quote.text)]
    return made


def new_words(before: str, after: str) -> tuple[Span, ...]:
    """Where words stand that the text before did not have."""
    words = list(re.finditer(r"\S+", after))
    matcher = SequenceMatcher(None, before.split(), after.split(), autojunk=False)
    return tuple(
        Span(words[first].start(), words[last - 1].end(), "new")
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag in ("insert", "replace")
    )


def _attempt(attempt: Attempt, before: str, *, chosen: bool = False) -> list[Block]:
    score = attempt.score
    if score.status != "scored":
        made: list[Block] = [Line((Chip("no score", "invalid", "?"), score.error or ""))]
    else:
        figures = Chip(", ".join(score.figures()), "outline")
        made = [Line((figures, *([Chip("taken", "support", "✓")] if chosen else [])))]
    if attempt.response:
        spans = new_words(before, attempt.response) if before else ()
        made.append(Text(attempt.response, "Answer", spans))
    if attempt.ignored:
        made.append(Note("The disputed claim stands as it was."))
    return made
