"""The compared methods: no documents, all documents, Astute RAG, debate (section 5.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, Field

from pipelines import prompts
from pipelines.data.records import Document
from pipelines.madam_rag.data import Question
from pipelines.madam_rag.debate import Panel, debate
from pipelines.madam_rag.replies import (
    ANSWERS,
    Conclusion,
    Debate,
    Explanation,
    Short,
    ask,
    ask_conclusion,
    explained,
    read_conclusion,
)
from pipelines.madam_rag.settings import DebateSettings, ExperimentName
from pipelines.metrics.answers import known
from pipelines.prompts import Prompt
from serving.calls import Structured
from serving.client import Client
from serving.schemas import told

Prompts = Mapping[str, Prompt]
"""Name of a baseline's prompt -> the prompt."""

_VARIABLES: Final = {
    "no_rag": {"question", "form"},
    "concatenated": {"question", "documents", "form"},
    "recall": {"question", "form"},
    "consolidate": {"question", "context", "consolidated", "form"},
    "finalise": {"question", "context", "consolidated", "form"},
}
"""Prompt -> its variables; the last three prompts are Astute RAG's."""


def baseline_prompts(overrides: Path | None = None) -> Prompts:
    """The prompts of all baselines; those among `overrides` replace ours.

    Raises:
        InputError: A user's prompt cannot be used.
    """
    return prompts.load_all("madam_rag", _VARIABLES, overrides)


class Outcome(BaseModel, frozen=True):
    """A method's conclusion on a question.

    Attributes:
        calls: Number of model replies, those from the cache included.
        debate: The debate, in MADAM-RAG.
        left_out: Steps of Astute RAG whose reply could not be read, and why.
    """

    concluded: Conclusion
    calls: int
    debate: Debate | None = None
    left_out: tuple[str, ...] = ()


async def no_rag(
    question: str, client: Client, prompts: Prompts, settings: DebateSettings
) -> Conclusion:
    """Answer from the model's own knowledge (section 5.1, No RAG); errors are those of `ask`."""
    messages = prompts["no_rag"].messages(question=question, form=settings.form)
    return await ask_conclusion(client, messages, settings, affinity=question)


async def concatenated(
    question: str,
    documents: Sequence[Document],
    client: Client,
    prompts: Prompts,
    settings: DebateSettings,
) -> Conclusion:
    """Answer from all documents in one prompt (section 5.1, Concatenated-prompt).

    Errors are those of `ask`; one is raised if the documents together do not fit the model's
    context.
    """
    messages = prompts["concatenated"].messages(
        question=question,
        documents=[document.as_read() for document in documents],
        form=settings.form,
    )
    return await ask_conclusion(client, messages, settings, affinity=question)


Source = Literal["memory", "external", "both"]

INTERNAL: Final = 3
"""Maximum number of passages that a model may recall; it decides how many (appendix B)."""

CONTEXT_TOKENS: Final = 512
"""Maximum tokens of recalled passages, and of a consolidated context."""

GROUP_TOKENS: Final = 256
"""Maximum tokens of the groups that come before an answer."""

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
    consolidations: int = 1,
) -> Outcome:
    """Recall passages, consolidate them with the documents, and answer from both (appendix B).

    A step whose reply cannot be read is left out and noted; the answer is then made from the rest.
    The conclusion is unreadable only if the reply to the last step is.

    The context is consolidated `consolidations` times, which may be 0. The settings decide form and
    length of replies. Errors are those of `ask`.
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
    given = [{"number": number, **passage} for number, passage in enumerate(context, start=1)]

    # Iterative source-aware knowledge consolidation.
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
            made = [_with_numbers(document, len(given)) for document in smaller.value.documents]
        if filled := [document.model_dump() for document in made if document.text.strip()]:
            last = filled

    # Answer finalisation; the groups come before the answers and need room too.
    tokens = settings.conclusion_tokens + GROUP_TOKENS
    schema = explained(FinalJson, settings.conclusion_tokens)
    final = await step("finalise", schema, tokens, context=given, consolidated=last)
    if isinstance(final, str):
        concluded = read_conclusion(final)
    elif final.value is None:
        concluded = Conclusion(problem=final.problem, raw=final.raw)
    else:
        concluded = Conclusion(
            answers=known(final.value.answers)[:ANSWERS], explanation=final.value.explanation
        )
    return Outcome(concluded=concluded, calls=2 + consolidations, left_out=tuple(problems))


def _passages(recalled: Sequence[str]) -> tuple[str, ...]:
    """Recalled passages, one line each, without those that say "I don't know"."""
    passages = (" ".join(passage.split()) for passage in recalled)
    return tuple(
        passage
        for passage in passages
        if passage and not passage.lower().replace("\u2019", "'").startswith(_IGNORANCE)
    )


def _with_numbers(made: ConsolidatedDocument, documents: int) -> ConsolidatedDocument:
    """The document with only the numbers of existing documents, each once."""
    numbers = dict.fromkeys(number for number in made.documents if 1 <= number <= documents)
    return made.model_copy(update={"documents": tuple(numbers)})


class QuestionResult(BaseModel, frozen=True):
    """One question.

    Attributes:
        id: Id of the question within its data set, with the level if that is varied.
        status: "answered"; "incomplete" if some method failed, "failed" if all did. The last two
            are tried again when the run is resumed.
        outcomes: Method -> its outcome on the question; see `METHODS`.
    """

    id: str
    asked: Question
    status: Literal["answered", "incomplete", "failed"]
    outcomes: dict[str, Outcome] = {}
    error: str | None = None


NO_RAG: Final = "No RAG"
CONCATENATED: Final = "Concatenated prompt"
ASTUTE: Final = "Astute RAG"
MADAM: Final = "MADAM-RAG"
WITHOUT_AGGREGATOR: Final = "MADAM-RAG w/o aggregator"

METHODS: Final = (NO_RAG, CONCATENATED, ASTUTE, MADAM)
"""The methods of Table 1."""

METHODS_OF: Final[dict[ExperimentName, tuple[str, ...]]] = {
    "methods": METHODS,
    "rounds": (MADAM, WITHOUT_AGGREGATOR),
    "support": (CONCATENATED, ASTUTE, MADAM),
    "misinformation": (CONCATENATED, ASTUTE, MADAM),
}
"""The methods of Table 1, Figure 3, Figure 4 (a) and Figure 4 (b)."""


@dataclass(frozen=True)
class Methods:
    """The methods of an experiment, by their names in order, ready to be asked.

    `panel` is for the debates of MADAM-RAG; all methods ask its model, with replies in the same
    form. `consolidations` is for Astute RAG.
    """

    names: tuple[str, ...]
    panel: Panel
    baselines: Prompts
    settings: DebateSettings
    consolidations: int = 1


async def outcome(name: str, question: Question, methods: Methods) -> Outcome:
    """The outcome of one method on a question; errors are those of `debate`."""
    documents = [given.document for given in question.documents]
    text, settings = question.question, methods.settings
    asked = (methods.panel.client, methods.baselines, settings)
    if name == NO_RAG:
        return Outcome(concluded=await no_rag(text, *asked), calls=1)
    if name == CONCATENATED:
        return Outcome(concluded=await concatenated(text, documents, *asked), calls=1)
    if name == ASTUTE:
        times = methods.consolidations
        return await astute_rag(text, documents, *asked, consolidations=times)
    if name == WITHOUT_AGGREGATOR:
        settings = settings.without_aggregator()
    held = await debate(text, documents, methods.panel, settings)
    return Outcome(concluded=held.concluded, calls=held.calls, debate=held)
