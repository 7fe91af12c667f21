"""The baselines that ask once: no documents, and all documents (MADAM-RAG, section 5.1)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pipelines import prompts
from pipelines.data.records import Document
from pipelines.madam_rag.replies import ask_conclusion
from pipelines.madam_rag.settings import DebateSettings
from pipelines.madam_rag.transcript import Conclusion
from pipelines.prompts import Prompt
from serving.client import Client

Prompts = Mapping[str, Prompt]
"""Name of a baseline's prompt -> the prompt."""

_VARIABLES: Final = {
    "no_rag": {"question", "form"},
    "concatenated": {"question", "documents", "form"},
    "recall": {"question", "form"},
    "consolidate": {"question", "context", "consolidated", "form"},
    "finalise": {"question", "context", "consolidated", "form"},
}
"""Prompt -> what it is given; the last three are those of Astute RAG."""


def baseline_prompts(overrides: Path | None = None) -> Prompts:
    """The prompts of all baselines, each the user's own where it is among `overrides`.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    return {
        name: prompts.load(f"madam_rag/{name}", variables, overrides)
        for name, variables in _VARIABLES.items()
    }


async def no_rag(
    question: str, client: Client, prompts: Prompts, settings: DebateSettings
) -> Conclusion:
    """Answer from what the model knows by itself (section 5.1, No RAG); raises as `ask`."""
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

    Raises as `ask`, where they do not fit the model's context together.
    """
    messages = prompts["concatenated"].messages(
        question=question,
        documents=[document.as_read() for document in documents],
        form=settings.form,
    )
    return await ask_conclusion(client, messages, settings, affinity=question)
