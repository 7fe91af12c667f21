"""Astute RAG: what the model remembers and what was retrieved, consolidated, then answered from.

Wang et al. 2024 ("Astute RAG"), as MADAM-RAG compares with it (appendices B and C).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines import prompts
from pipelines.data.records import Document
from pipelines.madam_rag.replies import ANSWERS, Explanation, Short, read_conclusion
from pipelines.madam_rag.settings import DebateSettings
from pipelines.madam_rag.transcript import Conclusion
from pipelines.metrics.short_answers import known
from pipelines.prompts import Prompt
from serving.calls import Sampling
from serving.client import Client

Source = Literal["memory", "external", "both"]

INTERNAL: Final = 3
"""Most passages that a model may recall; how many it does is its own choice (appendix B)."""

CONSOLIDATIONS: Final = 1
"""How often the context is consolidated before the answer; appendix B says "iteratively"."""

CONTEXT_TOKENS: Final = 512
"""Most tokens of recalled passages, and of a consolidated context."""

GROUP_TOKENS: Final = 256
"""Most tokens of the groups that stand before an answer."""

_IGNORANCE = "i don't know"

Shown = dict[str, Any]
"""What a prompt shows, by name."""


class ConsolidatedDocument(BaseModel):
    """A document of a consolidated context.

    Attributes:
        text: What it says.
        source: Where that came from.
        documents: Numbers of the documents that it was made of, from 1; recalled passages are
            counted before retrieved documents. None in free text.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    source: Source
    documents: tuple[int, ...] = ()


class Group(BaseModel):
    """A group of documents that agree, with the answer that they give.

    Attributes:
        answer: The answer.
        confidence: Of the model in it, in [0, 1].
        documents: Numbers of the documents.
    """

    model_config = ConfigDict(frozen=True)

    answer: str
    confidence: float
    documents: tuple[int, ...]


class Consolidation(BaseModel):
    """What Astute RAG passed through on its way to an answer.

    Attributes:
        internal: Passages that the model recalled; none where it said that it did not know.
        contexts: The consolidated contexts, in order.
        groups: What was compared at the end; none in free text.
        problems: Steps whose reply could not be read; the step was left out.
        calls: Replies of a model.
    """

    model_config = ConfigDict(frozen=True)

    internal: tuple[str, ...] = ()
    contexts: tuple[tuple[ConsolidatedDocument, ...], ...] = ()
    groups: tuple[Group, ...] = ()
    problems: tuple[str, ...] = ()
    calls: int = 0


class PassagesJson(BaseModel):
    """Recalled passages."""

    passages: Annotated[
        list[Annotated[str, Field(json_schema_extra={"maxLength": 400})]],
        Field(max_length=INTERNAL),
    ]


class ConsolidatedJson(BaseModel):
    """One document of a consolidated context."""

    text: Annotated[str, Field(json_schema_extra={"maxLength": 400})]
    source: Source
    documents: Annotated[list[int], Field(max_length=20)]


class ContextJson(BaseModel):
    """A consolidated context."""

    documents: Annotated[list[ConsolidatedJson], Field(max_length=4)]


class GroupJson(BaseModel):
    """One group with its answer."""

    answer: Short
    confidence: Annotated[float, Field(ge=0, le=1)]
    documents: Annotated[list[int], Field(max_length=20)]


class FinalJson(BaseModel):
    """The answer: groups come first, so that they are compared before answers are chosen."""

    groups: Annotated[list[GroupJson], Field(max_length=5)]
    answers: Annotated[list[Short], Field(max_length=ANSWERS)]
    explanation: Explanation


@dataclass(frozen=True)
class AstuteRag:
    """Who answers.

    Attributes:
        client: The model.
        recall: Prompt for passages from memory.
        consolidate: Prompt for a smaller context.
        finalise: Prompt for the answer.
    """

    client: Client
    recall: Prompt
    consolidate: Prompt
    finalise: Prompt

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        return (self.recall, self.consolidate, self.finalise)


