"""What retrieval finds for an ambiguous question: passages that support an answer, and silent ones.

The paper (section 3) retrieves by the Brave search engine, cuts pages into chunks of up to 100
words and keeps those "containing the correct answer". Offline BM25 searches passages that are at
hand, by the same queries, and what is kept has to pass the rules here.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.records import Document
from pipelines.madam_rag.constructions import says
from pipelines.metrics.short_answers import canonical
from pipelines.retrieval.index import Index
from pipelines.text.refusals import is_unknown

PASSAGE_WORDS = 100
"""Most words of a passage (section 3)."""


@dataclass(frozen=True)
class Stated:
    """A right answer, the entity that it is of, and AmbigDocs' documents that state it."""

    answer: str
    entity: str
    documents: tuple[str, ...]


@dataclass(frozen=True)
class Passages:
    """Passages to search; `taken` are keys of those that serve a question already."""

    index: Index
    taken: set[str] = field(default_factory=set)

    def found(self, query: str) -> list[Document]:
        """The best passages for a query that nothing has taken, each text once."""
        free: dict[str, Document] = {}
        for each in self.index.search(query):
            if (name := key(each.passage.text)) not in self.taken:
                free.setdefault(name, each.passage)
        return [*free.values()]

    def take(self, texts: Iterable[str]) -> None:
        """Keep texts from being found again."""
        self.taken.update(map(key, texts))


def key(text: str) -> str:
    """What texts share that differ in white space alone."""
    return " ".join(text.split())


def own_passages(questions: Iterable[AmbiguousQuestion]) -> list[Document]:
    """The documents of all questions as passages to search, each text once."""
    found: dict[str, Document] = {}
    for question in questions:
        for each in question.documents:
            passage = Document(id=f"p{len(found) + 1}", text=each.text, title=each.title)
            found.setdefault(key(each.text), passage)
    return [*found.values()]


def stated(question: AmbiguousQuestion) -> list[Stated]:
    """The right answers that stand in a document of theirs, each once, in their order.

    A text that AmbigDocs gives for two answers supports neither alone.
    """
    answers: dict[str, set[str]] = defaultdict(set)
    for each in question.documents:
        answers[key(each.text)].add(canonical(each.answer))
    found: dict[str, Stated] = {}
    for each in question.documents:
        name = canonical(each.answer)
        if not name or is_unknown(each.answer) or not says(each.text, each.answer):
            continue
        if len(answers[key(each.text)]) > 1:
            continue
        first = found.get(name, Stated(each.answer, each.title, ()))
        texts = dict.fromkeys((*first.documents, each.text))
        found[name] = Stated(first.answer, first.entity, tuple(texts))
    return [*found.values()]


def disambiguated(question: AmbiguousQuestion, entity: str) -> str:
    """The question about one entity: its title in place of the ambiguous name, or behind it."""
    name = question.ambiguous_entity.strip()
    plain = re.compile(re.escape(name), re.IGNORECASE)
    if name and plain.search(question.question):
        return plain.sub(lambda _: entity, question.question, count=1)
    return f"{question.question} {entity}"


def supporting(passages: Passages, question: AmbiguousQuestion, answer: Stated) -> list[str]:
    """Texts that support an answer: those of AmbigDocs, then what is found, the best first."""
    found = passages.found(disambiguated(question, answer.entity))
    return [*answer.documents, *(p.text for p in found if supports(p, question, answer))]


def supports(passage: Document, question: AmbiguousQuestion, answer: Stated) -> bool:
    """Whether a passage states an answer and no other of the question, and is about its entity."""
    own = canonical(answer.answer)
    others = [each.answer for each in question.documents if canonical(each.answer) != own]
    return (
        says(passage.text, answer.answer)
        and not any(says(passage.text, other) for other in others)
        and _about(passage, question, answer.entity)
    )


def silent(passages: Passages, question: AmbiguousQuestion, wrong: Iterable[str]) -> list[str]:
    """Texts that the ambiguous question finds and that answer nothing, the best first.

    They state no right answer of AmbigDocs' and none of the wrong ones, and are no document of the
    question's.
    """
    own = {key(each.text) for each in question.documents}
    answers = [*(each.answer for each in question.documents), *wrong]
    return [
        passage.text
        for passage in passages.found(question.question)
        if key(passage.text) not in own
        and not any(says(passage.text, answer) for answer in answers)
    ]


def _about(passage: Document, question: AmbiguousQuestion, entity: str) -> bool:
    """Whether a passage has the entity's title, or else its name and all words of its title."""
    title = canonical(passage.title or "")
    if title in {canonical(each.title) for each in question.documents}:
        return title == canonical(entity)
    name = re.split(r"[(,]", entity)[0].strip() or entity
    read = canonical(passage.as_read())
    return says(read, name) and {*canonical(entity).split()} <= {*read.split()}
