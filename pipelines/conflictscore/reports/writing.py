"""Reports under three prompts that differ in how firmly they ask for balance (section 5)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pipelines import prompts
from pipelines.conflictscore.reports.entity import Entity, main_entity
from pipelines.data.records import Document
from pipelines.evidence.fitting import fit_together
from pipelines.evidence.judgement import Truncation
from pipelines.prompts import Prompt
from serving.calls import Sampling
from serving.client import Client
from serving.tokens import Message

Prompting = Literal["rag", "balanced", "super-balanced", "copied"]

PROMPTINGS: Final[dict[Prompting, str]] = {
    "rag": "RAG",
    "balanced": "RAG (Balanced)",
    "super-balanced": "RAG (Super-Balanced)",
    "copied": "First document",
}
"""The prompts of Tables 8 to 10 as Table 3 calls them, in order; last what needs no writer: the
first document as it is, which takes one side and reports on none."""

PROMPT: Final[dict[Prompting, str]] = {
    "rag": "report",
    "balanced": "report_balanced",
    "super-balanced": "report_super_balanced",
}


@dataclass(frozen=True)
class ReportWriter:
    """A model that writes reports.

    Attributes:
        client: The model.
        entity: Asks for the main entity of a question.
        reports: Asks for a report, one prompt for each prompting.
        tokens: Most tokens of a report.
        cut: Whether documents too long for the context may be cut.
    """

    client: Client
    entity: Prompt
    reports: Mapping[Prompting, Prompt]
    tokens: int
    cut: bool

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        return (self.entity, *self.reports.values())


class Report(NamedTuple):
    """A report as it came.

    Attributes:
        text: Without white space around it; may be empty.
        entity: What it is about; None of a document that was copied.
        finished: Whether it ended by itself, and not for its length.
        truncations: Documents that the writer saw only in part.
    """

    text: str
    entity: Entity | None
    finished: bool
    truncations: tuple[Truncation, ...] = ()


def report_writer(
    client: Client,
    promptings: Sequence[Prompting],
    overrides: Path | None = None,
    *,
    tokens: int = 512,
    cut: bool = False,
) -> ReportWriter:
    """A writer with its prompts.

    Args:
        client: The model.
        promptings: Which prompts; "copied" has none.
        overrides: Folder with prompts of the user's own.
        tokens: Most tokens of a report.
        cut: Whether documents too long for the context may be cut.

    Raises:
        InputError: The user's own prompt cannot be used.
    """

    def load(name: str, *variables: str) -> Prompt:
        return prompts.load(f"conflictscore/{name}", {*variables}, overrides)

    return ReportWriter(
        client,
        load("entity", "question"),
        {each: load(PROMPT[each], "documents", "entity") for each in promptings if each in PROMPT},
        tokens,
        cut,
    )


async def write_report(
    writer: ReportWriter, prompting: Prompting, question: str, documents: Sequence[Document]
) -> Report:
    """A report on the main entity of a question (ConflictScore, section 5, Tables 8 to 10).

    All promptings see the same documents: where these are cut, they are cut for the longest prompt.

    Raises:
        RequestError: The documents do not fit the context and may not be cut.
        ServingError: No server can be had.
    """
    if prompting == "copied":
        return Report(documents[0].text, None, finished=True)
    entity = await main_entity(question, writer.client, writer.entity)

    def messages(prompt: Prompt, texts: Sequence[str]) -> list[dict[str, str]]:
        return prompt.messages(documents=texts, entity=entity.name)

    def longest(texts: Sequence[str]) -> Sequence[Message]:
        return max(
            (messages(prompt, texts) for prompt in writer.reports.values()),
            key=lambda turns: len(turns[0]["content"]),
        )

    texts, cuts = await asyncio.to_thread(
        fit_together,
        [document.as_read() for document in documents],
        writer.client,
        longest,
        max_tokens=writer.tokens,
        cut=writer.cut,
        name=f"the documents of '{question}'",
    )
    reply = await writer.client.chat(
        messages(writer.reports[prompting], texts), Sampling(max_tokens=writer.tokens)
    )
    return Report(reply.text.strip(), entity, reply.finished, cuts)
