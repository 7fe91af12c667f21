"""Documents by the names that a response gives them: "Document 2 notes", "according to source B".

A judge reads one document at a time and cannot know which one a claim means (ConflictScore, Table
10 has writers name "Document A"). Where a claim names one, all documents are shown with their name.
"""

import re
from collections.abc import Iterable, Sequence
from string import ascii_uppercase
from typing import Final

from pipelines.data.records import Document

_KIND: Final = r"(?:documents?|docs?\.?|sources?|passages?)"
"""Articles are none: "Article 5" is one of a treaty."""
_PLACE: Final = re.compile(rf"\b(?i:{_KIND}) (?:no\. ?)?[\[(]?(?:\d{{1,2}}|[A-HJ-Z])\b")
"""A letter but I, as in "a source I trust"."""


def names_documents(claims: Iterable[str]) -> bool:
    """Whether a claim names a document by its place: "Document 2", "source B"."""
    return any(_PLACE.search(claim) for claim in claims)


def named(documents: Sequence[Document]) -> tuple[Document, ...]:
    """The documents with their number, and their letter as far as there are letters, in the title.

    "Document 2 (Document B): The guide", in place of "The guide".
    """

    def title(place: int, document: Document) -> str:
        letter = f" (Document {ascii_uppercase[place]})" if place < len(ascii_uppercase) else ""
        own = f": {document.title}" if document.title else ""
        return f"Document {place + 1}{letter}{own}"

    return tuple(
        document.model_copy(update={"title": title(place, document)})
        for place, document in enumerate(documents)
    )


def as_cited(claims: Sequence[str], documents: Sequence[Document]) -> Sequence[Document]:
    """The documents as they are, or `named` where a claim names one."""
    return named(documents) if names_documents(claims) else documents
