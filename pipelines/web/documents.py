"""Reads the files that are dropped on the page: text, Markdown, HTML, PDF and JSON Lines."""

import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ValidationError

from pipelines.data.records import Identifier, Text
from pipelines.data.text import decoded
from pipelines.errors import InputError
from pipelines.retrieval.documents import MARKDOWN, TEXT, read_documents

HTML, PDF, LINES = (".html", ".htm", ".xhtml"), (".pdf",), (".jsonl",)
READ = (*TEXT, *MARKDOWN, *HTML, *PDF, *LINES)
"""How the names of files end that are read."""

PDF_SECONDS = 30
"""After this long the reading of a PDF is given up: one can be made to take for ever."""

UNREAD = {"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "select"}
INLINE = {
    *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i", "ins"),
    *("kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var"),
}


class GivenText(BaseModel, frozen=True, extra="forbid"):
    """A document as it was given: a name, unique among those of its job, and its text."""

    name: Identifier
    text: Text


def read(name: str, data: bytes) -> list[GivenText]:
    """The documents that a file of this name holds: one, or one per line of JSON Lines.

    Raises:
        InputError: It is of no kind that is read, is damaged, or has no text.
    """
    name = PurePosixPath(name.replace("\\", "/")).name
    kind = name.lower()
    if kind.endswith(LINES):
        return _lines(name, data)
    if kind.endswith(PDF):
        text = _pdf(name, data)
    elif kind.endswith(HTML):
        text = html_text(decoded(data, name))
    elif kind.endswith((*MARKDOWN, *TEXT)):
        text = decoded(data, name)
    else:
        raise InputError(f"{name} is of no kind that is read; documents end in {', '.join(READ)}")
    try:
        return [GivenText(name=name, text=text)]
    except ValidationError as error:
        fault = error.errors()[0]
        if fault["loc"] == ("text",):
            raise InputError(
                f"{name} has no text; one that was scanned needs text recognition first"
            ) from error
        raise InputError(f"{name!r} cannot name a document; rename the file") from error


def html_text(page: str) -> str:
    """The text of an HTML page: its title and what it shows, blocks on lines of their own."""
    reader = _Shown()
    reader.feed(page)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Shown(HTMLParser):
    """Collects text; what is never shown as text is passed over."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._unread: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNREAD:
            self._unread.append(tag)
        self._between(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unread:
            while self._unread.pop() != tag:
                pass
        self._between(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._between(tag)

    def handle_data(self, data: str) -> None:
        if not self._unread:
            # White space of the source is no line of the page.
            self.pieces.append(re.sub(r"\s+", " ", data))

    def _between(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.pieces.append(" ")
        elif tag not in INLINE:
            self.pieces.append("\n" if tag in {"br", "li", "tr"} else "\n\n")


def _lines(name: str, data: bytes) -> list[GivenText]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        path.write_bytes(data)
        try:
            found = read_documents([path])
        except InputError as error:
            raise InputError(str(error).replace(str(path), name)) from error
    return [
        GivenText(name=each.id, text="\n\n".join(filter(None, [each.title, each.text])))
        for each in found
    ]


def _pdf(name: str, data: bytes) -> str:
    """The text of a PDF, read by a process of its own with little time and memory."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pipelines.web.pdf"],
            input=data,
            capture_output=True,
            timeout=PDF_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{name} takes longer than {PDF_SECONDS} seconds to read; save its text instead"
        ) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said else "it needs more memory than it may have"
        raise InputError(f"{name} cannot be read as PDF ({why}); save its text instead")
    return done.stdout.decode("utf-8", "replace").replace("\0", "")
