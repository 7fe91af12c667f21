"""Reads ContraQA (Pan et al. 2023, "Attacking Open-domain Question Answering").

Format of github.com/teacherpeterpan/ContraQA: `corpus/wiki_noisy_1M/corpus.json` has one object
per line with `id` and `contents`; an id like "1020959:::Super_Bowl_50-FAKE" marks a false
paragraph.
`corpus/wiki_clean_1M/queries.json` is one list of SQuAD development questions with `id`,
`question`, `answers` (with the list `text`) and, as in SQuAD, `title` and `context`.

What the repository does not say is which false paragraph was made from which true one. So a false
paragraph belongs to the question's `context` if its id, "-FAKE" aside, is that of a true paragraph
with that text; else, among the false paragraphs of the same title (after ":::"), the one that
shares most words with it, if that is at least `SHARED`. This loader is tested on files of our own.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasPath, BaseModel, Field

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records, record, stream
from pipelines.errors import InputError

FAKE = "-FAKE"

SHARED = 0.5
"""Share of common words (Jaccard index) from which a false paragraph belongs to a true one."""


class Paragraph(BaseModel, frozen=True):
    """A paragraph of the corpus; its id is "NUMBER:::TITLE", with "-FAKE" where it is false."""

    id: Text
    contents: Text

    @property
    def fake(self) -> bool:
        """Whether it is a false paragraph."""
        return self.id.endswith(FAKE)

    @property
    def title(self) -> str:
        """Title of the page, with spaces."""
        return self.id.removesuffix(FAKE).partition(":::")[2].replace("_", " ")


class Query(BaseModel, frozen=True):
    """A question with the true paragraph and spellings of its answer, as in SQuAD."""

    id: Text
    question: Text
    context: Text
    title: str = ""
    answers: NonEmpty[Text] = Field(validation_alias=AliasPath("answers", "text"))


@dataclass(frozen=True)
class ContraQuestion:
    """A question of SQuAD, its true paragraph (`context`), and false ones made from it."""

    id: str
    question: str
    answers: tuple[str, ...]
    context: str
    title: str
    fakes: tuple[str, ...]


def read(queries: Path, corpus: Path) -> list[ContraQuestion]:
    """The questions that have at least one false paragraph, in the order of the queries.

    The noisy corpus is read line by line, since it has a million. Raises as `read_records`, also
    where no question has a false paragraph.
    """
    asked = read_records(queries, Query, "ContraQA's queries.json")
    contexts = {_squeezed(query.context) for query in asked}
    own_id: dict[str, str] = {}
    by_id: dict[str, Paragraph] = {}
    by_title: dict[str, list[Paragraph]] = defaultdict(list)
    for entry in stream(corpus):
        paragraph = record(entry, Paragraph, "ContraQA's corpus.json")
        if paragraph.fake:
            by_id[paragraph.id.removesuffix(FAKE)] = paragraph
            by_title[_squeezed(paragraph.title)].append(paragraph)
        elif (text := _squeezed(paragraph.contents)) in contexts:
            own_id[text] = paragraph.id
    found = []
    for query in asked:
        fake = by_id.get(own_id.get(_squeezed(query.context), "")) or _closest(
            query.context, by_title.get(_squeezed(query.title.replace("_", " ")), [])
        )
        if fake is not None:
            found.append(
                ContraQuestion(
                    id=query.id,
                    question=query.question,
                    answers=query.answers,
                    context=query.context,
                    title=query.title.replace("_", " "),
                    fakes=(fake.contents,),
                )
            )
    if not found:
        raise InputError(
            f"{corpus} has no false paragraph for the questions of {queries}; "
            "name corpus.json of ContraQA's noisy corpus"
        )
    return found


def overlap(first: str, second: str) -> float:
    """Jaccard index of the words of two texts, in [0, 1]."""
    left, right = (set(re.findall(r"\w+", text.lower())) for text in (first, second))
    return len(left & right) / len(left | right) if left | right else 0.0


def _closest(context: str, candidates: list[Paragraph]) -> Paragraph | None:
    best = max(candidates, key=lambda each: overlap(context, each.contents), default=None)
    return best if best is not None and overlap(context, best.contents) >= SHARED else None


def _squeezed(text: str) -> str:
    return " ".join(text.lower().split())
