"""Cuts documents into passages of whole sentences that keep their titles."""

import re
from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from nli.windows import windows
from pipelines.data.records import Document
from pipelines.errors import InputError

WORDS = 120
"""Words of a passage, at most. A sentence that has more is cut."""

OVERLAP = 1
"""Sentences that a passage shares with the one before it."""

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?[ \t\r]*$", re.MULTILINE)
_FENCED = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
# Of scripts without spaces between words every character counts as one.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")


def passages(document: Document, *, words: int = WORDS, overlap: int = OVERLAP) -> list[Document]:
    """The passages of a document, in order.

    Each has the document's title, URL and date, and an id made of the document's and a number:
    "report#3" (see `document_of`). A document that fits into one passage keeps its id.

    Args:
        document: Of any length.
        words: Most words of a passage, at least 1.
        overlap: Sentences that are repeated, at least 0.

    Raises:
        InputError: The id is too long for a number to follow it.
    """
    spans = windows(document.text, _counts, words, overlap)
    texts = [document.text[start:end].strip() for start, end in spans]
    if len(texts) == 1:
        return [document]
    return [_part(document, number, text, document.title) for number, text in enumerate(texts, 1)]


def document_of(passage: str) -> str:
    """The id of the document that a passage was cut from: what stands before the first "#"."""
    return passage.partition("#")[0]


def sections(document: Document) -> list[Document]:
    """The sections of a Markdown document, each with the path of its headings as its title.

    What stands under one heading is a document of its own: "Dams > Aldham > History". A heading
    with nothing under it gives none.
    """
    title = [document.title] if document.title else []
    path: list[tuple[int, str]] = []
    found: list[Document] = []
    for level, heading, body in _under_headings(document.text):
        if level:
            path = [*((n, text) for n, text in path if n < level), (level, heading)]
        if not body.strip():
            continue
        titles = [*title, *(text for _, text in path)]
        if len(titles) > 1 and titles[0] == titles[1]:  # the first heading is the title
            titles = titles[1:]
        named = " > ".join(titles) or None
        found.append(_part(document, len(found) + 1, body.strip(), named))
    return found


def _part(document: Document, number: int, text: str, title: str | None) -> Document:
    try:
        return Document(
            id=f"{document.id}#{number}",
            text=text,
            title=title,
            url=document.url,
            date=document.date,
        )
    except ValidationError as error:
        raise InputError(
            f"the document '{document.id}' is cut into passages, which need ids of at most 200 "
            "characters; shorten its id"
        ) from error


def _under_headings(text: str) -> Iterator[tuple[int, str, str]]:
    """(level, heading, what stands under it); level 0 for what comes before the first heading.

    Lines of fenced code are no headings.
    """
    fences = [match.span() for match in _FENCED.finditer(text)]
    headings = [
        match
        for match in _HEADING.finditer(text)
        if not any(start <= match.start() < end for start, end in fences)
    ]
    yield 0, "", text[: headings[0].start()] if headings else text
    for number, match in enumerate(headings):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(text)
        yield len(match[1]), match[2], text[match.end() : end]


def _counts(texts: Sequence[str]) -> list[int]:
    return [len(_WORD.findall(text)) for text in texts]
