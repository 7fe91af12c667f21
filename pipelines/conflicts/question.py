"""A question with its search results, and what the data say of them."""

import re
from typing import Annotated, Self

from pydantic import BaseModel, Field

from pipelines.conflicts.taxonomy import ConflictType
from pipelines.data.records import Document, Label, Text

_HEAD = re.compile(r"(?P<name>url|title|snippet|date):(?P<value>.*)", re.IGNORECASE)


class Source(BaseModel, frozen=True, extra="forbid"):
    """One search result (CONFLICTS, section 3).

    Attributes:
        text: The segment of the page that matters most to the question.
        url: Where it was found.
        title: Of the page.
        snippet: The few lines that the search engine showed.
        date: When it was published, as the source gives it; see `dates.written`.
    """

    text: Text
    url: Label | None = None
    title: Label | None = None
    snippet: Label | None = None
    date: Label | None = None

    @classmethod
    def from_text(cls, text: str) -> Self:
        """A source from a text that may begin with lines like "Date: 2021-03-01".

        The lines are those that `as_read` writes, in any order and letter case, before the first
        line of another kind.

        Raises:
            ValueError: There is nothing but such lines.
        """
        head: dict[str, str] = {}
        lines = text.strip().splitlines()
        while lines and (found := _HEAD.match(lines[0])):
            head[found["name"].lower()] = found["value"].strip()
            lines.pop(0)
        return cls(text="\n".join(lines), **head)

    def as_read(self) -> str:
        """URL, title, snippet, date and segment, as a model reads them (section 5.1)."""
        head = {"URL": self.url, "Title": self.title, "Snippet": self.snippet, "Date": self.date}
        lines = [f"{name}: {value}" for name, value in head.items() if value]
        return "\n".join([*lines, self.text])

    def as_evidence(self, number: int) -> Document:
        """What a sentence that cites the source may rest on: title, snippet and segment.

        The document's id is the source's place among the results, from 1. A snippet that stands in
        the segment is not said twice. The date is left out: from "2 May 2011" the tagger takes it
        that whatever the page tells of happened in 2011.
        """
        snippet = (self.snippet or "").strip()
        text = self.text if snippet in self.text else f"{snippet}\n\n{self.text}"
        return Document(id=str(number), text=text, title=self.title, url=self.url, date=self.date)


class Query(BaseModel, frozen=True, extra="forbid"):
    """A question q with its search results C_q.

    Attributes:
        id: Unique within its data set.
        query: What is asked.
        sources: At least one. Citations count them from 1.
        conflict_type: The type that annotators gave; None where nobody did.
        gold_answer: The right answer, where the data have one.
        origin: The data set that the question was taken from ("FreshQA"), where the release says.
    """

    id: str
    query: Text
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]
    conflict_type: ConflictType | None = None
    gold_answer: Text | None = None
    origin: str | None = None
