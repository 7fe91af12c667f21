"""Reads FaithEval's inconsistent task (Ming et al. 2024, "FaithEval", arXiv 2410.03727).

Format of "Salesforce/FaithEval-inconsistent-v1.0", split `test`, on Hugging Face: 1,500 rows with
`qid`, `question`, `context` (one string in which each document begins with "Document:") and
`answers`. It is released as Parquet; JSON Lines made from it are read as well.

The release leaves two things open. It does not say which `answers` are spellings of one answer: all
count as names of the one right answer, because MADAM-RAG's paper (section 5.2) says that the set
has "only a single correct answer". It does not mark the misinformation either: any answer other
than these names counts as wrong.
"""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, field_validator

from pipelines.data.records import Text
from pipelines.data.released import Entry, cleaned, content, read_records, record
from pipelines.errors import InputError

MARK = re.compile(r"(?<!\w)Document:")
"""Start of every document."""

PARQUET = b"PAR1"
"""Start of a Parquet file."""


class FaithQuestion(BaseModel, frozen=True):
    """One question: its documents as one string (see `documents`), and the right answer's names."""

    qid: int | str | None = None
    question: Text
    context: Text
    answers: Annotated[tuple[str, ...], AfterValidator(cleaned), Field(min_length=1)]

    @field_validator("context")
    @classmethod
    def _has_a_document(cls, context: str) -> str:
        if not documents(context):
            raise ValueError("there is no document after 'Document:'")
        return context


def documents(context: str) -> tuple[str, ...]:
    """The documents of a context, in order, without their marks and without empty ones.

    Text before the first mark is a document, too, so a context without a mark is one document.
    """
    return tuple(text for part in MARK.split(context) if (text := part.strip()))


def read(path: Path) -> list[FaithQuestion]:
    """The questions of a FaithEval file, in its order; raises as `read_records`.

    It may be Parquet, JSON Lines or a JSON list, gzipped or not; the content decides.
    """
    raw = content(path)
    if not raw.startswith(PARQUET):
        return read_records(path, FaithQuestion, "FaithEval")
    rows = _rows(raw, path)
    if not rows:
        raise InputError(f"{path} has no row; name the released file")
    return [
        record(Entry(f"{path}: row {number}", row), FaithQuestion, "FaithEval")
        for number, row in enumerate(rows, start=1)
    ]


def _rows(raw: bytes, path: Path) -> list[dict[str, Any]]:
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(arrow.BufferReader(raw))
        return [dict(row) for row in table.to_pylist()]
    except (arrow.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{path} is a damaged Parquet file ({reason}); download it again"
        ) from error
