"""Score, tell the writer where its documents disagree, and let it rewrite (section 6.1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pydantic import BaseModel

from pipelines import prompts
from pipelines.conflictscore import view as of_responses
from pipelines.conflictscore.pipeline import Scorer, conflict_score, result
from pipelines.conflictscore.result import Result, Score, relations_by_claim
from pipelines.conflictscore.scores import contradicting, contradiction_ratio
from pipelines.data.records import Document, Example
from pipelines.judge.fitting import chat_about
from pipelines.judge.judgement import Judgement, Relation, Truncation, conflicting
from pipelines.prompts import Prompt
from pipelines.report import texts
from pipelines.report.blocks import Card, Cards
from pipelines.report.texts import Block, Chip, Heading, Line, Note, Span, Text
from serving.client import Client

QUOTED_CHARACTERS = 300
"""Characters of a document's beginning to show if the judge quoted nothing from it."""


class Quote(BaseModel, frozen=True):
    """The passage of a document that supports or contradicts a claim.

    Attributes:
        document: Number of the document, from 1.
        text: The judge's quote if the document contains it, otherwise the document's beginning.
    """

    document: int
    text: str


class Feedback(BaseModel, frozen=True):
    """The claim of a response with the strongest conflict, with both sides.

    Attributes:
        claim: As judged.
        supporting, contradicting: At least one each, in the order of the documents.
    """

    claim: str
    supporting: tuple[Quote, ...]
    contradicting: tuple[Quote, ...]


def worst_claim(claims: Sequence[Sequence[Relation]]) -> int | None:
    """The index of the "main claim that had conflicts" (ConflictScore, Table 13).

    The paper does not say how to choose among several. Of the claims with conflicting evidence, we
    take the one with the highest contradiction ratio. Ties go to the claim that more documents
    contradict, then to the first.

    Args:
        claims: For each claim, its relation to each document.

    Returns:
        None if no claim has conflicting evidence.
    """

    def severity(place: int) -> tuple[float, int]:
        return contradiction_ratio(claims[place]) or 0.0, contradicting(claims[place])

    places = [place for place, relations in enumerate(claims) if conflicting(relations)]
    return max(places, key=severity, default=None)


def feedback_on(score: Score, documents: Sequence[Document]) -> Feedback | None:
    """The feedback to the writer of a response; None if no claim is in conflict."""
    width = len(documents)
    worst = worst_claim(relations_by_claim(score.judgements, width))
    if worst is None:
        return None
    judged = score.judgements[worst * width : (worst + 1) * width]

    def quotes(relation: Relation) -> tuple[Quote, ...]:
        pairs = zip(judged, documents, strict=True)
        return tuple(
            Quote(document=number, text=_quoted(judgement, document.text))
            for number, (judgement, document) in enumerate(pairs, start=1)
            if judgement.relation is relation
        )

    return Feedback(
        claim=score.claims[worst],
        supporting=quotes(Relation.SUPPORTS),
        contradicting=quotes(Relation.CONTRADICTS),
    )


def _quoted(judgement: Judgement, text: str) -> str:
    """The judge's quote if the document contains it: a made-up one would mislead the writer."""
    if judgement.snippet and judgement.snippet_found:
        return judgement.snippet
    beginning = text[:QUOTED_CHARACTERS]
    return beginning if len(text) <= QUOTED_CHARACTERS else f"{beginning.rsplit(' ', 1)[0]} ..."


@dataclass(frozen=True)
class Writer:
    """The model that rewrites.

    Attributes:
        client: The model.
        prompt: Shows the model its response and the conflict.
        tokens: Maximum tokens of a response.
        hedged: Whether it is asked to name both sides if the documents still disagree. The paper's
            prompt (Table 13) asks for the truest response and does not mention this.
        cut: Whether documents too long for its context may be cut.
    """

    client: Client
    prompt: Prompt
    tokens: int
    hedged: bool
    cut: bool


def writer(
    client: Client,
    overrides: Path | None = None,
    *,
    tokens: int = 512,
    hedged: bool = True,
    cut: bool = False,
) -> Writer:
    """A writer with its prompt, which may be replaced by one in the folder `overrides`.

    Raises:
        InputError: The user's prompt cannot be used.
    """
    variables = {"documents", "question", "response", "hedged"}
    variables |= {"claim", "supporting", "contradicting"}
    prompt = prompts.load("conflictscore/regenerate", variables, overrides)
    return Writer(client, prompt, tokens, hedged, cut)


class Rewritten(BaseModel, frozen=True):
    """A rewritten response.

    Attributes:
        score: Its ConflictScore, with its text.
        finished: Whether it ended by itself, not at its length limit.
        ignored: Whether it still contains the disputed claim unchanged.
        truncations: Documents that the writer saw only in part.
    """

    score: Result
    finished: bool
    ignored: bool
    truncations: tuple[Truncation, ...]


