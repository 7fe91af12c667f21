"""An answer by a language model without any of ConRAG: passages and a query, and no more.

What the baselines that look at relevance alone write (ConRAG, section 2, baselines). They cite, or
there would be nothing to compare; nobody checks what.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from pipelines import prompts
from pipelines.conrag.generator import REPLY_TOKENS, SENTENCES
from pipelines.conrag.policies import unmarked
from pipelines.conrag.stance import Stance
from pipelines.conrag.tagged import TaggedPassage
from pipelines.prompts import Prompt
from serving.calls import Sampling, Structured
from serving.client import Client


class PlainSentence(BaseModel):
    """One sentence, as the model gives it; a number may be no passage's."""

    sent: Annotated[str, Field(min_length=1, max_length=400)]
    cites: Annotated[list[int], Field(max_length=8)]


class PlainQuestionReply(BaseModel):
    """The JSON reply to a question."""

    sentences: Annotated[list[PlainSentence], Field(min_length=1, max_length=SENTENCES)]


class PlainReply(BaseModel):
    """The JSON reply to a claim."""

    stance: Stance
    sentences: Annotated[list[PlainSentence], Field(min_length=1, max_length=SENTENCES)]


@dataclass(frozen=True)
class PlainWriter:
    """A language model that is told nothing of relations.

    Attributes:
        client: The model.
        claim: Prompt for a claim.
        question: Prompt for a question.
    """

    client: Client
    claim: Prompt
    question: Prompt


@dataclass(frozen=True)
class PlainAnswer:
    """What it wrote.

    Attributes:
        stance: What it takes the stance to be; None for a question or an unreadable reply.
        sentences: Text and ids of passages. One that cites a number out of range cites nothing.
            Without any where there was nothing to read.
        unbound: How many sentences cite nothing, or what is not there.
        problem: Why there is no sentence, in one line.
        raw: The unreadable reply.
    """

    stance: Stance | None
    sentences: tuple[tuple[str, tuple[str, ...]], ...]
    unbound: int = 0
    problem: str | None = None
    raw: str | None = None


def plain_writer(client: Client, overrides: Path | None = None) -> PlainWriter:
    """A writer with its prompts.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    given = {"query", "evidence"}
    return PlainWriter(
        client,
        claim=prompts.load("conrag/plain", given, overrides),
        question=prompts.load("conrag/plain_question", given, overrides),
    )


async def plain_answer(
    query: str, packet: Sequence[TaggedPassage], by: PlainWriter, *, question: bool
) -> PlainAnswer:
    """Have the model answer from passages, whatever they say.

    Args:
        query: A claim or a question.
        packet: What it is shown, in this order; their tags are not.
        by: Who writes.
        question: Which of the two.

    Raises:
        RequestError: The passages do not fit the model's context.
        ServingError: No server can be had.
    """
    if not packet:
        return PlainAnswer(None, ())
    shown = [
        {"number": number, "text": each.passage.as_read()} for number, each in enumerate(packet, 1)
    ]
    sampling = Sampling(max_tokens=REPLY_TOKENS)
    reply: Structured[PlainReply] | Structured[PlainQuestionReply]
    if question:
        messages = by.question.messages(query=query, evidence=shown)
        reply = await by.client.structured(messages, PlainQuestionReply, sampling)
    else:
        messages = by.claim.messages(query=query, evidence=shown)
        reply = await by.client.structured(messages, PlainReply, sampling)
    if reply.value is None:
        return PlainAnswer(None, (), problem=f"answer: {reply.problem}", raw=reply.raw)
    sentences, unbound = [], 0
    for each in reply.value.sentences:
        inside = bool(each.cites) and all(1 <= number <= len(packet) for number in each.cites)
        unbound += not inside
        cites = dict.fromkeys(packet[number - 1].id for number in each.cites) if inside else ()
        if text := unmarked(each.sent):
            sentences.append((text, tuple(cites)))
    stance = reply.value.stance if isinstance(reply.value, PlainReply) else None
    return PlainAnswer(stance, tuple(sentences), unbound)
