"""The language model that predicts types and writes answers, and what it is asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from os.path import commonprefix
from pathlib import Path
from typing import Final, Literal

from pipelines import prompts
from pipelines.conflicts.dates import told_order
from pipelines.conflicts.question import Query
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY, Category, ConflictType
from pipelines.prompts import Prompt
from serving.client import Client

Messages = list[dict[str, str]]

EXPLANATION_TOKENS: Final = 256
"""Most tokens of a category with its explanation."""

TypePrompt = Literal["taxonomy_aware", "classify", "classify_choice"]
"""Asks for type and answer at once, for the type with an explanation, or for its number alone."""

VARIABLES: Final = {
    "answer": {"query", "results", "conflict", "dated"},
    "taxonomy_aware": {"query", "results", "taxonomy", "guided"},
    "classify": {"query", "results", "taxonomy"},
    "classify_choice": {"query", "results", "taxonomy"},
}
"""Prompt -> what it is told."""


@dataclass(frozen=True)
class Writer:
    """A model with the prompts of `VARIABLES`, which begin with the same text for the same query.

    Attributes:
        client: The model.
        templates: Name -> prompt.
        settings: The variants.
    """

    client: Client
    templates: Mapping[str, Prompt]
    settings: ConflictsSettings

    @property
    def reply_tokens(self) -> int:
        """Most tokens that any reply may have: that with type and answer."""
        return EXPLANATION_TOKENS + self.settings.answer_tokens

    @property
    def room(self) -> int:
        """Tokens to leave beside the sources: the reply, and what a judge of it reads again.

        The judge of grounding sees the whole answer and a sentence of it.
        """
        read_again = 2 * self.settings.answer_tokens if self.settings.judge == "llm" else 0
        return self.reply_tokens + read_again

    def asks_answer(self, query: Query, told: ConflictType | None) -> Messages:
        """The request for an answer; where no type is told, the vanilla one."""
        dated = self.settings.dates and told is ConflictType.OUTDATED
        order = told_order(query.sources) if dated else []
        return self.templates["answer"].messages(
            query=query.query,
            results=[source.as_read() for source in query.sources],
            conflict=None if told is None else self._described(told),
            dated=[{"number": number, "date": date} for number, date in order],
        )

    def _described(self, told: ConflictType) -> Category:
        """A type as the paper describes it to a writer; if guided, with what is expected then."""
        category = CATEGORY[told]
        if self.settings.guided:
            return category
        return category.model_copy(update={"expected": ""})

    def asks_type(self, template: TypePrompt, query: Query) -> Messages:
        """The request for a type, by one of the other prompts."""
        results = [source.as_read() for source in query.sources]
        guided = {"guided": self.settings.guided} if template == "taxonomy_aware" else {}
        return self.templates[template].messages(
            query=query.query, results=results, taxonomy=TAXONOMY, **guided
        )

    def longest(self, query: Query) -> Callable[[Query], Messages]:
        """The call with the longest prompt of all that may be made about the query."""
        calls: list[Callable[[Query], Messages]] = [
            *(partial(self.asks_answer, told=told) for told in (None, *ConflictType)),
            partial(self.asks_type, "taxonomy_aware"),
            partial(self.asks_type, "classify"),
            partial(self.asks_type, "classify_choice"),
        ]
        texts = [call(query)[0]["content"] for call in calls]
        # What all begin with, the sources, need not be counted to tell them apart.
        shared = len(commonprefix(texts))  # noqa: RUF071  characters are meant
        ends = [self.client.count([{"role": "user", "content": text[shared:]}]) for text in texts]
        return calls[ends.index(max(ends))]


def writer(client: Client, settings: ConflictsSettings, overrides: Path | None = None) -> Writer:
    """A writer with its prompts; InputError if the user's own prompt cannot be used."""
    templates = {
        name: prompts.load(f"conflicts/{name}", variables, overrides)
        for name, variables in VARIABLES.items()
    }
    return Writer(client, templates, settings)
