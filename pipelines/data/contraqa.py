"""Reads ContraQA (Pan et al. 2023, "Attacking Open-domain Question Answering").

Format of github.com/teacherpeterpan/ContraQA: `corpus/wiki_noisy_1M/corpus.json` has one object
per line with `id` and `contents`; an id like "1020959:::Super_Bowl_50-FAKE" marks a false
paragraph.
`corpus/wiki_clean_1M/queries.json` is one list of SQuAD development questions with `id`,
`question`, `answers` (with the list `text`) and, as in SQuAD, `title` and `context`.

The release does not say which true paragraph a false one was made from. So a question gets the
false paragraph whose id, without "-FAKE", is that of a true paragraph with the text of `context`.
If there is no such paragraph, it gets the one with the same title (after ":::") that overlaps most
with `context`, by at least `SHARED`. This loader has only been tested on files we wrote ourselves.
"""

from collections import defaultdict
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, AliasPath, BaseModel, Field

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records, record, stream
from pipelines.errors import InputError
from pipelines.text.words import words

FAKE = "-FAKE"

SHARED = 0.5
"""Lowest Jaccard index of words at which a false paragraph is matched to a true one."""


class Paragraph(BaseModel, frozen=True):
    """A paragraph of the corpus; its id is "NUMBER:::TITLE", with "-FAKE" if it is false."""

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


class ContraQuestion(BaseModel, frozen=True):
    """A question of SQuAD, its true paragraph (`context`), and a false one made from it."""

    id: Text
    question: Text
    answers: NonEmpty[Text] = Field(validation_alias=AliasPath("answers", "text"))
    context: Text
    title: Annotated[str, AfterValidator(lambda title: title.replace("_", " "))] = ""
    fake: str = ""


def read(queries: Path, corpus: Path) -> list[ContraQuestion]:
    """The questions that have a false paragraph, in the order of the queries.

    The noisy corpus has a million lines and is streamed. Raises as `read_records`, also if no
    question has a false paragraph.
    """
    asked = read_records(queries, ContraQuestion, "ContraQA's queries.json")
    contexts = {_squeezed(query.context) for query in asked}
    true_ids: dict[str, str] = {}
    by_id: dict[str, Paragraph] = {}
    by_title: dict[str, list[Paragraph]] = defaultdict(list)
    for entry in stream(corpus):
        paragraph = record(entry, Paragraph, "ContraQA's corpus.json")
        if paragraph.fake:
            by_id[paragraph.id.removesuffix(FAKE)] = paragraph
            by_title[_squeezed(paragraph.title)].append(paragraph)
        elif (text := _squeezed(paragraph.contents)) in contexts:
            true_ids[text] = paragraph.id
    questions = []
    for query in asked:
        fake = by_id.get(true_ids.get(_squeezed(query.context), ""))
        fake = fake or _closest(query.context, by_title.get(_squeezed(query.title), []))
        if fake:
            questions.append(query.model_copy(update={"fake": fake.contents}))
    if not questions:
        raise InputError(
            f"{corpus} has no false paragraph for the questions of {queries}; "
            "name corpus.json of ContraQA's noisy corpus"
        )
    return questions


def overlap(first: str, second: str) -> float:
    """Jaccard index of the words of two texts, in [0, 1]."""
    left, right = ({*words(text)} for text in (first, second))
    return len(left & right) / len(left | right) if left | right else 0.0


def _closest(context: str, candidates: list[Paragraph]) -> Paragraph | None:
    best = max(candidates, key=lambda paragraph: overlap(context, paragraph.contents), default=None)
    return best if best is not None and overlap(context, best.contents) >= SHARED else None


def _squeezed(text: str) -> str:
    return " ".join(text.lower().split())
