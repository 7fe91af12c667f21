"""Astute RAG: what the model remembers and what was retrieved, consolidated, then answered from.

Wang et al. 2024 ("Astute RAG"), as MADAM-RAG compares with it (appendices B and C).
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, Field

from pipelines.data.records import Document
from pipelines.madam_rag.baselines import Prompts
from pipelines.madam_rag.replies import ANSWERS, Explanation, Short, ask, read_conclusion
from pipelines.madam_rag.settings import DebateSettings
from pipelines.madam_rag.transcript import Conclusion
from pipelines.metrics.short_answers import known
from serving.calls import Structured
from serving.client import Client
from serving.schemas import told

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

Passage = Annotated[str, told(maxLength=400)]

Numbers = Annotated[tuple[int, ...], told(maxItems=20)]
"""Documents, from 1; recalled passages are counted before retrieved documents."""

Schema = TypeVar("Schema", bound=BaseModel)


class ConsolidatedDocument(BaseModel, frozen=True):
    """A document of a consolidated context, with where it came from; in free text, no numbers."""

    text: Passage
    source: Source
    documents: Numbers


class Group(BaseModel, frozen=True):
    """Documents that agree, the answer that they give, and the model's confidence in it."""

    answer: Short
    confidence: Annotated[float, Field(ge=0, le=1)]
    documents: Numbers


class Consolidation(BaseModel, frozen=True):
    """What Astute RAG passed through on its way to an answer.

    Attributes:
        internal: Passages that the model recalled; none where it said that it did not know.
        contexts: The consolidated contexts, in order.
        groups: What was compared at the end; none in free text.
        problems: Steps whose reply could not be read; the step was left out.
        calls: Replies of a model.
    """

    internal: tuple[str, ...] = ()
    contexts: tuple[tuple[ConsolidatedDocument, ...], ...] = ()
    groups: tuple[Group, ...] = ()
    problems: tuple[str, ...] = ()
    calls: int = 0


class PassagesJson(BaseModel):
    """Recalled passages."""

    passages: Annotated[list[Passage], told(maxItems=INTERNAL)]


class ContextJson(BaseModel):
    """A consolidated context."""

    documents: Annotated[list[ConsolidatedDocument], told(maxItems=4)]


class FinalJson(BaseModel):
    """The answer: groups come first, so that they are compared before answers are chosen."""

    groups: Annotated[list[Group], told(maxItems=5)]
    explanation: Explanation
    answers: Annotated[list[Short], told(maxItems=ANSWERS)]


async def astute_rag(
    question: str,
    documents: Sequence[Document],
    client: Client,
    prompts: Prompts,
    settings: DebateSettings,
    *,
    consolidations: int = CONSOLIDATIONS,
) -> tuple[Conclusion, Consolidation]:
    """Recall passages, consolidate them with the documents, answer from what is left (appendix B).

    A step whose reply cannot be read is left out and noted; the answer is then made of what there
    is. Only an unreadable answer is an unreadable conclusion.

    The context is consolidated as often as `consolidations` says, or never. Of the settings, form
    and length of replies count. Raises as `ask`.

    Returns:
        The answers, and the way to them.
    """

    async def step(
        name: str, schema: type[Schema], tokens: int, **variables: Any
    ) -> str | Structured[Schema]:
        messages = prompts[name].messages(question=question, form=settings.form, **variables)
        return await ask(client, messages, schema, settings.form, tokens, affinity=question)

    problems: list[str] = []

    # Adaptive internal knowledge generation.
    recalled = await step("recall", PassagesJson, CONTEXT_TOKENS)
    if isinstance(recalled, str):
        internal = _passages([recalled])
    elif recalled.value is None:
        problems.append(f"recall: {recalled.problem}")
        internal = ()
    else:
        internal = _passages(recalled.value.passages[:INTERNAL])
    context = [
        *({"source": "memory", "text": passage} for passage in internal),
        *({"source": "external", "text": document.as_read()} for document in documents),
    ]
    given = [{"number": number, **each} for number, each in enumerate(context, start=1)]

    # Iterative source-aware knowledge consolidation.
    contexts: list[tuple[ConsolidatedDocument, ...]] = []
    last: list[dict[str, Any]] = []
    for _ in range(consolidations):
        smaller = await step(
            "consolidate", ContextJson, CONTEXT_TOKENS, context=given, consolidated=last
        )
        if isinstance(smaller, str):
            text = smaller.strip()
            made = [ConsolidatedDocument(text=text, source="both", documents=())]
        elif smaller.value is None:
            problems.append(f"consolidation: {smaller.problem}")
            continue
        else:
            made = [_with_numbers(each, len(given)) for each in smaller.value.documents]
        if filled := tuple(each for each in made if each.text.strip()):
            contexts.append(filled)
            last = [each.model_dump() for each in filled]

    # Answer finalisation; the groups stand before the answers, and need room, too.
    tokens = settings.conclusion_tokens + GROUP_TOKENS
    final = await step("finalise", FinalJson, tokens, context=given, consolidated=last)
    groups: tuple[Group, ...] = ()
    if isinstance(final, str):
        concluded = read_conclusion(final)
    elif final.value is None:
        concluded = Conclusion(problem=final.problem, raw=final.raw)
    else:
        concluded = Conclusion(
            answers=known(final.value.answers)[:ANSWERS], explanation=final.value.explanation
        )
        groups = tuple(_with_numbers(each, len(given)) for each in final.value.groups)
    return concluded, Consolidation(
        internal=internal,
        contexts=tuple(contexts),
        groups=groups,
        problems=tuple(problems),
        calls=2 + consolidations,
    )


def _passages(recalled: Sequence[str]) -> tuple[str, ...]:
    """Recalled passages on one line each, without those that say that there is none."""
    passages = (" ".join(passage.split()) for passage in recalled)
    return tuple(
        each
        for each in passages
        if each and not each.lower().replace("\u2019", "'").startswith(_IGNORANCE)
    )


NumberedT = TypeVar("NumberedT", ConsolidatedDocument, Group)


def _with_numbers(each: NumberedT, documents: int) -> NumberedT:
    """The same with the numbers of documents that are there, each once."""
    numbers = dict.fromkeys(number for number in each.documents if 1 <= number <= documents)
    return each.model_copy(update={"documents": tuple(numbers)})
