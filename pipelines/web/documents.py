"""Reads the files that are dropped on the page: text, Markdown, HTML, PDF and JSON Lines."""

from pathlib import PurePosixPath

from pydantic import BaseModel, ValidationError

from pipelines.data.extraction import Started
from pipelines.data.jsonl import MARK
from pipelines.data.records import Document, Identifier, Text
from pipelines.data.released import entries_in, record
from pipelines.data.text import HTML, PDF, text_of
from pipelines.errors import InputError
from pipelines.retrieval.documents import MARKDOWN, TEXT

LINES = (".jsonl",)
READ = (*TEXT, *MARKDOWN, *HTML, *PDF, *LINES)
"""How the names of files end that are read."""


class GivenText(BaseModel, frozen=True, extra="forbid"):
    """A document as it was given: a name, unique among those of its job, and its text."""

    name: Identifier
    text: Text


def read(name: str, data: bytes, started: Started = lambda _: None) -> list[GivenText]:
    """The documents that a file of this name holds: one, or one per line of JSON Lines.

    `started` is as of `text_of`.

    Raises:
        InputError: It is of no kind that is read, is damaged, or has no text.
    """
    name = PurePosixPath(name.replace("\\", "/")).name
    if name.lower().endswith(LINES):
        return _lines(name, data.removeprefix(MARK))
    if not name.lower().endswith(READ):
        raise InputError(f"{name} is of no kind that is read; documents end in {', '.join(READ)}")
    text = text_of(name, data, started=started)
    try:
        return [GivenText(name=name, text=text)]
    except ValidationError as error:
        raise InputError(f"{name!r} cannot name a document; rename the file") from error


def _lines(name: str, data: bytes) -> list[GivenText]:
    entries = entries_in(data, name)
    found = [record(entry, Document, "documents, docs/conrag.md") for entry in entries]
    return [
        GivenText(name=each.id, text="\n\n".join(filter(None, [each.title, each.text])))
        for each in found
    ]
