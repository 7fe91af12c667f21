"""Builds a data set as RAMDocs was built (section 3), and its questions at levels (section 6).

Questions of AmbigDocs become questions of RAMDocs with passages to search (`build`). A question
keeps one to three of its right answers, each with one to three documents that state it;
up to two documents give a wrong answer, up to two none. Numbers are drawn evenly from these ranges,
as far as the section says. The release has fewer documents than that gives (appendix A), and the
paper does not say why.

What the section leaves open, or needs the web for, is decided here:

- Documents that support an answer are AmbigDocs' own first, then what BM25 finds (`supporting`).
- Misinformation is a further supporting document with its answer swapped for one of its kind
  (`kind`). Where retrieval finds none, it is a copy of one that is shown; these are counted. Two
  documents against one right answer give the same wrong answer.
- Noise is drawn from what the ambiguous question itself retrieves and what answers nothing.
- Documents stand as in the release: by answer, those that support it and then those that give a
  wrong one in its place; the noise comes last.
"""

import hashlib
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeVar, get_args

from pydantic import BaseModel

from pipelines.data import ambigdocs
from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.ramdocs import UNKNOWN, RamDocument, RamQuestion
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.files import check_writable, read_bytes, replace_text
from pipelines.madam_rag.data import GivenDocument, Kind, Question
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
"""Ranges of section 3: right answers of a question, documents of each, and further documents."""

RECORD = ".build.json"
"""Ends the name of the file beside the data that says what it was built from."""

ItemT = TypeVar("ItemT")


class Counts(BaseModel, frozen=True):
    """What was drawn, and what could not be made.

    Attributes:
        read: Questions of the AmbigDocs file.
        unanswered: Questions passed over, since none of their documents states its answer.
        questions: Questions that were drawn.
        drawn, made: Their documents by kind. Retrieval may find fewer than were drawn; no document
            gives a wrong answer where the right one stands in none word for word, or would stay in
            another spelling, or where AmbigDocs has no other answer of its kind.
        copies: Misinformation made of a copy of a document that is shown as well.
    """

    read: int
    unanswered: int
    questions: int
    drawn: dict[Kind, int]
    made: dict[Kind, int]
    copies: int


class Built(NamedTuple):
    """The questions in the order of AmbigDocs, and what is counted of them."""

    questions: tuple[RamQuestion, ...]
    counts: Counts


@dataclass(frozen=True)
class Stated:
    """A right answer, the entity that it is of, and AmbigDocs' documents that state it."""

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
    copies: int = 0

    def documents(self) -> list[RamDocument]:
        """Those for it, then those against it."""
        right = self.stated.answer
        shown = [RamDocument(text=text, type="correct", answer=right) for text in self.shown]
        return [*shown, *self.against]


AnswerKind = tuple[str, str]


@dataclass(frozen=True)
class _Given:
    """What questions are made from; `lent` has the answers of all questions by their kind."""

    index: Index
    lent: Mapping[AnswerKind, Iterable[str]]
    seed: int


class Source(BaseModel, frozen=True):
    """A file, or several, the SHA-256 of what was read of them, and how many entries that is."""

    name: str
    sha256: str
    entries: int


class Record(BaseModel, frozen=True):
    """What a data set was built from, and what came of it."""

    ambigdocs: Source
    passages: Source
    seed: int
    counts: Counts


