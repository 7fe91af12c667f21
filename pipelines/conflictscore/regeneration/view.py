"""A response that was written again, on the page: what was told, and which words are new."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import partial

from pipelines.conflictscore import view as of_responses
from pipelines.conflictscore.regeneration.regenerate import Feedback, Regeneration
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.view import sources
from pipelines.report.blocks import Card, Cards, Sources
from pipelines.report.explorer import Example, ExperimentView
from pipelines.report.glance import ModelUsed
from pipelines.report.texts import Block, Chip, Heading, Line, Note, Quote, Span, Text

NAME = "regeneration"


def regeneration_view(
    made: Regeneration, models: Sequence[ModelUsed], title: str
) -> ExperimentView:
    """The page of one response."""
    example = Example(
        id=made.before.id,
        run="",
        title=title,
        status=made.before.status,
        blocks=partial(content, made),
    )
    return ExperimentView(NAME, "The answer", examples=(example,), models=tuple(models))


def content(made: Regeneration) -> list[Block]:
    """Before and after, what the writer was told, claims against documents."""
    before, after = made.before, made.after
    cards = [Card("Before", tuple(_answer(before)))]
    claims = [("before", before)]
    if after is None:
        cards.append(Card("After", (Note(f"Not written again: {_why(before)}."),)))
    else:
        shown = _answer(after.score, before.response)
        if after.ignored:
            shown.append(Note("The disputed claim stands as it was."))
        cards.append(Card("After", tuple(shown)))
        claims.append(("after", after.score))
    blocks: list[Block] = [Heading("Answers"), Cards(tuple(cards))]
    if made.feedback is not None:
        blocks += [Heading("What the writer was told"), *told(made.feedback)]
    for when, score in claims:
        if score.judgements:
            blocks += [Heading(f"Claims {when}"), of_responses.matrix(score)]
    papers = sources(before.documents, before.truncations)
    return [*blocks, Heading(f"Documents ({len(papers)})"), Sources(papers)]


def _why(before: Result) -> str:
    if before.status != "scored":
        return "it could not be scored"
    return "no claim is in conflict" if before.evidence else "no document takes a side on any claim"


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


def _answer(score: Result, before: str = "") -> list[Block]:
    """A response with its scores; of one that was written again, the words that are new."""
    figures = Line((Chip(", ".join(score.figures()), "outline"),))
    unscored = Line((Chip("no score", "invalid", "?"), score.error or ""))
    blocks: list[Block] = [figures if score.status == "scored" else unscored]
    if score.response:
        spans = new_words(before, score.response) if before else ()
        blocks.append(Text(score.response, "Answer", spans))
    return blocks
