"""Builds a data set as RAMDocs was built (MADAM-RAG, section 3).

Questions of AmbigDocs become questions of RAMDocs, with passages to search (`build`). A question
keeps one to three of its right answers, each with one to three documents that state it; up to two
documents give a wrong answer, and up to two give none. Numbers are drawn uniformly from these
ranges, as far as the section says. This gives more documents than the release has (appendix A); the
paper does not say why.

Details that the section leaves open, or that need the web, are decided here:

- Documents that support an answer are AmbigDocs' own first, then those that BM25 finds
  (`supporting`).
- Misinformation is another supporting document with its answer swapped for one of the same kind
  (`kind`). If there is no other, it is a copy of one that is shown. Two documents against the
  same right answer give the same wrong answer.
- Noise is drawn from the passages that the ambiguous question itself retrieves and that answer
  nothing.
- Documents are ordered as in the release: by answer, those that support it and then those that
  give a wrong one in its place; the noise comes last.
"""

import hashlib
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from pipelines.data import ambigdocs
from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.ramdocs import UNKNOWN, RamDocument, RamQuestion
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.files import check_writable, replace_text
from pipelines.metrics.answers import canonical
from pipelines.retrieval import index as indexes
from pipelines.retrieval.documents import cut, read_documents
from pipelines.retrieval.index import Index
from pipelines.supervision.questions import form
from pipelines.text.refusals import is_unknown
from pipelines.text.substitution import exchanged, has_words
from pipelines.text.words import FUNCTION_WORDS
from salience.words import word_pattern

QUESTIONS = 500
PASSAGE_WORDS = 100
"""Most words of a passage (section 3)."""
ANSWERS: Final = (1, 3)
SUPPORTING: Final = (1, 3)
MISINFORMATION: Final = (0, 2)
NOISE: Final = (0, 2)
"""Ranges of section 3: right answers per question, documents per right answer, and documents with
misinformation and with noise per question."""

ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class Stated:
    """A right answer, its entity, and the AmbigDocs documents that state it."""

    answer: str
    entity: str
    documents: tuple[str, ...]


@dataclass
class _Answer:
    """A right answer, the documents for it, and those made against it with one wrong answer."""

    stated: Stated
    shown: list[str]
    further: list[str]
    against: list[RamDocument] = field(default_factory=list)

    def documents(self) -> list[RamDocument]:
        """The documents for it, then those against it."""
        right = self.stated.answer
        shown = [RamDocument(text=text, type="correct", answer=right) for text in self.shown]
        return [*shown, *self.against]


AnswerKind = tuple[str, str]


@dataclass(frozen=True)
class _Given:
    """What questions are built from; `lent` has the answers of all questions by their kind."""

    index: Index
    lent: Mapping[AnswerKind, Iterable[str]]
    seed: int


def build_file(
    file: Path, searched: Sequence[Path], out: Path, *, most: int = QUESTIONS, seed: int = 0
) -> tuple[RamQuestion, ...]:
    """Build a data set from a file of AmbigDocs, and write it.

    `searched` names files and folders of documents to search; if empty, AmbigDocs' own documents
    are searched.

    Raises:
        InputError: A file cannot be read or written, `out` is one of them, or as `build`.
    """
    if out.resolve() in {path.resolve() for path in (file, *searched)}:
        raise InputError(f"--out {out} is also an input file; name another")
    check_writable(out)
    questions = ambigdocs.read(file)
    if searched:
        passages = cut(read_documents(searched), words=PASSAGE_WORDS, overlap=0)
    else:
        passages = own_passages(questions)
    with tempfile.TemporaryDirectory(prefix="contested-ramdocs-") as folder:
        made = build(questions, indexes.build(passages, Path(folder)), most=most, seed=seed)
    replace_text(out, "".join(f"{question.model_dump_json()}\n" for question in made))
    return made


def borrowed(
    lent: Iterable[str], right: Sequence[str], texts: Sequence[str], draw: tuple[int, str, str]
) -> Iterator[str]:
    """Answers of other questions that are wrong here, in a drawn order.

    None contains a right answer, is contained in one, or occurs in the texts. The order depends on
    `draw`: the seed, the question and a prefix.
    """
    seed, question, beginning = draw
    for answer in sorted(lent, key=lambda answer: rank(seed, question, f"{beginning}{answer}")):
        if apart(answer, right) and not any(says(text, answer) for text in texts):
            yield answer


def apart(answer: str, right: Iterable[str]) -> bool:
    """Whether an answer neither contains a right one nor is contained in one."""
    return not any(says(answer, name) or says(name, answer) for name in right)


_QUANTITY = re.compile(r"([0-9](?:[0-9]|[.,](?=[0-9])){2,}) \D+")
"""A long number with its unit, "3,559 people"."""


