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
    settings: Sequence[Setting],
    *,
    documents: int,
    index: Path | None = None,
    limit: int | None = None,
) -> tuple[list[Item], LeftOut]:
    """Each question in each setting, where it has documents; and what is left out.

    Args:
        questions: In the order of their file.
        settings: Free-form, binary choice, or both.
        documents: Most documents of a question, the first ones.
        index: Folder of an index that is searched for questions without documents.
        limit: Take only the first questions that have documents.

    Raises:
        InputError: The index cannot be used; no question has documents, or none has two options
            where choices alone are wanted.
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
        single += question.best_incorrect_answer is None
        for setting in settings:
            if setting == "free-form":
                items.append(Item(question, setting, given))
            elif question.best_incorrect_answer is not None:
                items.append(Item(question, setting, given, options_of(question)))
    if not taken:
        raise InputError(
            "none of the questions has documents; name a file of them with --documents, or an "
            "index with --index"
        )
    if not items:
        raise InputError(
            "no question has a second option ('Best Incorrect Answer'); name the release of 2025, "
            "or ask --setting free-form"
        )
    return items, LeftOut(looked_at, undocumented, single)
