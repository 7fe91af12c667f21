"""Contested claims: a claim, documents, their known relations, and whether they conflict.

The unified format of ConflictBench (ConflictScore, section 4): one JSON object per line, written by
`contested lab conflictbench` or by a user; docs/conflict-detection.md describes it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from pydantic import BaseModel, Field, model_validator

from pipelines.data.records import Documents, Identifier, Text
from pipelines.data.released import read_records
from pipelines.errors import InputError
from pipelines.files import SAMPLES_FOLDER, replace_text, sha256_of
from pipelines.judge.judgement import Relation, conflicting

SAMPLES = SAMPLES_FOLDER / "conflict_detection.jsonl"
"""The bundled examples, made from the bundled samples' documents."""


class ContestedClaim(BaseModel, frozen=True, extra="forbid"):
    """One claim with its documents.

    It may state the answer to a question; examples that share a question are not independent.
    Relations, if known, are what the documents say of it, in order: SUPPORTS, CONTRADICTS or
    IRRELEVANT. There is a conflict if some support and some contradict it.
    """

    id: Identifier
    source: Identifier
    claim: Text
    question: Text | None = None
    answer: Text | None = None
    documents: Documents
    relations: tuple[Relation, ...] | None = None
    conflict: Annotated[bool, Field(strict=True)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.relations is None:
            return self
        if len(self.relations) != len(self.documents):
            raise ValueError(
                f"{len(self.relations)} 'relations' for {len(self.documents)} 'documents'; "
                "give one per document, or leave them out"
            )
        if Relation.INVALID in self.relations:
            raise ValueError("'relations' are SUPPORTS, CONTRADICTS or IRRELEVANT")
        if conflicting(self.relations) != self.conflict:
            said = "a conflict" if self.conflict else "no conflict"
            raise ValueError(f"'conflict' says {said}, its 'relations' say otherwise")
        return self

    @property
    def group(self) -> str:
        """The cluster of an example, for intervals: its question."""
        return self.question or self.claim


class Bench(NamedTuple):
    """The examples of a file in its order, its name, and the SHA-256 of its bytes."""

    name: str
    digest: str
    examples: tuple[ContestedClaim, ...]


def read(path: Path, *, limit: int | None = None) -> Bench:
    """Read examples in the unified format: JSON Lines, gzipped or not; the first `limit`.

    Raises:
        InputError: The file cannot be read, is empty, or has a bad entry; one line says where.
    """
    examples = read_records(path, ContestedClaim, "ConflictBench, docs/conflict-detection.md")
    seen: set[str] = set()
    for example in examples:
        if example.id in seen:
            raise InputError(f"{path}: the id '{example.id}' appears twice; make ids distinct")
        seen.add(example.id)
    return Bench(path.name, sha256_of(path), tuple(examples[:limit]))


def write(path: Path, examples: Sequence[ContestedClaim]) -> None:
    """Write examples in the unified format, in one step."""
    lines = (example.model_dump_json(exclude_none=True) for example in examples)
    replace_text(path, "".join(f"{line}\n" for line in lines))