def build_file(
    file: Path, searched: Sequence[Path], out: Path, *, most: int = QUESTIONS, seed: int = 0
) -> tuple[tuple[RamQuestion, ...], Record]:
    """Build a data set from a file of AmbigDocs, and write it with its record beside it.

    Files and folders of documents may be `searched`; without any it is AmbigDocs' own documents.

    Raises:
        InputError: A file cannot be read or written, `out` is one of them, or as `build`.
    """
    if out.resolve() in {path.resolve() for path in (file, *searched)}:
        raise InputError(f"--out {out} is a file that is read; name another")
    check_writable(out)
    questions, name = ambigdocs.read(file), file.name
    if searched:
        passages = cut(read_documents(searched), words=PASSAGE_WORDS, overlap=0)
        name = ", ".join(path.name for path in searched)
    else:
        passages = own_passages(questions)
    with tempfile.TemporaryDirectory(prefix="contested-ramdocs-") as folder:
        made = build(questions, indexes.build(passages, Path(folder)), most=most, seed=seed)
    digest = hashlib.sha256(read_bytes(file)).hexdigest()
    content = b"".join(
        passage.model_dump_json(exclude_none=True).encode() + b"\n" for passage in passages
    )
    record = Record(
        ambigdocs=Source(name=file.name, sha256=digest, entries=len(questions)),
        passages=Source(
            name=name, sha256=hashlib.sha256(content).hexdigest(), entries=len(passages)
        ),
        seed=seed,
        counts=made.counts,
    )
    replace_text(out, "".join(f"{question.model_dump_json()}\n" for question in made.questions))
    replace_text(out.with_name(out.name + RECORD), record.model_dump_json(indent=2) + "\n")
    return made.questions, record


def build(
    questions: Sequence[AmbiguousQuestion], index: Index, *, most: int = QUESTIONS, seed: int = 0
) -> Built:
    """Draw questions and their documents; a seed makes the same of the same questions and index.

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

    given, drawn = _Given(index, lent, seed), Counter[str]()
    made = tuple(_question(questions[place], right[place], given, drawn) for place in chosen)
    written = Counter(document.type for question in made for document in question.documents)
    counts = Counts(
        read=len(questions),
        unanswered=sum(not answers for answers in right.values()),
        questions=len(made),
        drawn={name: drawn[name] for name in get_args(Kind)},
        made={name: written[name] for name in get_args(Kind)},
        copies=drawn["copies"],
    )
    return Built(made, counts)


def _question(
    asked: AmbiguousQuestion, right: Sequence[Stated], given: _Given, drawn: Counter[str]
) -> RamQuestion:
    """One question; what is drawn for it, by kind, and copies that it takes are counted."""
    draw = random.Random(rank(given.seed, asked.question, "documents"))  # noqa: S311  no secret
    low, high = ANSWERS
    answers = []
    for answer in _some(right, draw.randint(low, min(high, len(right))), draw):
        texts, number = supporting(given.index, asked, answer), draw.randint(*SUPPORTING)
        answers.append(_Answer(answer, texts[:number], texts[number:]))
        drawn["correct"] += number

    number = draw.randint(*MISINFORMATION)
    drawn["misinfo"] += number
    for _ in range(number):
        tried = draw.sample(answers, len(answers))
        any(_misinform(asked, answer, answers, given) for answer in tried)  # the first that can be
    drawn["copies"] += sum(answer.copies for answer in answers)
    wrong = tuple(dict.fromkeys(d.answer for answer in answers for d in answer.against))

    number = draw.randint(*NOISE)
    drawn["noise"] += number
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
    """Add a document against an answer, made of a further one or a copy; False if none can be."""
    name, right = answer.stated.answer, [document.answer for document in asked.documents]
    if answer.against:
        wrong: str | None = answer.against[0].answer
    else:
        texts = [text for one in answers for text in (*one.shown, *one.further)]
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
            else:
                answer.copies += 1
            return True
    return False


def supporting(index: Index, question: AmbiguousQuestion, answer: Stated) -> list[str]:
    """Texts that support an answer: those of AmbigDocs, then what is found, the best first."""
    found = (hit.passage for hit in index.search(disambiguated(question, answer.entity)))
    passages = (passage.text for passage in found if supports(passage, question, answer))
    return _distinct([*answer.documents, *passages])


def silent(index: Index, question: AmbiguousQuestion, wrong: Iterable[str]) -> list[str]:
    """Texts that the ambiguous question finds and that answer nothing, the best first.

    They state no right answer of AmbigDocs' and none of the wrong ones, and are no document of the
    question's.
    """
    given = {squeezed(document.text) for document in question.documents}
    answers = [*(document.answer for document in question.documents), *wrong]
    found = (hit.passage.text for hit in index.search(question.question))
    return _distinct(
        text
        for text in found
        if squeezed(text) not in given and not any(says(text, answer) for answer in answers)
    )


def _distinct(texts: Iterable[str]) -> list[str]:
    """Each text once, in whatever white space it comes first."""
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(squeezed(text), text)
    return [*first.values()]


def own_passages(questions: Iterable[AmbiguousQuestion]) -> list[Document]:
    """The documents of all questions as passages to search, each text once."""
    passages: dict[str, Document] = {}
    for question in questions:
        for document in question.documents:
            name = f"p{len(passages) + 1}"
            passage = Document(id=name, text=document.text, title=document.title)
            passages.setdefault(squeezed(document.text), passage)
    return [*passages.values()]


def stated(question: AmbiguousQuestion) -> list[Stated]:
    """The right answers that stand in a document of theirs, each once, in their order.

    A text that AmbigDocs gives for two answers supports neither alone.
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
    """The question about one entity: its title in place of the ambiguous name, or behind it."""
    name = question.ambiguous_entity.strip()
    plain = re.compile(re.escape(name), re.IGNORECASE)
    if name and plain.search(question.question):
        return plain.sub(lambda _: entity, question.question, count=1)
    return f"{question.question} {entity}"