def swapped(text: str, right: str, wrong: str, answers: Iterable[str]) -> str | None:
    """A document that gives a wrong answer wherever it gave the right one.

    If both are a long number with its unit ("3,559 people"), the number alone is replaced as well.

    Returns:
        The new document; None if it does not contain the right answer word for word, or if one of
        the right `answers` would remain, in any spelling.
    """
    if not right or not has_words(text, right):
        return None
    made = exchanged(text, right, wrong)
    old, new = _QUANTITY.fullmatch(right), _QUANTITY.fullmatch(wrong)
    if old and new:
        made = exchanged(made, old[1], new[1])
    return None if any(says(made, answer) for answer in answers) else made


def rank(seed: int, question: str, what: str) -> str:
    """Sort key for draws, from the seed and a question's own text, not its place in a file."""
    key = f"{seed}\n{question}\n{what}"
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def says(text: str, answer: str) -> bool:
    """Whether a text contains an answer as whole words, as written or after normalisation."""
    normal = canonical(answer)
    return has_words(text, answer) or (bool(normal) and f" {normal} " in f" {canonical(text)} ")


def squeezed(text: str) -> str:
    """A key that is equal for texts that differ only in white space."""
    return " ".join(text.split())


def build(
    questions: Sequence[AmbiguousQuestion], index: Index, *, most: int = QUESTIONS, seed: int = 0
) -> tuple[RamQuestion, ...]:
    """Draw questions and their documents; the seed, questions and index decide the draw.

    Questions are in the order of AmbigDocs; those without a document that states its answer are
    skipped. Retrieval may find fewer documents than the number drawn. Documents with a wrong answer
    cannot be made if no document has the right one word for word, if it would remain in another
    spelling, or if AmbigDocs has no other answer of its kind.

    Raises:
        InputError: No question has a document that states its answer.
    """
    order = sorted(
        range(len(questions)), key=lambda n: (rank(seed, questions[n].question, "drawn"), n)
    )
    right = {place: stated(questions[place]) for place in order}
    chosen = sorted([place for place in order if right[place]][:most])
    if not chosen:
        raise InputError(
            "no question has a document with its answer in it; name a file of AmbigDocs"
        )
    lent: dict[AnswerKind, dict[str, None]] = defaultdict(dict)
    for question in questions:
        for document in question.documents:
            lent[kind(question, document.answer)][document.answer] = None

    given = _Given(index, lent, seed)
    return tuple(_question(questions[place], right[place], given) for place in chosen)


def _question(asked: AmbiguousQuestion, right: Sequence[Stated], given: _Given) -> RamQuestion:
    draw = random.Random(rank(given.seed, asked.question, "documents"))  # noqa: S311  no secret
    low, high = ANSWERS
    answers = []
    for answer in _some(right, draw.randint(low, min(high, len(right))), draw):
        texts, number = supporting(given.index, asked, answer), draw.randint(*SUPPORTING)
        answers.append(_Answer(answer, texts[:number], texts[number:]))

    for _ in range(draw.randint(*MISINFORMATION)):
        tried = draw.sample(answers, len(answers))
        any(_misinform(asked, answer, answers, given) for answer in tried)  # the first that works
    wrong = tuple(dict.fromkeys(d.answer for answer in answers for d in answer.against))

    number = draw.randint(*NOISE)
    noise = _some(silent(given.index, asked, wrong), number, draw)
    return RamQuestion(
        question=asked.question,
        documents=(
            *(document for answer in answers for document in answer.documents()),
            *(RamDocument(text=text, type="noise", answer=UNKNOWN) for text in noise),
        ),
        disambig_entity=tuple(answer.stated.entity for answer in answers),
        gold_answers=tuple(answer.stated.answer for answer in answers),
        wrong_answers=wrong,
    )


def _misinform(
    asked: AmbiguousQuestion, answer: _Answer, answers: Sequence[_Answer], given: _Given
) -> bool:
    """Add a document against an answer; False if none can be made.

    It is made from a supporting document that is not shown, or else from a copy of a shown one.
    """
    name, right = answer.stated.answer, [document.answer for document in asked.documents]
    if answer.against:
        wrong: str | None = answer.against[0].answer
    else:
        texts = [
            text for any_answer in answers for text in (*any_answer.shown, *any_answer.further)
        ]
        texts += [document.text for document in asked.documents]
        lent = given.lent.get(kind(asked, name), ())
        wrong = next(borrowed(lent, right, texts, (given.seed, asked.question, f"{name}\n")), None)
    if wrong is None:
        return False
    before = {document.text for document in answer.against}
    for source in (*answer.further, *answer.shown):
        text = swapped(source, name, wrong, right)
        if text is not None and text not in before:
            answer.against.append(RamDocument(text=text, type="misinfo", answer=wrong))
            if source in answer.further:
                answer.further.remove(source)
            return True
    return False


