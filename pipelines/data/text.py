"""Reads a text from plain text, HTML or PDF."""

from pathlib import Path

from pipelines.data.extraction import Started, extracted
from pipelines.data.jsonl import MARK, utf8
from pipelines.errors import InputError
from pipelines.files import read_bytes

HTML, PDF = (".html", ".htm", ".xhtml"), (".pdf",)
"""File endings that need extraction; any other file is plain text."""

LARGEST = 1 << 26
"""Largest file, in bytes."""


def read_text(path: Path, *, strip: bool = True) -> str:
    """A file's text; `strip` removes the white space around it.

    Raises:
        InputError: The file cannot be read, or as `text_of`.
    """
    return text_of(str(path), read_bytes(path, LARGEST), strip=strip)


def text_of(
    name: str, data: bytes, *, strip: bool = True, started: Started = lambda _: None
) -> str:
    """The text in a file's bytes; the ending of its name decides the format.

    `started` is passed to `extracted`.

    Raises:
        InputError: It has no text, is damaged, is not UTF-8, or holds NUL characters, as binary
            files and UTF-16 do.
    """
    kind = name.lower()
    if kind.endswith(PDF):
        text = extracted(name, "pdf", data, started)
    else:
        text = utf8(data.removeprefix(MARK), f"{name} is ")
        if "\0" in text:
            raise InputError(
                f"{name} has a NUL character, so it is not a text file; save it as text in UTF-8"
            )
    if kind.endswith(HTML) and text.strip():
        text = extracted(name, "html", text.encode(), started)
    if not text.strip():
        scan = "has no text; a scan needs text recognition first"
        raise InputError(
            f"{name} {scan if kind.endswith(HTML + PDF) else 'is empty; give it text'}"
        )
    return text.strip() if strip else text
