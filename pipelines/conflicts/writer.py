"""The language model that predicts types and writes answers, and what it is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from os.path import commonprefix
from pathlib import Path
from typing import Final

from pipelines import prompts
from pipelines.conflicts.dates import told_order
from pipelines.conflicts.question import Query
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY, ConflictType
from pipelines.prompts import Prompt
from serving.client import Client

Messages = list[dict[str, str]]

EXPLANATION_TOKENS: Final = 256
"""Most tokens of a category with its explanation."""


@dataclass(frozen=True)
class Writer:
    """A model with its prompts, which all begin with the same text for the same query.

    Attributes:
        client: The model.
        answer: Asks for an answer, with or without a type to go by.
        taxonomy_aware: Asks for type and answer at once.
        classify: Asks for the type with an explanation.
        classify_choice: Asks for the type's number alone.
        settings: The variants.
    """

    client: Client
    answer: Prompt
    taxonomy_aware: Prompt
    classify: Prompt
    classify_choice: Prompt
    settings: ConflictsSettings

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        return (self.answer, self.taxonomy_aware, self.classify, self.classify_choice)

    @property
    def reply_tokens(self) -> int:
        """Most tokens that any reply may have: that with type and answer."""
        return EXPLANATION_TOKENS + self.settings.answer_tokens

    def asks_answer(self, query: Query, told: ConflictType | None) -> Messages:
        """The request for an answer; where no type is told, the vanilla one."""
        return self.answer.messages(
            query=query.query,
            results=_as_read(query),
            conflict=None if told is None else CATEGORY[told],
            dated=self._dated(query) if told is ConflictType.OUTDATED else [],
        )

    def _dated(self, query: Query) -> list[dict[str, object]]:
        if not self.settings.dates:
            return []
        return [{"number": number, "date": date} for number, date in told_order(query.sources)]

    def asks_with_taxonomy(self, prompt: Prompt, query: Query) -> Messages:
        """The request for a type, by one of the other prompts."""
        return prompt.messages(query=query.query, results=_as_read(query), taxonomy=TAXONOMY)

    def longest(self, query: Query) -> Callable[[Query], Messages]:
        """The call with the longest prompt of all that may be made about the query."""
        calls: list[Callable[[Query], Messages]] = [
            *(partial(self.asks_answer, told=told) for told in (None, *ConflictType)),
            partial(self.asks_with_taxonomy, self.taxonomy_aware),
            partial(self.asks_with_taxonomy, self.classify),
            partial(self.asks_with_taxonomy, self.classify_choice),
        ]
        texts = [call(query)[0]["content"] for call in calls]
        # What all begin with, the sources, need not be counted to tell them apart.
        shared = len(commonprefix(texts))  # noqa: RUF071  characters are meant
        ends = [self.client.count([{"role": "user", "content": text[shared:]}]) for text in texts]
        return calls[ends.index(max(ends))]


def writer(client: Client, settings: ConflictsSettings, overrides: Path | None = None) -> Writer:
    """A writer with its prompts.

    Raises:
        InputError: The user's own prompt cannot be used.
    """

    def load(name: str, *about: str) -> Prompt:
        return prompts.load(f"conflicts/{name}", {"query", "results", *about}, overrides)

    return Writer(
        client,
        answer=load("answer", "conflict", "dated"),
        taxonomy_aware=load("taxonomy_aware", "taxonomy"),
        classify=load("classify", "taxonomy"),
        classify_choice=load("classify_choice", "taxonomy"),
        settings=settings,
    )


def _as_read(query: Query) -> list[str]:
    return [source.as_read() for source in query.sources]
