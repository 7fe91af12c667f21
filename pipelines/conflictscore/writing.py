"""Reports under three prompts that differ in how firmly they ask for balance (section 5)."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel

from pipelines import prompts
from pipelines.conflictscore.pipeline import Scorer, conflict_score
from pipelines.conflictscore.result import Result
from pipelines.data import conflictingqa, jsonl
from pipelines.data.records import Document, Example
from pipelines.data.released import content, entries
from pipelines.errors import InputError
from pipelines.files import refuse_pipe
from pipelines.judge.fitting import chat_about
from pipelines.judge.judgement import Truncation
from pipelines.prompts import Prompt
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

MOST_CHARACTERS = 120
REPLY_TOKENS = 64


class EntityReply(BaseModel):
    """The JSON reply to the prompt that asks for an entity."""

    entity: Annotated[str, told(minLength=1, maxLength=MOST_CHARACTERS)]


async def main_entity(question: str, client: Client, prompt: Prompt) -> str:
    """The main entity that a model names; the question if the reply is empty or unreadable.

    Args:
        question: Any question.
        client: The model.
        prompt: "conflictscore/entity".

    Raises:
        RequestError: The question does not fit the context.
        ServingError: No server is available.
    """
    reply = await client.structured(
        prompt.messages(question=question), EntityReply, Sampling(max_tokens=REPLY_TOKENS)
    )
    named = " ".join(reply.value.entity.split()).strip(" .?\"'") if reply.value else ""
    return named or question


Prompting = Literal["rag", "balanced", "super-balanced", "copied"]

PROMPTINGS: Final[dict[Prompting, str]] = {
    "rag": "RAG",
    "balanced": "RAG (Balanced)",
    "super-balanced": "RAG (Super-Balanced)",
    "copied": "First document",
}
"""The prompts of Tables 8 to 10, in order and named as in Table 3. The last is a baseline without a
writer: the first document unchanged, which takes one side instead of reporting on both."""

PROMPT: Final[dict[Prompting, str]] = {
    "rag": "report",
    "balanced": "report_balanced",
    "super-balanced": "report_super_balanced",
}
_VARIABLES: Final = {
    "entity": {"question"},
    **{name: {"documents", "entity"} for name in PROMPT.values()},
}
"""Prompt -> its variables; the first asks for the main entity of a question."""


@dataclass(frozen=True)
class ReportWriter:
    """A model that writes reports, with its prompts by name.

    Attributes:
        tokens: Maximum tokens of a report.
        cut: Whether documents too long for the context may be cut.
    """

    client: Client
    prompts: Mapping[str, Prompt]
    tokens: int
    cut: bool


def report_writer(
    client: Client,
    overrides: Path | None = None,
    *,
    tokens: int = 512,
    cut: bool = False,
) -> ReportWriter:
    """A writer with its prompts, which may be replaced by those in the folder `overrides`.

    Raises:
        InputError: A user's prompt cannot be used.
    """
    loaded = prompts.load_all("conflictscore", _VARIABLES, overrides)
    return ReportWriter(client, loaded, tokens, cut)


@dataclass(frozen=True)
class Topic:
    """A question with its documents.

    Attributes:
        id: Unique within its data.
        question: The question.
        documents: At least two.
    """

    id: str
    question: str
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class Assignment:
    """A report to be written.

    Attributes:
        topic: Its question and documents.
        prompting: Name of the prompt.
    """

    topic: Topic
    prompting: Prompting

    @property
    def id(self) -> str:
        """`topic/prompting`."""
        return f"{self.topic.id}/{self.prompting}"


class Topics(NamedTuple):
    """The questions of a file.

    Attributes:
        file: Its name.
        digest: SHA-256 of its content.
        topics: In the order of the file.
        passed_over: Number of entries that cannot be in conflict: without a question, with a single
            document, or, if stances are known, with only one stance.
    """

    file: str
    digest: str
    topics: tuple[Topic, ...]
    passed_over: int


def read(path: Path) -> Topics:
    """Read the questions of a file in our input format, or of ConflictingQA as released.

    ConflictingQA questions are taken only if their pages have both stances: those are in conflict
    by the paper's gold labels. Responses in our input format are ignored.

    Raises:
        InputError: The file cannot be read, has another format, or contains no such question.
    """
    first = entries(path)[0].value
    if isinstance(first, dict) and "search_query" in first:
        questions = conflictingqa.read(path)
        topics = [
            Topic(str(number), question.question, _pages(question.pages))
            for number, question in enumerate(questions, start=1)
            if {page.stance for page in question.pages} == {"yes", "no"}
        ]
        count = len(questions)
    else:
        records = {example.group: example for example in jsonl.read(path).examples}
        topics = [
            Topic(name, record.question, record.documents)
            for name, record in records.items()
            if record.question is not None and len(record.documents) > 1
        ]
        count = len(records)
    if not topics:
        raise InputError(
            f"{path} has no question with documents that could disagree; each record needs a "
            "'question' and two documents or more"
        )
    refuse_pipe(path)
    digest = hashlib.sha256(content(path)).hexdigest()
    return Topics(path.name, digest, tuple(topics), count - len(topics))


def assignments(topics: Sequence[Topic]) -> list[Assignment]:
    """One assignment per question and prompting; those on the same question are adjacent."""
    return [Assignment(topic, prompting) for topic in topics for prompting in PROMPTINGS]


def _pages(pages: Iterable[conflictingqa.WebPage]) -> tuple[Document, ...]:
    return tuple(
        Document(id=f"d{number}", text=page.text_window, title=page.title or None, url=page.url)
        for number, page in enumerate(pages, start=1)
    )


class ReportResult(Result):
    """A report with its score.

    Attributes:
        entity: The report's subject; None for a copied document.
        finished: Whether the report ended by itself, not at its length limit.
        unread: Documents that the writer saw only in part; `truncations` are the judge's.
    """

    entity: str | None = None
    finished: bool = True
    unread: tuple[Truncation, ...] = ()


def report_result(assignment: Assignment, **outcome: object) -> ReportResult:
    """The result of an assignment: its fields and the outcome."""
    topic = assignment.topic
    given = {
        "id": assignment.id,
        "group": topic.id,
        "variant": PROMPTINGS[assignment.prompting],
        "question": topic.question,
        "documents": topic.documents,
    }
    return ReportResult.model_validate({"response": "", **outcome, **given})


async def report_on(assignment: Assignment, author: ReportWriter, scorer: Scorer) -> ReportResult:
    """Write a report on the main entity of a question, and score it (section 5, Tables 8 to 10).

    All promptings see the same documents: if they must be cut, it is to fit the longest prompt.

    Raises:
        InputError: As `conflict_score`.
        RequestError: The documents do not fit the context and may not be cut.
        ServingError: No server is available.
    """
    topic = assignment.topic
    if assignment.prompting == "copied":
        return await _scored(assignment, topic.documents[0].text, scorer)
    entity = await main_entity(topic.question, author.client, author.prompts["entity"])

    def messages(prompt: Prompt, texts: Sequence[str]) -> list[dict[str, str]]:
        return prompt.messages(documents=texts, entity=entity)

    def longest(texts: Sequence[str]) -> list[dict[str, str]]:
        rendered = (messages(author.prompts[name], texts) for name in PROMPT.values())
        return max(rendered, key=lambda turns: len(turns[0]["content"]))

    reply, cuts = await chat_about(
        topic.documents,
        author.client,
        partial(messages, author.prompts[PROMPT[assignment.prompting]]),
        longest=longest,
        max_tokens=author.tokens,
        cut=author.cut,
        name=f"the documents of '{topic.question}'",
    )
    return await _scored(
        assignment,
        reply.text.strip(),
        scorer,
        entity=entity,
        finished=reply.finished,
        unread=cuts,
    )


async def _scored(
    assignment: Assignment, report: str, scorer: Scorer, **made: object
) -> ReportResult:
    if not report:
        return report_result(assignment, status="invalid", error="the report is empty", **made)
    topic = assignment.topic
    # The judge is not told the question: a report is about an entity.
    example = Example(id=assignment.id, group=topic.id, response=report, documents=topic.documents)
    return report_result(assignment, **dict(await conflict_score(example, scorer)), **made)
