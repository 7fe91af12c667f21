"""The methods that are compared: what each makes of one question (MADAM-RAG, section 5.1)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from pipelines.evidence.labeller import Labeller, PairError
from pipelines.madam_rag.astute_rag import CONSOLIDATIONS, AstuteRag, astute, astute_rag
from pipelines.madam_rag.baselines import Baselines, baselines, concatenated, no_rag
from pipelines.madam_rag.debate import Panel, debate, panel
from pipelines.madam_rag.question import Question
from pipelines.madam_rag.result import Outcome
from pipelines.madam_rag.settings import DebateSettings
from pipelines.madam_rag.transcript import Conclusion
from pipelines.prompts import Prompt
from serving.client import Client
from serving.errors import RequestError

NO_RAG: Final = "No RAG"
CONCATENATED: Final = "Concatenated prompt"
ASTUTE: Final = "Astute RAG"
MADAM: Final = "MADAM-RAG"
WITHOUT_AGGREGATOR: Final = "MADAM-RAG w/o aggregator"
WITH_RELIABILITY: Final = "MADAM-RAG + reliability"

METHODS: Final = (NO_RAG, CONCATENATED, ASTUTE, MADAM)
"""Those of Table 1."""

ExperimentName = Literal["methods", "rounds", "support", "misinformation"]
"""Table 1; Figure 3; Figure 4 (a); Figure 4 (b)."""

_OF_EXPERIMENT: Final[dict[ExperimentName, tuple[str, ...]]] = {
    "methods": METHODS,
    "rounds": (MADAM, WITHOUT_AGGREGATOR),
    "support": (CONCATENATED, ASTUTE, MADAM),
    "misinformation": (CONCATENATED, ASTUTE, MADAM),
}


Refusal = RequestError | PairError
"""Why a method cannot be asked a question."""


@dataclass(frozen=True)
class Methods:
    """The methods of an experiment, ready to be asked.

    Attributes:
        names: In order.
        baselines: No RAG and the concatenated prompt.
        astute: Astute RAG.
        panel: MADAM-RAG.
        settings: How debates are held. All methods reply in the same form.
    """

    names: tuple[str, ...]
    baselines: Baselines
    astute: AstuteRag
    panel: Panel
    settings: DebateSettings

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        return (*self.baselines.prompts, *self.astute.prompts, *self.panel.prompts)


def names_of(experiment: ExperimentName, *, reliability: bool = False) -> tuple[str, ...]:
    """The methods of an experiment; with `reliability` also the debate that is told of it."""
    return (*_OF_EXPERIMENT[experiment], *([WITH_RELIABILITY] if reliability else []))


def prepare(
    names: Sequence[str],
    client: Client,
    settings: DebateSettings,
    overrides: Path | None = None,
    *,
    labeller: Labeller | None = None,
) -> Methods:
    """Make methods ready: read their prompts.

    Args:
        names: Of the methods.
        client: The model that they ask.
        settings: How debates are held.
        overrides: Folder with prompts of the user's own.
        labeller: For `WITH_RELIABILITY`.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    return Methods(
        tuple(names),
        baselines(client, overrides),
        astute(client, overrides),
        panel(client, overrides, labeller=labeller),
        settings,
    )


async def outcomes(question: Question, methods: Methods) -> dict[str, Outcome | Refusal]:
    """What every method makes of a question, all at the same time, in the order of the methods.

    A method that cannot be asked (all documents in one prompt may be too long where each alone is
    not, an answer may be too long for the tagger) has its error in place of an outcome; the others
    are not affected.

    Raises:
        ServingError: No server can be had.
    """

    async def attempt(name: str) -> Outcome | Refusal:
        try:
            return await outcome(name, question, methods)
        except (RequestError, PairError) as error:
            return error

    found = await asyncio.gather(*(attempt(name) for name in methods.names))
    return dict(zip(methods.names, found, strict=True))


async def outcome(name: str, question: Question, methods: Methods) -> Outcome:
    """What one method makes of a question.

    Raises:
        RequestError: The documents do not fit the model's context.
        PairError: An answer does not fit the tagger.
        ServingError: No server can be had.
    """
    documents = [each.document for each in question.documents]
    text, settings = question.question, methods.settings
    if name == NO_RAG:
        return _once(await no_rag(text, methods.baselines, settings))
    if name == CONCATENATED:
        return _once(await concatenated(text, documents, methods.baselines, settings))
    if name == ASTUTE:
        concluded, path = await astute_rag(text, documents, methods.astute, settings)
        return Outcome(concluded=concluded, calls=path.calls, consolidation=path)
    held = await debate(
        text,
        documents,
        methods.panel if name == WITH_RELIABILITY else replace(methods.panel, labeller=None),
        settings.without_aggregator() if name == WITHOUT_AGGREGATOR else settings,
    )
    return Outcome(concluded=held.concluded, calls=held.calls, debate=held)


def most_calls(name: str, questions: Sequence[Question], rounds: int) -> int:
    """Replies of a model that a method takes at most.

    Args:
        name: Of the method.
        questions: All of them.
        rounds: T.
    """
    if name in {NO_RAG, CONCATENATED}:
        return len(questions)
    if name == ASTUTE:
        return (2 + CONSOLIDATIONS) * len(questions)
    aggregator = name != WITHOUT_AGGREGATOR
    return rounds * sum(len(each.documents) + aggregator for each in questions)


def _once(concluded: Conclusion) -> Outcome:
    return Outcome(concluded=concluded, calls=1)
