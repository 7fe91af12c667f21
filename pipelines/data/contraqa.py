"""Reads ContraQA (Pan et al. 2023, "Attacking Open-domain Question Answering").

Format of github.com/teacherpeterpan/ContraQA: `corpus/wiki_noisy_1M/corpus.json` has one object
per line with `id` and `contents`; an id like "1020959:::Super_Bowl_50-FAKE" marks a false
paragraph.
`corpus/wiki_clean_1M/queries.json` is one list of SQuAD development questions with `id`,
`question`, `answers` (with the list `text`) and, as in SQuAD, `title` and `context`.

An older release, `corpus/noisy_wiki_1M`, uses BEIR's layout: `corpus.jsonl` with `_id`,
`title` ("Super_Bowl_50:::FAKE_Human") and `text`, and `q_rel_dev.tsv`, which links questions with
paragraphs. Only its description is known: `queries.jsonl` is assumed to have `_id`, `text`, and the
answers in `metadata`.

Linked paragraphs are taken as they are. Neither the links nor the newer release say which true
paragraph a false one was made from. So a false paragraph belongs to the question's `context` if its
id without "-FAKE" is that of a true paragraph with this text; otherwise the false paragraph of the
same title (after ":::") that shares most words with it is taken, if they share at least `SHARED`.
This loader is tested on our own files only.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import content, read_records, record, stream
from pipelines.errors import InputError
from pipelines.text.words import words

FAKE = "-FAKE"

SHARED = 0.5
"""Lowest Jaccard index of words at which a false paragraph belongs to a true one."""


class Paragraph(BaseModel, frozen=True):
    """A paragraph of the corpus; its id is "NUMBER:::TITLE", with "-FAKE" if it is false.

    In the older release its heading is "TITLE:::TYPE", and a false one's type begins with "FAKE".
    """

    id: Text = Field(validation_alias=AliasChoices("id", "_id"))
    contents: Text = Field(validation_alias=AliasChoices("contents", "text"))
    heading: str = Field("", validation_alias="title")

    @property
    def fake(self) -> bool:
        """Whether it is a false paragraph."""
        return self.id.endswith(FAKE) or self.heading.partition(":::")[2].startswith("FAKE")

    @property
    def title(self) -> str:
        """Title of the page, with spaces."""
        own = self.heading.partition(":::")[0] or self.id.removesuffix(FAKE).partition(":::")[2]
        return own.replace("_", " ")


class Query(BaseModel, frozen=True):
    """A question with aliases of its answer and, as in SQuAD, the true paragraph.

    The paragraph is empty if links name it.
    """

    id: Text = Field(validation_alias=AliasChoices("id", "_id"))
    question: Text = Field(validation_alias=AliasChoices("question", "text"))
    context: str = ""
    title: str = ""
    answers: NonEmpty[Text] = Field(
        validation_alias=AliasChoices(
            AliasPath("answers", "text"),
            AliasPath("metadata", "answers", "text"),
            AliasPath("metadata", "answers"),
        )
    )


@dataclass(frozen=True)
class ContraQuestion:
    """A question of SQuAD, its true paragraph (`context`), and false ones made from it."""

    id: str
    question: str
    answers: tuple[str, ...]
    context: str
    title: str
    fakes: tuple[str, ...]


def read(queries: Path, corpus: Path, links: Path | None = None) -> list[ContraQuestion]:
    """The questions with at least one false paragraph, in the order of the queries.

    The noisy corpus has a million lines and is streamed. Raises as `read_records`, also if no
    question has a false paragraph.
    """
    asked = read_records(queries, Query, "ContraQA's queries.json")
    linked = read_links(links) if links else {}
    wanted = {name for names in linked.values() for name in names}
    contexts = {_squeezed(query.context) for query in asked}
    own_id: dict[str, str] = {}
    by_id: dict[str, Paragraph] = {}
    by_title: dict[str, list[Paragraph]] = defaultdict(list)
    kept: dict[str, Paragraph] = {}
    for entry in stream(corpus):
        paragraph = record(entry, Paragraph, "ContraQA's corpus.json")
        if paragraph.id in wanted:
            kept[paragraph.id] = paragraph
        if paragraph.fake:
            by_id[paragraph.id.removesuffix(FAKE)] = paragraph
            by_title[_squeezed(paragraph.title)].append(paragraph)
        elif (text := _squeezed(paragraph.contents)) in contexts:
            own_id[text] = paragraph.id
    found = []
    for query in asked:
        own = [kept[name] for name in linked.get(query.id, ()) if name in kept]
        true = next((each for each in own if not each.fake), None)
        context = query.context or (true.contents if true else "")
        title = (query.title or (true.title if true else "")).replace("_", " ")
        fakes = [each.contents for each in own if each.fake]
        if context and not fakes:
            name = true.id if true else own_id.get(_squeezed(context), "")
            candidates = by_title.get(_squeezed(title), [])
            fake = by_id.get(name) or _closest(context, candidates)
            fakes = [fake.contents] if fake else []
        if context and fakes:
            found.append(
                ContraQuestion(
                    id=query.id,
                    question=query.question,
                    answers=query.answers,
                    context=context,
                    title=title,
                    fakes=tuple(fakes),
                )
            )
    if not found:
        raise InputError(
            f"{corpus} has no false paragraph for the questions of {queries}; "
            "name corpus.json of ContraQA's noisy corpus"
        )
    return found


def read_links(path: Path) -> dict[str, list[str]]:
    """Question id -> paragraph ids, from `q_rel_dev.tsv`.

    A line has question, paragraph and score, separated by tabs; TREC's extra column after the
    question is allowed. A score of 0 links nothing. The first line may be a header.

    Raises:
        InputError: The file cannot be read, or a line has other columns.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(content(path).decode("utf-8", "replace").splitlines(), start=1):
        columns = line.split("\t")
        if not line.strip() or (number == 1 and not _is_number(columns[-1])):
            continue
        if len(columns) not in {3, 4} or not _is_number(columns[-1]):
            raise InputError(
                f"{path}:{number}: not question, paragraph and score with tabs between them; "
                "name q_rel_dev.tsv of ContraQA"
            )
        if float(columns[-1]) > 0:
            found[columns[0]].append(columns[-2])
    return dict(found)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", text) is not None


def overlap(first: str, second: str) -> float:
    """Jaccard index of the words of two texts, in [0, 1]."""
    left, right = ({*words(text)} for text in (first, second))
    return len(left & right) / len(left | right) if left | right else 0.0


def _closest(context: str, candidates: list[Paragraph]) -> Paragraph | None:
    best = max(candidates, key=lambda each: overlap(context, each.contents), default=None)
    return best if best is not None and overlap(context, best.contents) >= SHARED else None


def _squeezed(text: str) -> str:
    return " ".join(text.lower().split())
