"""The baselines that ask once: no documents, and all documents (MADAM-RAG, section 5.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines import prompts
from pipelines.data.records import Document
from pipelines.madam_rag.replies import ask_conclusion
from pipelines.madam_rag.settings import DebateSettings
from pipelines.madam_rag.transcript import Conclusion
from pipelines.prompts import Prompt
from serving.client import Client


@dataclass(frozen=True)
class Baselines:
    """A model that is asked once.

    Attributes:
        client: The model.
        no_rag: Prompt without documents.
        concatenated: Prompt with all of them.
    """

    client: Client
    no_rag: Prompt
    concatenated: Prompt

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        return (self.no_rag, self.concatenated)


def baselines(client: Client, overrides: Path | None = None) -> Baselines:
    """The baselines with their prompts.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    return Baselines(
        client,
        no_rag=prompts.load("madam_rag/no_rag", {"question", "form"}, overrides),
        concatenated=prompts.load(
            "madam_rag/concatenated", {"question", "documents", "form"}, overrides
        ),
    )


async def no_rag(question: str, by: Baselines, settings: DebateSettings) -> Conclusion:
    """Answer from what the model knows by itself (section 5.1, No RAG).

    Raises:
        RequestError: The question does not fit the model's context.
        ServingError: No server can be had.
    """
    messages = by.no_rag.messages(question=question, form=settings.replies)
    return await ask_conclusion(
        by.client, messages, settings.replies, settings.conclusion_tokens, affinity=question
    )


async def concatenated(
    question: str, documents: Sequence[Document], by: Baselines, settings: DebateSettings
) -> Conclusion:
    """Answer from all documents in one prompt (section 5.1, Concatenated-prompt).

    Raises:
        RequestError: They do not fit the model's context together.
        ServingError: No server can be had.
    """
    messages = by.concatenated.messages(
        question=question,
        documents=[document.as_read() for document in documents],
        form=settings.replies,
    )
    return await ask_conclusion(
        by.client, messages, settings.replies, settings.conclusion_tokens, affinity=question
    )