def supports(passage: Document, question: AmbiguousQuestion, answer: Stated) -> bool:
    """Whether a passage states an answer and no other of the question, and is about its entity.

    It is if it has the entity's title, or no document's, and names the entity with all words of
    its title.
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
    """The form of an answer, the same for answers that can stand in for each other.

    With a number the canonical form with "#" for each number: "#-#-#" for a day, "# people"; else
    "name" where every word but function words has a capital, or "words".
    """
    masked = _NUMBER.sub("#", canonical(answer))
    if "#" in masked:
        return masked
    words = [word for word in word_pattern().findall(answer) if word.lower() not in FUNCTION_WORDS]
    return "name" if words and all(word[0].isupper() for word in words) else "words"


def kind(question: AmbiguousQuestion, answer: str) -> AnswerKind:
    """What kind of answer it is: of its shape, to a question that begins so."""
    return form(question.question), shape(answer)


def _some(items: Sequence[ItemT], number: int, draw: random.Random) -> list[ItemT]:
    """So many of the items, or all that there are, drawn without replacement, in their order."""
    places = draw.sample(range(len(items)), min(number, len(items)))
    return [items[place] for place in sorted(places)]


# Questions of RAMDocs with a chosen number of documents for one answer (sections 6.2 and 6.3).
#
# Each question is shown at several levels, which differ in nothing but that number. The levels are
# nested: the documents of a level are among those of the next, in the same order. That order is
# drawn once per question, so that no answer always comes first.
#
# The paper does not publish its subsets nor the code that made them; the rules here are ours. What
# is drawn depends on the seed and the question's own text, not on its place in the file.

MOST = 200
"""Questions of each construction (sections 6.2 and 6.3)."""

SUPPORT_LEVELS = (1, 2, 3)
MISINFORMATION_LEVELS = (0, 1, 2, 3)

COPY = "-exchanged"
"""Ends the id of a document in which the answer was exchanged."""


class GoldAnswer(NamedTuple):
    """A gold answer's names with the documents that support it and no other answer, each once."""

    names: tuple[str, ...]
    documents: tuple[GivenDocument, ...]


class Case(NamedTuple):
    """A question that is eligible for a construction.

    Its fixed documents stand at every level, of the varied ones the first so many. Gold are the
    answers that either support; wrong is the one that misinformation promotes, if there is one.
    """

    question: Question
    fixed: tuple[GivenDocument, ...]
    varied: tuple[GivenDocument, ...]
    gold: tuple[tuple[str, ...], ...]
    wrong: tuple[str, ...] = ()


def support_imbalance(
    questions: Sequence[Question], *, most: int = MOST, seed: int = 0
) -> list[Question]:
    """Two right answers, one with a single document, the other with 1, 2 and 3 (section 6.2).

    A question is eligible where a gold answer has at least three supporting documents and another
    at least one. The first such answers and their first documents are taken. There is no
    misinformation and no noise, so no answer counts as wrong, and the two answers are the only gold
    ones: where the question has a third, no document of it is shown.

    Returns:
        `SUPPORT_LEVELS` of each question of RAMDocs, in the order given. Where more than `most` are
        eligible, the seed draws; it also draws the order of their documents.
    """
    return _at_levels(map(_imbalanced, questions), SUPPORT_LEVELS, most, seed)


