"""Questions of TruthfulQA with documents, in one setting each; and those that are left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pipelines.conflictscore.truthfulqa.result import Options, Setting, options_of
from pipelines.data.records import Document
from pipelines.data.truthfulqa import TruthfulQuestion
from pipelines.errors import InputError
from pipelines.retrieval.index import Index, Method


@dataclass(frozen=True)
class Item:
    """A question in a setting.

    Attributes:
        asked: The question.
        setting: Free-form, or binary choice.
        documents: At least one.
        options: Of a choice.
    """

    asked: TruthfulQuestion
    setting: Setting
    documents: tuple[Document, ...]
    options: Options | None = None

    @property
    def id(self) -> str:
        """`question/setting`."""
        return f"{self.asked.id}/{self.setting}"


class LeftOut(NamedTuple):
    """How many questions cannot be asked, or only in one setting.

    Attributes:
        questions: Those of the file that were looked at.
        undocumented: Without any document: left out.
        single: With documents and one option only: asked in free form alone.
    """

    questions: int
    undocumented: int
    single: int


def items_of(
    questions: Sequence[TruthfulQuestion],
    *,
    documents: int,
    index: Path | None = None,
    limit: int | None = None,
) -> tuple[list[Item], LeftOut]:
    """Each question with documents, in free form and, with two options, as a choice.

    Beside them stands what is left out.

    Args:
        questions: In the order of their file.
        documents: Most documents of a question, the first ones.
        index: Folder of an index that is searched for questions without documents.
        limit: Take only the first questions that have documents.

    Raises:
        InputError: The index cannot be used, or no question has documents.
    """
    searched = Index(index) if index is not None else None
    items: list[Item] = []
    looked_at = undocumented = single = taken = 0
    for question in questions:
        if limit is not None and taken >= limit:
            break
        looked_at += 1
        given = question.read_documents(documents)
        if not given and searched is not None:
            method: Method = "hybrid" if searched.about.model else "bm25"
            retrieved = searched.search(question.question, k=documents, method=method)
            given = tuple(hit.passage for hit in retrieved)
        if not given:
            undocumented += 1
            continue
        taken += 1
        items.append(Item(question, "free-form", given))
        if question.best_incorrect_answer is None:
            single += 1
        else:
            items.append(Item(question, "binary", given, options_of(question)))
    if not taken:
        raise InputError(
            "none of the questions has documents; name a file of them with --documents, or an "
            "index with --index"
        )
    return items, LeftOut(looked_at, undocumented, single)
