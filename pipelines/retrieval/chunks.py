"""Cuts documents into passages of whole sentences that keep their titles."""

import re
from collections.abc import Iterator, Sequence

from nli.windows import windows
from pipelines.data.records import Document

WORDS = 120
"""Words of a passage, at most. A sentence that has more is cut."""

OVERLAP = 1
"""Sentences that a passage shares with the one before it."""

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


def passages(document: Document, *, words: int = WORDS, overlap: int = OVERLAP) -> list[Document]:
    """The passages of a document, in order.

    Each has the document's title, URL and date, and an id made of the document's and a number:
    "report#3". A document that fits into one passage keeps its id.

    Args:
        document: Of any length.
        words: Most words of a passage, at least 1.
        overlap: Sentences that are repeated, at least 0.
    """
    spans = windows(document.text, _counts, words, overlap)
    texts = [document.text[start:end].strip() for start, end in spans]
    if len(texts) == 1:
        return [document]
    return [
        document.model_copy(update={"id": f"{document.id}#{number}", "text": text})
        for number, text in enumerate(texts, 1)
        if text
    ]


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
        # A first heading that repeats the title says nothing new.
        named = " > ".join(dict.fromkeys(titles)) or None
        update = {"text": body.strip(), "title": named, "id": f"{document.id}/{len(found) + 1}"}
        found.append(document.model_copy(update=update))
    return found


def _under_headings(text: str) -> Iterator[tuple[int, str, str]]:
    """(level, heading, what stands under it); level 0 for what comes before the first heading.

    Lines of fenced code are no headings.
    """
    fences = [match.span() for match in re.finditer(r"^```.*?(?:^```|\Z)", text, re.M | re.S)]
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
    return [len(text.split()) for text in texts]