def misinformation(
    questions: Sequence[Question], *, most: int = MOST, seed: int = 0
) -> list[Question]:
    """Two right answers with a document each, and 0 to 3 that promote a wrong one (section 6.3).

    The right answers are the first two gold ones that have a document; each is shown with its
    first. The wrong answer is the question's own first one that is no part of a gold answer, nor
    the other way round. Where there is none, gold answers of other questions of the same form
    ("What sport is X ...") are tried in an order that is drawn; no supporting document has them.

    The paper makes its documents by FaithEval's entity swap. Here they are, in this order:

    1. the release's own misinformation that gives this wrong answer, which was made by that swap;
    2. copies of the question's other supporting documents with their answer exchanged for it;
    3. copies of the two that are shown.

    A copy counts only where the document has its answer word for word and not the wrong one, and
    where no gold answer of the question is left in it. A question with fewer than three such
    documents is not eligible. The wrong answer counts as wrong at every level, at 0 as well. Since
    questions lend each other wrong answers, the whole file is better than a part of it.

    Returns:
        `MISINFORMATION_LEVELS` of each question, drawn and ordered as in `support_imbalance`; the
        seed also draws the answers of other questions.
    """
    lent: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        lent[form(question.question)].update(names[0] for names in question.gold)
    cases = (_misinformed(question, lent, seed) for question in questions)
    return _at_levels(cases, MISINFORMATION_LEVELS, most, seed)


def _at_levels(
    cases: Iterable[Case | None], levels: Sequence[int], most: int, seed: int
) -> list[Question]:
    """The eligible questions at each level; an id is that of the question, "/" and the level."""
    eligible = [case for case in cases if case is not None]
    ranks = [rank(seed, case.question.question, "drawn") for case in eligible]
    made = []
    for place in sorted(sorted(range(len(ranks)), key=ranks.__getitem__)[:most]):
        question, fixed, varied, gold, wrong = eligible[place]
        order = [*fixed, *varied]
        random.Random(rank(seed, question.question, "order")).shuffle(order)  # noqa: S311
        made += [
            Question(
                id=f"{question.id}/{level}",
                question=question.question,
                documents=tuple(d for d in order if d not in varied[level:]),
                gold=gold,
                wrong=wrong,
                level=level,
            )
            for level in levels
        ]
    return made


def supported(question: Question) -> list[GoldAnswer]:
    """The gold answers of a question that have a supporting document, in its order.

    A page that is released twice, once for each of two answers, supports neither alone.
    """
    supporting = [d for d in question.documents if d.kind == "correct" and d.answer is not None]
    answers_of: dict[str, set[str]] = defaultdict(set)
    for given in supporting:
        answers_of[squeezed(given.document.text)].add(canonical(given.answer or ""))
    answers = []
    for names in question.gold:
        alone = [
            given
            for given in supporting
            if answers_of[squeezed(given.document.text)] <= {*map(canonical, names)}
        ]
        if alone:
            answers.append(GoldAnswer(names, _once(alone)))
    return answers


def _imbalanced(question: Question) -> Case | None:
    answers = supported(question)
    many = next((a for a in answers if len(a.documents) >= max(SUPPORT_LEVELS)), None)
    one = next((a for a in answers if a is not many), None)
    if many is None or one is None:
        return None
    gold = tuple(answer.names for answer in answers if answer in (many, one))
    return Case(question, one.documents[:1], many.documents[: max(SUPPORT_LEVELS)], gold)