class Regeneration(BaseModel, frozen=True):
    """A response before and after feedback.

    Attributes:
        before: The response as given.
        feedback: What the writer was told; None if no claim is in conflict.
        after: The rewritten response; None if the writer was not asked.
    """

    before: Result
    feedback: Feedback | None = None
    after: Rewritten | None = None


async def regenerate(example: Example, writer: Writer, scorer: Scorer) -> Regeneration:
    """Let a response be rewritten if its documents disagree about it.

    Args:
        example: The response and its documents. Claims that come with it are not used for the
            rewritten one.
        writer: From `writer`.
        scorer: From `conflictscore.pipeline.prepare`. The judge should not be the writing model.

    Raises:
        InputError, RequestError, ServingError: As `conflict_score`.
    """
    before = await conflict_score(example, scorer)
    feedback = feedback_on(before, before.documents)
    after = await rewrite(example, feedback, writer, scorer) if feedback else None
    return Regeneration(before=before, feedback=feedback, after=after)


async def rewrite(
    example: Example, feedback: Feedback, writer: Writer, scorer: Scorer, *, told: bool = True
) -> Rewritten:
    """Tell the writer about the conflict in its response, and score the reply.

    Args:
        example: The response, its documents and its question.
        feedback: On the response.
        writer: From `writer`.
        scorer: From `conflictscore.pipeline.prepare`.
        told: Whether the writer sees the feedback; in the control it only rewrites.

    Raises:
        InputError, RequestError, ServingError: As `conflict_score`.
    """

    def messages(documents: Sequence[str]) -> list[dict[str, str]]:
        return writer.prompt.messages(
            documents=documents,
            question=example.question,
            response=example.response,
            claim=feedback.claim if told else None,
            supporting=feedback.supporting,
            contradicting=feedback.contradicting,
            hedged=writer.hedged,
        )

    reply, cuts = await chat_about(
        example.documents,
        writer.client,
        messages,
        max_tokens=writer.tokens,
        cut=writer.cut,
        name=f"the documents of '{example.id}'",
    )
    again = example.model_copy(update={"response": reply.text.strip(), "claims": None})
    if again.response:
        score = await conflict_score(again, scorer)
    else:
        score = result(again, status="invalid", error="the reply is empty")
    disputed = " ".join(feedback.claim.split()).casefold()
    return Rewritten(
        score=score,
        finished=reply.finished,
        ignored=disputed in {claim.casefold() for claim in score.claims},
        truncations=cuts,
    )


def content(made: Regeneration) -> list[Block]:
    """The response before and after, the feedback, and the claims against the documents."""
    before, after = made.before, made.after
    cards = [Card("Before", tuple(_answer(before)))]
    claims = [("before", before)]
    if after is None:
        cards.append(Card("After", (Note(f"Not rewritten: {_why(before)}."),)))
    else:
        shown = _answer(after.score, before.response)
        if after.ignored:
            shown.append(Note("The disputed claim is unchanged."))
        cards.append(Card("After", tuple(shown)))
        claims.append(("after", after.score))
    blocks: list[Block] = [Heading("Answers"), Cards(tuple(cards))]
    if made.feedback is not None:
        blocks += [Heading("What the writer was told"), *told(made.feedback)]
    for when, score in claims:
        if score.judgements:
            blocks += [Heading(f"Claims {when}"), of_responses.matrix(score)]
    return blocks + of_responses.document_blocks(before.documents, before.truncations)


def _why(before: Result) -> str:
    if before.status != "scored":
        return "it could not be scored"
    return "no claim is in conflict" if before.evidence else "no document takes a side on any claim"


def told(feedback: Feedback) -> list[Block]:
    """The disputed claim, and the passages for and against it."""
    blocks: list[Block] = [Note(feedback.claim, "Claim")]
    for label, quotes in (
        ("Supported by", feedback.supporting),
        ("Contradicted by", feedback.contradicting),
    ):
        for quote in quotes:
            blocks += [Note(f"document {quote.document}", label), texts.Quote(quote.text)]
    return blocks


def new_words(before: str, after: str) -> tuple[Span, ...]:
    """Spans of words that the earlier text does not contain."""
    words = list(re.finditer(r"\S+", after))
    matcher = SequenceMatcher(None, before.split(), after.split(), autojunk=False)
    return tuple(
        Span(words[first].start(), words[last - 1].end(), "new")
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag in ("insert", "replace")
    )


def _answer(score: Result, before: str = "") -> list[Block]:
    """A response with its scores, and new words marked if it was rewritten."""
    figures = Line((Chip(", ".join(score.figures()), "outline"),))
    unscored = Line((Chip("no score", "invalid", "?"), score.error or ""))
    blocks: list[Block] = [figures if score.status == "scored" else unscored]
    if score.response:
        spans = new_words(before, score.response) if before else ()
        blocks.append(Text(score.response, "Answer", spans))
    return blocks