def supporting(index: Index, question: AmbiguousQuestion, answer: Stated) -> list[str]:
    """Texts that support an answer: those of AmbigDocs, then search results, best first."""
    passages = (hit.passage for hit in index.search(disambiguated(question, answer.entity)))
    texts = (passage.text for passage in passages if supports(passage, question, answer))
    return _distinct([*answer.documents, *texts])


def silent(index: Index, question: AmbiguousQuestion, wrong: Iterable[str]) -> list[str]:
    """Texts that the ambiguous question retrieves and that answer nothing, best first.

    They state none of AmbigDocs' right answers and none of the wrong ones, and are not documents of
    the question.
    """
    given = {squeezed(document.text) for document in question.documents}
    answers = [*(document.answer for document in question.documents), *wrong]
    texts = (hit.passage.text for hit in index.search(question.question))
    return _distinct(
        text
        for text in texts
        if squeezed(text) not in given and not any(says(text, answer) for answer in answers)
    )


def _distinct(texts: Iterable[str]) -> list[str]:
    """Texts without repetitions, which may differ in white space; the first one stays."""
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(squeezed(text), text)
    return [*first.values()]


def own_passages(questions: Iterable[AmbiguousQuestion]) -> list[Document]:
    """The documents of all questions as passages to search, without repeated texts."""
    passages: dict[str, Document] = {}
    for question in questions:
        for document in question.documents:
            name = f"p{len(passages) + 1}"
            passage = Document(id=name, text=document.text, title=document.title)
            passages.setdefault(squeezed(document.text), passage)
    return [*passages.values()]


def stated(question: AmbiguousQuestion) -> list[Stated]:
    """The right answers that occur in one of their documents, each once, in order.

    A text that AmbigDocs gives for two answers supports neither by itself.
    """
    answers: dict[str, set[str]] = defaultdict(set)
    for document in question.documents:
        answers[squeezed(document.text)].add(canonical(document.answer))
    right: dict[str, Stated] = {}
    for document in question.documents:
        name = canonical(document.answer)
        if not name or is_unknown(document.answer) or not says(document.text, document.answer):
            continue
        if len(answers[squeezed(document.text)]) > 1:
            continue
        first = right.get(name, Stated(document.answer, document.title, ()))
        texts = dict.fromkeys((*first.documents, document.text))
        right[name] = Stated(first.answer, first.entity, tuple(texts))
    return [*right.values()]


def disambiguated(question: AmbiguousQuestion, entity: str) -> str:
    """The question about one entity: its title replaces the ambiguous name, or follows it."""
    name = question.ambiguous_entity.strip()
    plain = re.compile(re.escape(name), re.IGNORECASE)
    if name and plain.search(question.question):
        return plain.sub(lambda _: entity, question.question, count=1)
    return f"{question.question} {entity}"


def supports(passage: Document, question: AmbiguousQuestion, answer: Stated) -> bool:
    """Whether a passage states an answer and no other of the question, and is about its entity.

    It is about the entity if it has the entity's title. If it has the title of no document, it must
    contain the entity's name, which is its title up to "(" or ",", and all words of its title.
    """
    right = canonical(answer.answer)
    others = [d.answer for d in question.documents if canonical(d.answer) != right]
    if not says(passage.text, answer.answer) or any(says(passage.text, other) for other in others):
        return False
    title, entity = canonical(passage.title or ""), canonical(answer.entity)
    if title in {canonical(document.title) for document in question.documents}:
        return title == entity
    name = re.split(r"[(,]", answer.entity)[0].strip() or answer.entity
    read = canonical(passage.as_read())
    return says(read, name) and {*entity.split()} <= {*read.split()}


_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def shape(answer: str) -> str:
    """The form of an answer, equal for answers that can replace each other.

    If the answer has a number, this is its canonical form with "#" for each number: "#-#-#" for a
    day, "# people". Otherwise it is "name" if all words but function words are capitalised, or
    "words".
    """
    masked = _NUMBER.sub("#", canonical(answer))
    if "#" in masked:
        return masked
    words = [word for word in word_pattern().findall(answer) if word.lower() not in FUNCTION_WORDS]
    return "name" if words and all(word[0].isupper() for word in words) else "words"


def kind(question: AmbiguousQuestion, answer: str) -> AnswerKind:
    """The kind of an answer: the form of its question, and its shape."""
    return form(question.question), shape(answer)


def _some(items: Sequence[ItemT], number: int, draw: random.Random) -> list[ItemT]:
    """`number` of the items, or all if fewer, drawn without replacement, in their order."""
    places = draw.sample(range(len(items)), min(number, len(items)))
    return [items[place] for place in sorted(places)]
