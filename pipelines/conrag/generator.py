"""An answer by a language model, in the form of the template's, each sentence bound to evidence.

What the model writes is checked sentence by sentence. One whose citations are wrong is asked for
once more; if they are still wrong it stays, marked, and does not count as cited.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pipelines import prompts
from pipelines.conrag.answer import AnswerSentence, Evidence
from pipelines.conrag.policies import CitationPolicy, problems, unmarked
from pipelines.conrag.stance import Stance
from pipelines.prompts import Prompt
from serving.calls import Sampling, Structured
from serving.client import Client

REPLY_TOKENS = 768
REPAIR_TOKENS = 192
SENTENCES = 8


class SentenceReply(BaseModel):
    """One sentence, as the model gives it. A number that is no passage's is found out later."""

    about: Literal["support", "refute", "conflict", "answer"]
    sent: Annotated[str, Field(min_length=1, max_length=400)]
    cites: Annotated[list[int], Field(max_length=8)]


class QuestionReply(BaseModel):
    """The JSON reply to a question."""

    conflict: Annotated[str, Field(max_length=400)]
    sentences: Annotated[list[SentenceReply], Field(min_length=1, max_length=SENTENCES)]


class AnswerReply(BaseModel):
    """The JSON reply to a claim (ConRAG, section 2, citation binding)."""

    stance: Stance
    conflict: Annotated[str, Field(max_length=400)]
    sentences: Annotated[list[SentenceReply], Field(min_length=1, max_length=SENTENCES)]


@dataclass(frozen=True)
class Generator:
    """A language model that writes answers.

    Attributes:
        client: The model.
        answer: Prompt for a whole answer to a claim.
        question: The same to a question.
        first_answer: Prompt for what a question seems to have for an answer.
        repair: Prompt for one sentence.
    """

    client: Client
    answer: Prompt
    question: Prompt
    first_answer: Prompt
    repair: Prompt


@dataclass(frozen=True)
class GeneratedAnswer:
    """What a generator wrote.

    Attributes:
        sentences: With what is wrong with their citations; empty where the reply was unreadable.
        stance: What the model takes the stance to be; None likewise, and of questions.
        conflict: Its conflict statement; None where it names none.
        problem: Why there is no answer, in one line.
        raw: The unreadable reply.
    """

    sentences: tuple[AnswerSentence, ...]
    stance: Stance | None = None
    conflict: str | None = None
    problem: str | None = None
    raw: str | None = None


def generator(client: Client, overrides: Path | None = None) -> Generator:
    """A generator with its prompts.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    shared = {"query", "evidence"}
    return Generator(
        client,
        answer=prompts.load("conrag/answer", shared, overrides),
        question=prompts.load("conrag/question", shared | {"claims"}, overrides),
        first_answer=prompts.load("conrag/first_answer", shared, overrides),
        repair=prompts.load("conrag/repair", shared | {"claims", "sentence", "problem"}, overrides),
    )


async def write(
    query: str,
    table: Sequence[Evidence],
    policy: CitationPolicy,
    by: Generator,
    *,
    first_answer: Sequence[str] | None = None,
) -> GeneratedAnswer:
    """Have the model answer from the evidence (ConRAG, section 2, constrained resolution).

    Args:
        query: A claim or a question.
        table: The evidence, at least one passage.
        policy: What a sentence must cite.
        by: Who writes.
        first_answer: Of a question, the statements that the relations in the table are to; None of
            a claim.

    Raises:
        RequestError: The evidence does not fit the model's context.
        ServingError: No server can be had.
    """
    shown = [
        {
            "number": each.number,
            "relation": each.relation.value,
            "cluster": each.cluster,
            "text": each.passage.as_read(),
        }
        for each in table
    ]
    reply: Structured[AnswerReply] | Structured[QuestionReply]
    sampling = Sampling(max_tokens=REPLY_TOKENS)
    if first_answer is not None:
        messages = by.question.messages(query=query, claims=list(first_answer), evidence=shown)
        reply = await by.client.structured(messages, QuestionReply, sampling)
    else:
        messages = by.answer.messages(query=query, evidence=shown)
        reply = await by.client.structured(messages, AnswerReply, sampling)
    if reply.value is None:
        return GeneratedAnswer((), problem=f"answer: {reply.problem}", raw=reply.raw)

    async def bound(written: SentenceReply) -> AnswerSentence:
        first = _checked(written, table, policy)
        if not first.problems:
            return first
        again = await by.client.structured(
            by.repair.messages(
                query=query,
                claims=list(first_answer or ()),
                evidence=shown,
                sentence=first.text,
                problem=first.problems[0],
            ),
            SentenceReply,
            Sampling(max_tokens=REPAIR_TOKENS),
        )
        if again.value is None:
            return first
        second = _checked(again.value, table, policy)
        return first if second.problems else second.model_copy(update={"repaired": True})

    sentences = await asyncio.gather(*(bound(each) for each in reply.value.sentences))
    stance = reply.value.stance if isinstance(reply.value, AnswerReply) else None
    return GeneratedAnswer(tuple(sentences), stance, unmarked(reply.value.conflict) or None)


def _checked(
    written: SentenceReply, table: Sequence[Evidence], policy: CitationPolicy
) -> AnswerSentence:
    cites = tuple(dict.fromkeys(written.cites))
    sentence = AnswerSentence(text=unmarked(written.sent), cites=cites, about=written.about)
    return sentence.model_copy(update={"problems": problems(sentence, table, policy)})
