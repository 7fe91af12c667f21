"""Answers by a language model, in the form of the template's.

With ConRAG's protocol each sentence is bound to evidence and checked. One whose citations are wrong
is asked for once more; if they are still wrong it stays, marked, and does not count as cited. Where
no passage is tagged with a side there is none to bind it to, and any passage may be cited. The
baselines that look at relevance alone are given passages and a query and no more; they cite, or
there would be nothing to compare, and nobody has them repair it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from pipelines.conrag import template
from pipelines.conrag.answer import ABOUT, AnswerSentence, Evidence, has_sides
from pipelines.conrag.generator import Generator
from pipelines.conrag.policies import CitationPolicy, problems, unmarked
from pipelines.conrag.question import FirstAnswer
from pipelines.conrag.sorting import Sort, Sorting, shown, sort_evidence
from pipelines.conrag.stance import Stance
from pipelines.conrag.tagged import TaggedPassage
from serving.calls import Structured
from serving.schemas import told

REPLY_TOKENS = 768
REPAIR_TOKENS = 192
SENTENCES = 8
CHARACTERS = 400
"""Where a server that holds replies to their schema ends a sentence."""

Sent = Annotated[str, told(minLength=1, maxLength=CHARACTERS)]
Cites = Annotated[list[int], told(maxItems=8)]
Conflict = Annotated[str, told(maxLength=CHARACTERS)]

# The docstrings of replies are a part of the schema that the model is asked by.


class SentenceReply(BaseModel):
    """One sentence, as the model gives it. A number that is no passage's is found out later."""

    about: Literal["support", "refute", "conflict", "answer"]
    sent: Sent
    cites: Cites


class QuestionReply(BaseModel):
    """The JSON reply to a question."""

    conflict: Conflict
    sentences: Annotated[list[SentenceReply], told(minItems=1, maxItems=SENTENCES)]


class AnswerReply(BaseModel):
    """The JSON reply to a claim (ConRAG, section 2, citation binding)."""

    stance: Stance
    conflict: Conflict
    sentences: Annotated[list[SentenceReply], told(minItems=1, maxItems=SENTENCES)]


class OpenQuestionReply(QuestionReply):
    """The JSON reply to a question of which no passage is known to take a side."""

    sentences: Annotated[list[SentenceReply], told(maxItems=SENTENCES)]


class OpenAnswerReply(AnswerReply):
    """The JSON reply to a claim of which no passage is known to take a side."""

    sentences: Annotated[list[SentenceReply], told(maxItems=SENTENCES)]


class PlainSentence(BaseModel):
    """One sentence, as the model gives it; a number may be no passage's."""

    sent: Sent
    cites: Cites


class PlainQuestionReply(BaseModel):
    """The JSON reply to a question."""

    sentences: Annotated[list[PlainSentence], told(minItems=1, maxItems=SENTENCES)]


class PlainReply(BaseModel):
    """The JSON reply to a claim."""

    stance: Stance
    sentences: Annotated[list[PlainSentence], told(minItems=1, maxItems=SENTENCES)]


@dataclass(frozen=True)
class GeneratedAnswer:
    """What was written.

    Attributes:
        sentences: With what is wrong with their citations; empty where the reply was unreadable.
        stance: What the model takes the stance to be; None likewise, and of questions.
        cut: Whether it breaks off, or may: tokens ran out, or a sentence or their list is as long
            as a server lets it be.
        problem: Why there is no answer, in one line; `raw` is the unreadable reply.
        table: The evidence that it is bound to, as it was sorted; empty of a text that is not.
    """

    sentences: tuple[AnswerSentence, ...]
    stance: Stance | None = None
    conflict: str | None = None
    cut: bool = False
    problem: str | None = None
    raw: str | None = None
    table: tuple[Evidence, ...] = ()


def nothing_found(*, question: bool) -> GeneratedAnswer:
    """What there is to say where no passage says anything."""
    text = template.NO_ANSWER if question else template.NOTHING_FOUND
    return GeneratedAnswer((AnswerSentence(text=text, about="none"),))


