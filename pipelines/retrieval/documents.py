"""Read a user's documents: Markdown, text, and JSON Lines, alone or in folders."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from nli.windows import windows
from pipelines.data.records import Document
from pipelines.data.released import read_records
from pipelines.data.text import HTML, PDF, read_text
from pipelines.errors import InputError
from pipelines.files import or_sample
from pipelines.retrieval.index import in_index
from serving.errors import in_our_words

MARKDOWN, TEXT, LINES = (".md", ".markdown"), (".txt",), (".jsonl", ".jsonl.gz")
READ = (*MARKDOWN, *TEXT, *LINES)
"""Extensions of the files that are read from a folder; others are skipped."""


def read_documents(paths: Sequence[Path]) -> list[Document]:
    """The documents of files and folders, sorted by name within a folder.

    A Markdown or text file is one document, named by its path within the folder. An HTML or PDF
    file is read only if it is named explicitly. A line of a JSONL file is a document with `id` and
    `text`, and optionally `title`, `url` and `date`. An index in a folder is skipped, because it
    holds copies of documents.

    Raises:
        InputError: A file is missing, empty or of another kind, a folder has no documents, a line
            is not a document, or two documents share an id.
    """
    by_id: dict[str, Document] = {}
    for path in paths:
        for document in _in(path):
            if document.id in by_id:
                raise InputError(
                    f"two documents have the id {document.id!r}, the second in {path}; "
                    "rename one, or index them separately"
                )
            by_id[document.id] = document
    return list(by_id.values())


WORDS = 120
"""Maximum words of a passage; longer sentences are split."""

OVERLAP = 1
"""Sentences that a passage repeats from the previous one."""

HEADING = 200
"""Maximum characters of a heading; longer lines are text, since every passage repeats its title."""

_NUMBERS = re.compile(r"(?:#\d+)+\Z")
# Fenced code is matched as a whole, so no line of it counts as a heading. Nothing is scanned twice:
# documents may have lines of a million characters.
_BLOCK = re.compile(
    r"^(?P<fence>```|~~~)[\s\S]*?(?:^(?P=fence)|\Z)|^(?P<level>#{1,6})[ \t](?P<heading>.*)$",
    re.MULTILINE,
)
# In Chinese and Japanese, every character counts as one word. Elsewhere, a word has at most 50
# characters, for text without spaces, such as Thai or embedded data.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]{1,50}")


def passages(document: Document, *, words: int = WORDS, overlap: int = OVERLAP) -> list[Document]:
    """The passages of a document, in order.

    A passage has at most `words` words, and begins with the last `overlap` sentences of the
    previous one. It keeps the document's title, URL and date; its id is the document's id with a
    number: "report#3" (see `document_of`). A document that fits into one passage keeps its id.

    Raises:
        InputError: The id is too long to append a number.
    """
    spans = windows(document.text, _counts, words, overlap)
    texts = [document.text[start:end].strip() for start, end in spans]
    if len(texts) == 1:
        return [document]
    return [_part(document, number, text, document.title) for number, text in enumerate(texts, 1)]


def document_of(passage: str) -> str:
    """The document id of a passage: "report" for "report#3" or "report#2#1"."""
    return _NUMBERS.sub("", passage) or passage


def sections(document: Document) -> list[Document]:
    """The sections of a Markdown document, titled by the path of their headings.

    The text under a heading becomes a document with a title such as "Dams > Aldham > History".
    Empty sections are dropped.
    """
    title = [document.title] if document.title else []
    path: list[tuple[int, str]] = []
    parts: list[Document] = []
    for level, heading, body in _under_headings(document.text):
        if level:
            path = [*((n, text) for n, text in path if n < level), (level, heading)]
        if not body.strip():
            continue
        titles = [*title, *(text for _, text in path)]
        if len(titles) > 1 and titles[0] == titles[1]:  # the first heading is the title
            titles = titles[1:]
        named = " > ".join(titles) or None
        parts.append(_part(document, len(parts) + 1, body.strip(), named))
    return parts


def _part(document: Document, number: int, text: str, title: str | None) -> Document:
    name = f"{document.id}#{number}"
    try:
        return Document(id=name, text=text, title=title, url=document.url, date=document.date)
    except ValidationError as error:
        raise InputError(
            f"the document {document.id!r} is cut into passages, which need ids of at most 200 "
            "characters; shorten its id"
        ) from error


def _under_headings(text: str) -> Iterator[tuple[int, str, str]]:
    """(level, heading, text under it); level 0 for text before the first heading.

    Lines of fenced code are not headings.
    """
    level, heading, start = 0, "", 0
    for match in _BLOCK.finditer(text):
        title = _heading(match["heading"] or "")
        if 0 < len(title) <= HEADING:
            yield level, heading, text[start : match.start()]
            level, heading, start = len(match["level"]), title, match.end()
    yield level, heading, text[start:]


def _heading(line: str) -> str:
    """A heading without surrounding whitespace and closing hashes."""
    bare = line.strip()
    opened = bare.rstrip("#")
    return opened.rstrip() if opened[-1:].isspace() else bare


def _counts(texts: Sequence[str]) -> list[int]:
    return [len(_WORD.findall(text)) for text in texts]


def cut(
    documents: Sequence[Document], *, words: int = WORDS, overlap: int = OVERLAP
) -> list[Document]:
    """All passages of documents: Markdown split by headings, then all by length; see `passages`."""
    parts: list[Document] = []
    for document in documents:
        if document.id.endswith(MARKDOWN):
            pieces = sections(document)
            if len(pieces) == 1:  # a file with a single section keeps its name
                pieces = [pieces[0].model_copy(update={"id": document.id})]
            parts += pieces or [document]  # a document of headings only is kept as text
        else:
            parts.append(document)
    return [passage for part in parts for passage in passages(part, words=words, overlap=overlap)]


def files_of(path: Path, kinds: tuple[str, ...] = READ) -> list[Path]:
    """The file, or a folder's files with these endings, by name; InputError if there are none."""
    if not path.is_dir():
        return [path]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.name.endswith(kinds) and file.is_file() and not in_index(file)
    )
    if not files:
        raise InputError(f"{path} contains no documents; their names end in {', '.join(kinds)}")
    return files


def _in(path: Path) -> Iterator[Document]:
    path = or_sample(path)
    for file in files_of(path):
        yield from _of(file, file.relative_to(path).as_posix() if file != path else path.name)


def _of(file: Path, name: str) -> Iterator[Document]:
    if file.name.endswith(LINES):
        yield from read_records(file, Document, "documents, docs/conrag.md")
    elif file.name.endswith((*MARKDOWN, *TEXT, *HTML, *PDF)):
        yield document_in(file, name)
    elif not file.exists():
        raise InputError(f"{file} does not exist; check the path")
    else:
        kinds = ", ".join((*READ, *HTML, *PDF))
        raise InputError(f"{file} cannot be read; names of documents end in {kinds}")


def document_in(file: Path, name: str) -> Document:
    """A file's text as a document; InputError if it cannot be read, or cannot have this name."""
    text = read_text(file)
    try:
        return Document(id=name, text=text)
    except ValidationError as error:
        raise InputError(
            f"{file}: {name!r} cannot name a document "
            f"({in_our_words(error.errors()[0]['msg'])}); rename the file"
        ) from error