def _misinformed(question: Question, lent: Mapping[str, Iterable[str]], seed: int) -> Case | None:
    answers = supported(question)
    if len(answers) < 2:
        return None
    shown = tuple(answer.documents[0] for answer in answers[:2])
    others = [d for answer in answers for d in answer.documents if d not in shown]
    for wrong in _wrong_answers(question, lent, seed):
        # Documents that promote it: those of the release first.
        released = [
            given
            for given in question.documents
            if given.kind == "misinfo" and canonical(given.answer or "") == canonical(wrong)
        ]
        copies = (_copy(question, given, wrong) for given in (*others, *shown))
        varied = _once([*released, *(copy for copy in copies if copy)])
        if len(varied) >= max(MISINFORMATION_LEVELS):
            gold = tuple(answer.names for answer in answers[:2])
            return Case(question, shown, varied[: max(MISINFORMATION_LEVELS)], gold, (wrong,))
    return None


def _wrong_answers(
    question: Question, lent: Mapping[str, Iterable[str]], seed: int
) -> Iterator[str]:
    """Wrong answers in the order in which they are tried, none part of a gold one or around it."""
    gold = [name for names in question.gold for name in names]
    if released := [wrong for wrong in question.wrong if _apart(wrong, gold)]:
        yield released[0]
        return
    texts = [given.document.text for given in question.documents if given.kind == "correct"]
    asked = question.question
    yield from borrowed(lent.get(form(asked), ()), gold, texts, (seed, asked, ""))


def _copy(question: Question, source: GivenDocument, wrong: str) -> GivenDocument | None:
    """A supporting document that gives the wrong answer in place of its own."""
    if source.answer is None or says(source.document.text, wrong):
        return None
    gold = [name for names in question.gold for name in names]
    text = swapped(source.document.text, source.answer, wrong, gold)
    if text is None:
        return None
    document = Document(id=f"{source.document.id}{COPY}", text=text, title=source.document.title)
    return GivenDocument(document=document, kind="misinfo", answer=wrong)


def _once(documents: Iterable[GivenDocument]) -> tuple[GivenDocument, ...]:
    """Documents without those whose text came before."""
    first: dict[str, GivenDocument] = {}
    for given in documents:
        first.setdefault(squeezed(given.document.text), given)
    return tuple(first.values())


# What both share.


def borrowed(
    lent: Iterable[str], right: Sequence[str], texts: Sequence[str], draw: tuple[int, str, str]
) -> Iterator[str]:
    """Answers of other questions that are wrong here, in an order that is drawn.

    They are no part of a right one, nor the other way round, and stand in none of the texts. What
    the order hangs on is the seed, the question and a beginning.
    """
    seed, question, beginning = draw
    for answer in sorted(lent, key=lambda answer: rank(seed, question, f"{beginning}{answer}")):
        if _apart(answer, right) and not any(says(text, answer) for text in texts):
            yield answer


def _apart(answer: str, right: Iterable[str]) -> bool:
    return not any(says(answer, name) or says(name, answer) for name in right)


_QUANTITY = re.compile(r"([0-9](?:[0-9]|[.,](?=[0-9])){2,}) \D+")
"""A long number with its unit, "3,559 people"."""


def swapped(text: str, right: str, wrong: str, answers: Iterable[str]) -> str | None:
    """A document that gives a wrong answer wherever it gave the right one.

    Where both are a long number with its unit ("3,559 people") the number alone is replaced as
    well.

    Returns:
        The new document; None if the right answer does not stand in it word for word, or one of
        the right `answers` would stay, in any spelling.
    """
    if not right or not has_words(text, right):
        return None
    made = exchanged(text, right, wrong)
    old, new = _QUANTITY.fullmatch(right), _QUANTITY.fullmatch(wrong)
    if old and new:
        made = exchanged(made, old[1], new[1])
    return None if any(says(made, answer) for answer in answers) else made


def rank(seed: int, question: str, what: str) -> str:
    """What draws are ordered by: the seed and a question's own text, not its place in a file."""
    key = f"{seed}\n{question}\n{what}"
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def says(text: str, answer: str) -> bool:
    """Whether a text has an answer as whole words, as written or after normalisation."""
    normal = canonical(answer)
    return has_words(text, answer) or (bool(normal) and f" {normal} " in f" {canonical(text)} ")


def squeezed(text: str) -> str:
    """What texts share that differ in white space alone."""
    return " ".join(text.split())
