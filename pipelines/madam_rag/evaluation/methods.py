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
from pipelines.madam_rag.evaluation.result import Outcome
from pipelines.madam_rag.question import Question
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

Experiment = Literal["methods", "rounds", "support", "misinformation"]
"""Table 1; Figure 3; Figure 4 (a); Figure 4 (b)."""

_COMPARED: Final[dict[Experiment, tuple[str, ...]]] = {
    "methods": METHODS,
    "rounds": (MADAM, WITHOUT_AGGREGATOR),
    "support": (CONCATENATED, ASTUTE, MADAM),
    "misinformation": (CONCATENATED, ASTUTE, MADAM),
}


NotAskedError = RequestError | PairError
"""Why a method cannot be asked a question."""


@dataclass(frozen=True)
class Compared:
    """The methods of an experiment, ready to be asked.

    Attributes:
        methods: Their names, in order.
        baselines: No RAG and the concatenated prompt.
        astute: Astute RAG.
        panel: MADAM-RAG.
        settings: How debates are held. All methods reply in the same form.
    """

    methods: tuple[str, ...]
    baselines: Baselines
    astute: AstuteRag
    panel: Panel
    settings: DebateSettings

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        return (*self.baselines.prompts, *self.astute.prompts, *self.panel.prompts)


def compared(experiment: Experiment, *, reliability: bool = False) -> tuple[str, ...]:
    """The methods of an experiment; with `reliability` also the debate that is told of it."""
    return (*_COMPARED[experiment], *([WITH_RELIABILITY] if reliability else []))


def prepare(
    methods: Sequence[str],
    client: Client,
    settings: DebateSettings,
    overrides: Path | None = None,
    *,
    labeller: Labeller | None = None,
) -> Compared:
    """Make methods ready: read their prompts.

    Args:
        methods: Their names.
        client: The model that they ask.
        settings: How debates are held.
        overrides: Folder with prompts of the user's own.
        labeller: For `WITH_RELIABILITY`.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    return Compared(
        tuple(methods),
        baselines(client, overrides),
        astute(client, overrides),
        panel(client, overrides, labeller=labeller),
        settings,
    )


async def outcomes(asked: Question, by: Compared) -> dict[str, Outcome | NotAskedError]:
    """What every method makes of a question, all at the same time, in the order of the methods.

    A method that cannot be asked (all documents in one prompt may be too long where each alone is
    not, an answer may be too long for the tagger) has its error in place of an outcome; the others
    are not affected.

    Raises:
        ServingError: No server can be had.
    """

    async def attempt(method: str) -> Outcome | NotAskedError:
        try:
            return await outcome(method, asked, by)
        except (RequestError, PairError) as error:
            return error

    found = await asyncio.gather(*(attempt(method) for method in by.methods))
    return dict(zip(by.methods, found, strict=True))


async def outcome(method: str, asked: Question, by: Compared) -> Outcome:
    """What one method makes of a question.

    Raises:
        RequestError: The documents do not fit the model's context.
        PairError: An answer does not fit the tagger.
        ServingError: No server can be had.
    """
    documents = [each.document for each in asked.documents]
    question = asked.question
    if method == NO_RAG:
        return _once(await no_rag(question, by.baselines, by.settings))
    if method == CONCATENATED:
        return _once(await concatenated(question, documents, by.baselines, by.settings))
    if method == ASTUTE:
        concluded, path = await astute_rag(question, documents, by.astute, by.settings)
        return Outcome(concluded=concluded, calls=path.calls, consolidation=path)
    held = await debate(
        question,
        documents,
        by.panel if method == WITH_RELIABILITY else replace(by.panel, labeller=None),
        by.settings.without_aggregator() if method == WITHOUT_AGGREGATOR else by.settings,
    )
    return Outcome(concluded=held.concluded, calls=held.calls, debate=held)


def most_calls(method: str, asked: Sequence[Question], rounds: int) -> int:
    """Replies of a model that a method takes at most.

    Args:
        method: Its name.
        asked: The questions.
        rounds: T.
    """
    if method in {NO_RAG, CONCATENATED}:
        return len(asked)
    if method == ASTUTE:
        return (2 + CONSOLIDATIONS) * len(asked)
    aggregator = method != WITHOUT_AGGREGATOR
    return rounds * sum(len(each.documents) + aggregator for each in asked)


def _once(concluded: Conclusion) -> Outcome:
    return Outcome(concluded=concluded, calls=1)