def astute(client: Client, overrides: Path | None = None) -> AstuteRag:
    """Astute RAG with its prompts.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    given = {"question", "context", "consolidated", "form"}
    return AstuteRag(
        client,
        recall=prompts.load("madam_rag/recall", {"question", "form"}, overrides),
        consolidate=prompts.load("madam_rag/consolidate", given, overrides),
        finalise=prompts.load("madam_rag/finalise", given, overrides),
    )


async def astute_rag(
    question: str,
    documents: Sequence[Document],
    by: AstuteRag,
    settings: DebateSettings,
    *,
    consolidations: int = CONSOLIDATIONS,
) -> tuple[Conclusion, Consolidation]:
    """Recall passages, consolidate them with the documents, answer from what is left (appendix B).

    A step whose reply cannot be read is left out and noted; the answer is then made of what there
    is. Only an unreadable answer is an unreadable conclusion.

    Args:
        question: What is asked.
        documents: What was retrieved.
        by: Who answers.
        settings: Form and length of replies.
        consolidations: How often the context is consolidated, at least 0.

    Returns:
        The answers, and the way to them.

    Raises:
        RequestError: The context does not fit the model's.
        ServingError: No server can be had.
    """
    problems: list[str] = []
    internal = await _recalled(question, by, settings, problems)
    given = [
        {"number": number, "source": source, "text": text}
        for number, (source, text) in enumerate(
            [
                *(("memory", passage) for passage in internal),
                *(("external", document.as_read()) for document in documents),
            ],
            start=1,
        )
    ]
    contexts: list[tuple[ConsolidatedDocument, ...]] = []

    def material() -> Shown:
        last = [each.model_dump() for each in contexts[-1]] if contexts else []
        return {
            "question": question, "context": given, "consolidated": last, "form": settings.replies,
        }  # fmt: skip

    for _ in range(consolidations):
        if context := await _consolidated(material(), by, settings, problems):
            contexts.append(context)
    concluded, groups = await _finalised(material(), by, settings)
    return concluded, Consolidation(
        internal=internal,
        contexts=tuple(contexts),
        groups=groups,
        problems=tuple(problems),
        calls=2 + consolidations,
    )


async def _recalled(
    question: str, by: AstuteRag, settings: DebateSettings, problems: list[str]
) -> tuple[str, ...]:
    """What the model knows by itself (appendix B, adaptive internal knowledge generation)."""
    messages = by.recall.messages(question=question, form=settings.replies)
    sampling = Sampling(max_tokens=CONTEXT_TOKENS)
    if settings.replies == "text":
        passages = [(await by.client.chat(messages, sampling, affinity=question)).text]
    else:
        reply = await by.client.structured(messages, PassagesJson, sampling, affinity=question)
        if reply.value is None:
            problems.append(f"recall: {reply.problem}")
            return ()
        passages = reply.value.passages
    passages = [" ".join(passage.split()) for passage in passages]
    return tuple(each for each in passages if each and not _ignorant(each))


def _ignorant(passage: str) -> bool:
    return passage.lower().replace("\u2019", "'").startswith(_IGNORANCE)


async def _consolidated(
    material: Shown, by: AstuteRag, settings: DebateSettings, problems: list[str]
) -> tuple[ConsolidatedDocument, ...]:
    """One consolidation (appendix B, iterative source-aware knowledge consolidation)."""
    messages, question = by.consolidate.messages(**material), material["question"]
    sampling = Sampling(max_tokens=CONTEXT_TOKENS)
    if settings.replies == "text":
        text = (await by.client.chat(messages, sampling, affinity=question)).text.strip()
        return (ConsolidatedDocument(text=text, source="both"),) if text else ()
    reply = await by.client.structured(messages, ContextJson, sampling, affinity=question)
    if reply.value is None:
        problems.append(f"consolidation: {reply.problem}")
        return ()
    return tuple(
        ConsolidatedDocument(
            text=each.text,
            source=each.source,
            documents=_numbers(each.documents, material["context"]),
        )
        for each in reply.value.documents
        if each.text.strip()
    )


async def _finalised(
    material: Shown, by: AstuteRag, settings: DebateSettings
) -> tuple[Conclusion, tuple[Group, ...]]:
    """The answer (appendix B, answer finalisation)."""
    messages, question = by.finalise.messages(**material), material["question"]
    # The groups stand before the answers, and need room, too.
    sampling = Sampling(max_tokens=settings.conclusion_tokens + GROUP_TOKENS)
    if settings.replies == "text":
        reply = await by.client.chat(messages, sampling, affinity=question)
        return read_conclusion(reply.text), ()
    final = await by.client.structured(messages, FinalJson, sampling, affinity=question)
    if final.value is None:
        return Conclusion(problem=final.problem, raw=final.raw), ()
    groups = tuple(
        Group(
            answer=each.answer,
            confidence=each.confidence,
            documents=_numbers(each.documents, material["context"]),
        )
        for each in final.value.groups
    )
    answers = known(final.value.answers)
    return Conclusion(answers=answers, explanation=final.value.explanation), groups


def _numbers(numbers: Sequence[int], given: Sequence[Shown]) -> tuple[int, ...]:
    """Numbers of documents that are there."""
    return tuple(dict.fromkeys(number for number in numbers if 1 <= number <= len(given)))
