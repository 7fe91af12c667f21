"""Read a user's documents: Markdown, text, and JSON Lines, alone or in folders."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from pipelines.data.records import Document
from pipelines.data.released import read_records
from pipelines.data.text import HTML, PDF, read_text
from pipelines.errors import InputError
from pipelines.files import or_sample
from pipelines.retrieval.chunks import OVERLAP, WORDS, passages, sections
from pipelines.retrieval.index import in_index

MARKDOWN, TEXT, LINES = (".md", ".markdown"), (".txt",), (".jsonl", ".jsonl.gz")
READ = (*MARKDOWN, *TEXT, *LINES)
"""Extensions of the files that are read from a folder; others are skipped."""


def read_documents(paths: Sequence[Path]) -> list[Document]:
    """The documents of files and folders, sorted by name within a folder.

    A Markdown or text file is one document, named by its path within the folder. An HTML or PDF
    file is read only if it is named itself. A line of a JSONL file is a document with `id` and
    `text`, and optionally `title`, `url` and `date`. An index in a folder is skipped, because it
    holds copies of documents.

    Raises:
        InputError: A file is missing, empty or of another kind, a folder has no documents, a line
            is not a document, or two documents share an id.
    """
    found: dict[str, Document] = {}
    for path in paths:
        for document in _in(path):
            if document.id in found:
                raise InputError(
                    f"two documents are called {document.id!r}, the second is from {path}; "
                    "rename one, or index them separately"
                )
            found[document.id] = document
    return list(found.values())


def cut(
    documents: Sequence[Document], *, words: int = WORDS, overlap: int = OVERLAP
) -> list[Document]:
    """All passages of documents: Markdown split by headings, then all by length; see `passages`."""
    parts: list[Document] = []
    for document in documents:
        if document.id.endswith(MARKDOWN):
            own = sections(document)
            if len(own) == 1:  # a file with a single section keeps its name
                own = [own[0].model_copy(update={"id": document.id})]
            parts += own or [document]  # a document of headings only is kept as text
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
        raise InputError(f"{path} holds no document; documents end in {', '.join(kinds)}")
    return files


def _in(path: Path) -> Iterator[Document]:
    path = or_sample(path)
    for file in files_of(path):
        yield from _of(file, file.relative_to(path).as_posix() if file != path else path.name)


def _of(file: Path, name: str) -> Iterator[Document]:
    if file.name.endswith(LINES):
        yield from read_records(file, Document, "documents, docs/conrag.md")
    elif file.name.endswith((*MARKDOWN, *TEXT, *HTML, *PDF)):
        text = read_text(file)
        try:
            yield Document(id=name, text=text)
        except ValidationError as error:
            raise InputError(
                f"{file}: {name!r} cannot name a document ({error.errors()[0]['msg']}); rename it"
            ) from error
    elif not file.exists():
        raise InputError(f"{file} does not exist; check the path")
    else:
        kinds = ", ".join((*READ, *HTML, *PDF))
        raise InputError(f"{file} cannot be read; documents end in {kinds}")
