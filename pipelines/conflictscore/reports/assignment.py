"""What is to be written: a question with documents that disagree, and a prompting."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pipelines.conflictscore.reports.writing import Prompting
from pipelines.data import conflictingqa, jsonl
from pipelines.data.records import Document
from pipelines.data.released import content, entries
from pipelines.errors import InputError


@dataclass(frozen=True)
class Topic:
    """A question with its documents.

    Attributes:
        id: Unique within its data.
        question: What is asked.
        documents: At least two.
    """

    id: str
    question: str
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class Assignment:
    """A report to be written.

    Attributes:
        topic: What about.
        prompting: Under which prompt.
    """

    topic: Topic
    prompting: Prompting

    @property
    def id(self) -> str:
        """`topic/prompting`."""
        return f"{self.topic.id}/{self.prompting}"


class Topics(NamedTuple):
    """The questions of a file.

    Attributes:
        file: Its name.
        digest: SHA-256 of its content.
        topics: In the order of the file.
        passed_over: Questions that cannot be in conflict: without a question, with a single
            document, or, where stances are known, with one stance alone.
    """

    file: str
    digest: str
    topics: tuple[Topic, ...]
    passed_over: int


def read(path: Path) -> Topics:
    """The questions of a file in our input format, or of ConflictingQA as released.

    Of ConflictingQA, questions whose pages have both stances are taken: those that the paper's
    gold labels call in conflict. Responses of our input format are not looked at.

    Raises:
        InputError: The file cannot be read, is of another format, or has no such question.
    """
    first = entries(path)[0].value
    if isinstance(first, dict) and "search_query" in first:
        questions = conflictingqa.read(path)
        found = [
            Topic(str(number), each.question, _pages(each.pages))
            for number, each in enumerate(questions, start=1)
            if {page.stance for page in each.pages} == {"yes", "no"}
        ]
        count = len(questions)
    else:
        records = {each.group: each for each in jsonl.read(path).examples}
        found = [
            Topic(name, each.question, each.documents)
            for name, each in records.items()
            if each.question is not None and len(each.documents) > 1
        ]
        count = len(records)
    if not found:
        raise InputError(
            f"{path} has no question with documents that could disagree; each record needs a "
            "'question' and two documents or more"
        )
    digest = hashlib.sha256(content(path)).hexdigest()
    return Topics(path.name, digest, tuple(found), count - len(found))


def assignments(topics: Sequence[Topic], promptings: Sequence[Prompting]) -> list[Assignment]:
    """A report for each question and prompting, those of a question together."""
    return [Assignment(topic, each) for topic in topics for each in promptings]


def _pages(pages: Iterable[conflictingqa.WebPage]) -> tuple[Document, ...]:
    return tuple(
        Document(id=f"d{number}", text=page.text_window, title=page.title or None, url=page.url)
        for number, page in enumerate(pages, start=1)
    )
