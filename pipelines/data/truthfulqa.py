"""Reads TruthfulQA (Lin et al. 2022), and documents for its questions.

- `TruthfulQA.csv` of github.com/sylinrl/TruthfulQA: the columns `Type`, `Category`, `Question`,
  `Best Answer`, `Correct Answers`, `Incorrect Answers` (both with "; " between answers), `Source`,
  and, since January 2025, `Best Incorrect Answer`, which makes a question a choice of two. If a
  file lacks the lists, only the best answers are known.
- Our JSON Lines, in which questions come with their documents, like the bundled ones.
- Documents for the CSV's questions, in separate JSON Lines: `question`, and `documents`, each
  with `url`, `title` and `text`.
"""

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from pipelines.data.jsonl import utf8
from pipelines.data.records import Document, Label, Text, as_document
from pipelines.data.released import Entry, content, entries, record
from pipelines.errors import InputError
from pipelines.files import SAMPLES_FOLDER, refuse_pipe

NAME = "TruthfulQA"

SAMPLES = SAMPLES_FOLDER / "misconceptions.jsonl"
"""Bundled questions: common misconceptions, with documents that repeat and correct them."""


def _numbered(given: object) -> object:
    """Documents with the ids "d1", "d2" and so on, whatever a file calls them."""
    if not isinstance(given, list | tuple):
        return given
    return tuple(
        as_document(
            document | {"id": f"d{number}"} if isinstance(document, dict) else document, number
        )
        for number, document in enumerate(given, start=1)
    )


Found = Annotated[tuple[Document, ...], BeforeValidator(_numbered)]
"""Documents found for a question; their ids follow from their places."""


class TruthfulQuestion(BaseModel, frozen=True):
    """A question that many people would answer wrongly.

    Attributes:
        id: Unique within its file; by default "q" and the number in the file, from 1.
        question: The question.
        best_answer: The truest answer.
        best_incorrect_answer: The misconception; None if the file does not give it.
        correct_answers: All known to be true, including the best.
        incorrect_answers: All known to be false, including the best.
        category: Kind of misconception.
        documents: Documents found for the question; may be empty.
    """

    id: Text
    question: Text
    best_answer: Text
    best_incorrect_answer: Text | None = None
    correct_answers: tuple[Text, ...] = ()
    incorrect_answers: tuple[Text, ...] = ()
    category: Label = ""
    documents: Found = ()

    @model_validator(mode="before")
    @classmethod
    def _with_best(cls, given: dict[str, object]) -> dict[str, object]:
        """Add the best answers to the lists, without repetitions."""
        made = dict(given)
        for best, field in (
            ("best_answer", "correct_answers"),
            ("best_incorrect_answer", "incorrect_answers"),
        ):
            listed = given.get(field) or ()
            first = [given[best]] if isinstance(given.get(best), str) else []
            # Leave a value that is not text for the field to refuse.
            if isinstance(listed, list | tuple) and all(
                isinstance(answer, str) for answer in listed
            ):
                made[field] = tuple(dict.fromkeys([*first, *listed]))
        return made


class DocumentsOf(BaseModel):
    """A line of a file of documents."""

    question: Text
    documents: Annotated[Found, Field(min_length=1)]


def read(path: Path, documents: Path | None = None) -> list[TruthfulQuestion]:
    """The questions of a file, in file order, with their documents.

    Args:
        path: The CSV, or our JSON Lines.
        documents: JSON Lines with documents, matched by the question's words; other questions keep
            theirs.

    Raises:
        InputError: A file cannot be read, lacks a column or a field, or repeats a question or an
            id; or `documents` matches no question.
    """
    raw = content(path)
    rows = list(_rows(raw, path) if raw.lstrip()[:1] not in (b"{", b"[") else _lines(path))
    _refuse_twice(path, rows)
    questions = [question for _, question in rows]
    return questions if documents is None else _with_documents(questions, documents)


def digest(path: Path, documents: Path | None = None) -> str:
    """SHA-256 of a file of questions, together with its file of documents if given."""
    digest = hashlib.sha256()
    for file in filter(None, (path, documents)):
        refuse_pipe(file)
        digest.update(content(file))
    return digest.hexdigest()


def _rows(raw: bytes, path: Path) -> Iterator[tuple[str, TruthfulQuestion]]:
    reader = csv.DictReader(io.StringIO(utf8(raw, f"{path}: "), newline=""), strict=True)
    columns = reader.fieldnames or ()
    if missing := [name for name in ("Question", "Best Answer") if name not in columns]:
        raise InputError(
            f"{path}:1: the column '{missing[0]}' is missing; name a file in the format of {NAME}"
        )
    try:
        for number, row in enumerate(reader, start=1):
            where = f"{path}:{reader.line_num}"
            value = {
                "id": f"q{number}",
                "question": row["Question"] or "",
                "best_answer": row["Best Answer"] or "",
                "best_incorrect_answer": (row.get("Best Incorrect Answer") or "").strip() or None,
                "correct_answers": _listed(row.get("Correct Answers")),
                "incorrect_answers": _listed(row.get("Incorrect Answers")),
                "category": row.get("Category") or "",
            }
            yield where, record(Entry(where, value), TruthfulQuestion, NAME)
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not valid CSV: {error}") from error


def _listed(cell: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (cell or "").split(";") if part.strip())


def _lines(path: Path) -> Iterator[tuple[str, TruthfulQuestion]]:
    for entry in entries(path):
        yield entry.where, record(entry, TruthfulQuestion, NAME)


def _refuse_twice(path: Path, rows: Sequence[tuple[str, TruthfulQuestion]]) -> None:
    if not rows:
        raise InputError(f"{path} has no question; name a file in the format of {NAME}")
    first: dict[str, str] = {}
    for where, question in rows:
        for name in (f"the id '{question.id}'", f"the question '{question.question}'"):
            if name in first:
                raise InputError(f"{where}: {name} is already at {first[name]}; keep one")
            first[name] = where


def _with_documents(questions: Sequence[TruthfulQuestion], path: Path) -> list[TruthfulQuestion]:
    kept: dict[str, tuple[Document, ...]] = {}
    for entry in entries(path):
        line = record(entry, DocumentsOf, "documents by question")
        name = _words(line.question)
        if name in kept:
            raise InputError(
                f"{entry.where}: '{line.question}' already has documents; keep one of the lines"
            )
        kept[name] = line.documents
    if not any(_words(question.question) in kept for question in questions):
        raise InputError(f"{path} has no documents for these questions; name their own file")
    return [
        question.model_copy(
            update={"documents": kept.get(_words(question.question), question.documents)}
        )
        for question in questions
    ]


def _words(question: str) -> str:
    return " ".join(question.casefold().split())