async def write(
    query: str,
    table: Sequence[Evidence],
    policy: CitationPolicy,
    generator: Generator,
    first: FirstAnswer | None = None,
    *,
    sort: Sort = "tags",
    gold: bool = False,
) -> GeneratedAnswer:
    """Sort, adjudicate, cite: have the model answer from the evidence (ConRAG, section 2).

    A tagger that finds no side may have missed one, so the model is asked all the same: it may then
    cite any passage, or write nothing. It is not asked where relations are `gold`, or its own
    (`sort`), and take no side; nor where it found no answer to a question before.

    Args:
        query: A claim, or a question.
        table: The packet, by its tags.
        policy: What sentences must cite.
        generator: The model; errors are those of `Generator.ask`.
        first: Of a question, the answer that the relations in the table are to; where it could not
            be read, there is no answer either. None of a claim.
        sort: Whether the model sorts the packet before it writes.
        gold: Whether the relations are known to be right.
    """
    if first is not None and first.problem is not None:
        return GeneratedAnswer((), problem=first.problem, raw=first.raw, table=tuple(table))
    sorting, known = Sorting(tuple(table)), gold
    to_be_said = bool(table) and (first is None or bool(first.claims))
    if to_be_said and sort == "model" and not gold:
        sorting = await sort_evidence(query, table, first.claims if first else (), generator)
        known = True
    if sorting.problem is not None:
        return GeneratedAnswer((), problem=sorting.problem, raw=sorting.raw, table=sorting.table)
    if not to_be_said or (known and not has_sides(sorting.table)):
        answer = nothing_found(question=first is not None)
    else:
        answer = await _cite(query, sorting.table, policy, generator, first)
    return replace(answer, cut=answer.cut or sorting.cut, table=sorting.table)


async def _cite(
    query: str,
    table: Sequence[Evidence],
    policy: CitationPolicy,
    generator: Generator,
    first: FirstAnswer | None,
) -> GeneratedAnswer:
    """The answer, each sentence bound to the table, and asked for once more where that failed."""
    sided, evidence = has_sides(table), shown(table)
    claims = list(first.claims) if first else []
    form: type[AnswerReply | QuestionReply]
    if first is None:
        form = AnswerReply if sided else OpenAnswerReply
    else:
        form = QuestionReply if sided else OpenQuestionReply
    prompt = "answer" if first is None else "question"
    reply = await generator.ask(
        prompt, form, REPLY_TOKENS, query=query, claims=claims, evidence=evidence
    )
    written, cut = _written(reply)
    if reply.value is None or (sided and not written):
        return _unreadable(reply)
    stance = reply.value.stance if isinstance(reply.value, AnswerReply) else None
    if not written:
        return replace(nothing_found(question=first is not None), stance=stance, cut=cut)

    def checked(written: SentenceReply) -> AnswerSentence:
        cites = tuple(dict.fromkeys(written.cites))
        sentence = AnswerSentence(text=unmarked(written.sent), cites=cites, about=written.about)
        return sentence.model_copy(update={"problems": problems(sentence, table, policy)})

    async def bound(written: SentenceReply) -> AnswerSentence:
        once = checked(written)
        if not once.problems:
            return once
        again = await generator.ask(
            "repair",
            SentenceReply,
            REPAIR_TOKENS,
            query=query,
            claims=claims,
            evidence=evidence,
            sentence=once.text,
            problem=once.problems[0],
        )
        second = checked(again.value) if again.value and not again.cut else once
        return once if second.problems else second.model_copy(update={"repaired": True})

    sentences = await asyncio.gather(*map(bound, written))
    conflict = unmarked(reply.value.conflict) or None
    return GeneratedAnswer(tuple(sentences), stance, conflict, cut)


async def write_plainly(
    query: str, packet: Sequence[TaggedPassage], generator: Generator, *, question: bool
) -> GeneratedAnswer:
    """Have the model answer from passages, whatever they say; it is not shown their tags.

    All of a text speaks for the stance that its writer gives. A sentence that cites nothing, or
    what is not there, is not cited. Errors are those of `Generator.ask`.
    """
    if not packet:
        return nothing_found(question=question)
    passages = [{"number": n, "text": each.passage.as_read()} for n, each in enumerate(packet, 1)]
    form: type[PlainReply | PlainQuestionReply] = PlainQuestionReply if question else PlainReply
    prompt = "plain_question" if question else "plain"
    reply = await generator.ask(prompt, form, REPLY_TOKENS, query=query, evidence=passages)
    written, cut = _written(reply)
    if reply.value is None or not written:
        return _unreadable(reply)
    stance = reply.value.stance if isinstance(reply.value, PlainReply) else None
    about = ABOUT.get(stance or Stance.NOT_ENOUGH_INFO, "answer")
    numbers = range(1, len(packet) + 1)
    sentences = (
        AnswerSentence(
            text=unmarked(each.sent),
            cites=tuple(dict.fromkeys(each.cites)),
            about=about,
            problems=() if each.cites and {*each.cites} <= {*numbers} else ("cites no passage",),
        )
        for each in written
    )
    return GeneratedAnswer(tuple(sentences), stance, cut=cut)


def _written(reply: Structured[Any]) -> tuple[list[Any], bool]:
    """The sentences of a reply that say something, and whether it breaks off, or may."""
    every = [each for each in reply.value.sentences if each.sent.strip()] if reply.value else []
    ended = any(len(each.sent) == CHARACTERS for each in every)
    return every[:SENTENCES], reply.cut or ended or len(every) >= SENTENCES


def _unreadable(reply: Structured[Any]) -> GeneratedAnswer:
    why = reply.problem or "the reply has no sentence"
    return GeneratedAnswer((), problem=f"answer: {why}", raw=reply.raw)
