"""Builds a data set as RAMDocs was built (section 3), from AmbigDocs and passages to search.

A question keeps one to three of its right answers, each with one to three documents that state it;
up to two documents give a wrong answer, up to two none. Numbers are drawn evenly from these ranges,
as far as the section says. The release has fewer documents than that gives (appendix A), and the
paper does not say why.

What the section leaves open, or needs the web for, is decided here:

- Documents that support an answer are AmbigDocs' own first, then what BM25 finds (`retrieved`).
- Misinformation is a further supporting document with its answer swapped (`swap`). Where retrieval
  finds none, it is a copy of one that is shown; these are counted. Two documents against one right
  answer give the same wrong answer.
- Noise is drawn from what the ambiguous question itself retrieves and what answers nothing.
- No passage serves two questions, or two answers.
- Documents stand as in the release: by answer, those that support it and then those that give a
  wrong one in its place; the noise comes last.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel

from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.ramdocs import UNKNOWN, RamDocument, RamQuestion
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.madam_rag.constructions import rank, says
from pipelines.madam_rag.data import RELEASED, statistics
from pipelines.metrics.answers import canonical
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Column, Measure, Table
from pipelines.retrieval.index import Index
from pipelines.supervision.questions import form
from pipelines.text.days import ISO_DAY, MONTHS
from pipelines.text.refusals import is_unknown
from pipelines.text.substitution import exchanged, has_words
from pipelines.text.words import FUNCTION_WORDS
from salience.words import word_pattern

NAME, WORDS = "name", "words"
"""Shapes of answers without a number."""

_MONTH = re.compile(rf"(?:{'|'.join(MONTHS)}) [0-9]{{4}}")
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_WRITTEN = re.compile(r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?")
_TELLING = frozenset({"who", "whose", "whom", "where"})
"""Question words that tell what kind of name is asked for."""


def shape(answer: str) -> str:
    """The form of an answer, the same for answers that can stand in for each other.

    "day", "month" (with its year) and "year"; else with a number the canonical form with "#" for
    each number, "# people"; else "name" where every word but function words has a capital, or
    "words".
    """
    known = canonical(answer)
    if re.fullmatch(ISO_DAY, known):
        return "day"
    if _MONTH.fullmatch(known):
        return "month"
    if _YEAR.fullmatch(answer.strip()):  # as written: 1,500 is a number
        return "year"
    if _NUMBER.search(known):
        return _NUMBER.sub("#", known)
    words = [word for word in word_pattern().findall(answer) if word.lower() not in FUNCTION_WORDS]
    return NAME if words and all(word[0].isupper() for word in words) else WORDS


class WrongAnswers:
    """The answers of all questions, as wrong answers for each other."""

    def __init__(self, questions: Iterable[AmbiguousQuestion]) -> None:
        self._by: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
        for question in questions:
            for each in question.documents:
                for kind in _kinds(question, each.answer):
                    self._by[kind][each.answer] = None

    def of_kind(self, question: AmbiguousQuestion, answer: str) -> Iterator[Sequence[str]]:
        """Answers of the kind of one, in groups, the nearest kind first."""
        for kind in _kinds(question, answer):
            yield [*self._by.get(kind, ())]


def _kinds(question: AmbiguousQuestion, answer: str) -> Iterator[tuple[str, ...]]:
    """What an answer is, the nearest first.

    The answer to a question that differs in the ambiguous name alone ("What sport is X associated
    with?"). Then with a number or a capital, to one of the same form ("What sport is ..."), and of
    the same shape to any question, if it has a number, or to one with the same "who" or "where".
    """
    asked = question.question.casefold()
    own = shape(answer)
    numeric = own not in {NAME, WORDS}
    name = question.ambiguous_entity.strip().casefold()
    if name and name in asked:
        yield "template", asked.replace(name, "\0"), own if numeric else ""
    if own != WORDS:
        yield "form", form(asked), own
    first = asked.split()[0]
    if numeric or (own == NAME and first in _TELLING):
        yield "shape", "" if numeric else first, own


def swapped(text: str, right: str, wrong: str, answers: Sequence[str]) -> str | None:
    """A document that gives a wrong answer wherever it gave the right one.

    The right answer must stand in it word for word. Where it is a long number with a unit ("3,559
    people") the number alone is replaced as well. None of the question's answers may be left, in
    any spelling.

    Args:
        text: The document.
        right: The answer that it gives.
        wrong: An answer of the same kind that it does not give.
        answers: All right answers of the question.

    Returns:
        The new document; None where the answer does not stand in it, or a right one would stay.
    """
    if not has_words(text, right):
        return None
    made = exchanged(text, right, wrong)
    old, new = (_WRITTEN.findall(each) for each in (right, wrong))
    if "#" in shape(right) and len(old) == len(new) == 1 and len(re.sub("[.,]", "", old[0])) > 2:
        made = exchanged(made, old[0], new[0])
    return None if any(says(made, each) for each in answers) else made


class Made(BaseModel, frozen=True):
    """Documents of a kind: how many were drawn, and how many there are."""

    drawn: int = 0
    made: int = 0

    def plus(self, drawn: int, made: int) -> "Made":
        """With so many more."""
        return Made(drawn=self.drawn + drawn, made=self.made + made)


class Counts(BaseModel, frozen=True):
    """What was drawn, and what could not be made.

    Attributes:
        read: Questions of the AmbigDocs file.
        unanswered: Questions passed over, since none of their documents states its answer.
        sharing: Questions passed over, since another has one of their documents.
        questions: Questions that were drawn.
        supporting, misinformation, noise: Their documents.
        copies: Misinformation made of a copy of a document that is shown as well.
        unmade: Why misinformation that was drawn could not be made -> how many documents.
    """

    read: int
    unanswered: int
    sharing: int
    questions: int
    supporting: Made
    misinformation: Made
    noise: Made
    copies: int
    unmade: dict[str, int]


class Source(BaseModel, frozen=True):
    """A file, or several, and the SHA-256 of what was read of them."""

    name: str
    sha256: str
    entries: int


class BuildRecord(BaseModel, frozen=True):
    """What a data set was built from; the same again makes the same bytes."""

    ambigdocs: Source
    passages: Source
    seed: int
    counts: Counts


def drawn(counts: Counts) -> Table:
    """Documents by kind: drawn, written, and why fewer."""
    why = {
        "supporting": "retrieval found no more",
        "misinformation": "; ".join(f"{reason}: {n:,}" for reason, n in counts.unmade.items()),
        "noise": "retrieval found no more",
    }
    rows = {name: getattr(counts, name) for name in why}
    return Table.of(
        rows.items(),
        name="ramdocs_build",
        title="Documents",
        columns=[
            Column("kind", "Documents", lambda row: row[0]),
            Column("drawn", "Drawn", lambda row: row[1].drawn),
            Column("made", "Written", lambda row: row[1].made),
            Column(
                "why",
                "Why fewer",
                lambda row: why[row[0]] if row[1].made < row[1].drawn else None,
            ),
        ],
    )


def averages(questions: Sequence[RamQuestion]) -> Table:
    """The averages of appendix A, of a build and of the paper."""
    return Table.of(
        statistics(questions),
        name="ramdocs_averages",
        title="Averages over questions",
        columns=[
            Column("name", "Average"),
            Measure("estimate", "This build"),
            Measure("paper", "Paper", lambda each: Estimate(each.paper, None, None, RELEASED)),
        ],
    )


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


QUESTIONS = 500
ANSWERS: Final = (1, 3)
SUPPORTING: Final = (1, 3)
MISINFORMATION: Final = (0, 2)
NOISE: Final = (0, 2)
"""Ranges of section 3: right answers of a question, documents of each, and further documents."""

Unmade = Literal[
    "not word for word",
    "no wrong answer of its kind",
    "a right answer would stay",
    "no second document",
]
"""Why documents of a right answer cannot be made to give a wrong one: the answer stands in none;
AmbigDocs has no other of its kind; another right one stands there; a copy is there already."""

ItemT = TypeVar("ItemT")


class Built(NamedTuple):
    """The questions in the order of AmbigDocs, and what is counted of them."""

    questions: tuple[RamQuestion, ...]
    counts: Counts


@dataclass
class _Tally:
    """What is counted while questions are made."""

    made: dict[str, Made] = field(default_factory=lambda: defaultdict(Made))
    unmade: Counter[Unmade] = field(default_factory=Counter)
    copies: int = 0

    def add(self, kind: str, drawn: int, made: int) -> None:
        self.made[kind] = self.made[kind].plus(drawn, made)


@dataclass(frozen=True)
class _Given:
    """What questions are made from."""

    passages: Passages
    wrong: WrongAnswers
    seed: int


@dataclass
class _Answer:
    """A right answer, the documents for it, and those made against it with one wrong answer."""

    answer: Stated
    shown: list[str]
    further: list[str]
    against: list[RamDocument] = field(default_factory=list)


def build(
    questions: Sequence[AmbiguousQuestion], index: Index, *, most: int = QUESTIONS, seed: int = 0
) -> Built:
    """Draw questions and their documents; a seed makes the same of the same questions and index.

    Raises:
        InputError: No question has a document that states its answer.
    """
    chosen, unanswered, sharing = _chosen(questions, most, seed)
    if not chosen:
        raise InputError(
            "no question has a document with its answer in it; name a file of AmbigDocs"
        )
    given = _Given(Passages(index), WrongAnswers(questions), seed)
    for _, kept in chosen:
        given.passages.take(text for each in kept for text in each.documents)
    tally = _Tally()
    made = tuple(_made(question, kept, given, tally) for question, kept in chosen)
    counts = Counts(
        read=len(questions),
        unanswered=unanswered,
        sharing=sharing,
        questions=len(made),
        supporting=tally.made["correct"],
        misinformation=tally.made["misinfo"],
        noise=tally.made["noise"],
        copies=tally.copies,
        unmade=dict(sorted(tally.unmade.items())),
    )
    return Built(made, counts)


def _chosen(
    questions: Sequence[AmbiguousQuestion], most: int, seed: int
) -> tuple[list[tuple[AmbiguousQuestion, list[Stated]]], int, int]:
    """Questions in their order, the answers that each keeps, and how many were passed over."""
    order = sorted(
        range(len(questions)), key=lambda n: (rank(seed, questions[n].question, "drawn"), n)
    )
    chosen: dict[int, list[Stated]] = {}
    taken: set[str] = set()
    unanswered = sharing = 0
    for place in order:
        if len(chosen) == most:
            break
        answers = stated(questions[place])
        if not answers:
            unanswered += 1
            continue
        low, high = ANSWERS
        draw = _random(seed, questions[place], "answers")
        kept = _some(answers, draw.randint(low, min(high, len(answers))), draw)
        texts = {key(text) for each in kept for text in each.documents}
        if texts & taken:
            sharing += 1
            continue
        taken |= texts
        chosen[place] = kept
    return [(questions[place], chosen[place]) for place in sorted(chosen)], unanswered, sharing


def _made(
    question: AmbiguousQuestion, kept: Sequence[Stated], given: _Given, tally: _Tally
) -> RamQuestion:
    """One question with its documents."""
    draw, passages = _random(given.seed, question, "documents"), given.passages
    answers = []
    for each in kept:
        texts, number = supporting(passages, question, each), draw.randint(*SUPPORTING)
        answers.append(_Answer(each, texts[:number], texts[number:]))
        passages.take(texts[:number])
        tally.add("correct", number, len(answers[-1].shown))

    number = draw.randint(*MISINFORMATION)
    for _ in range(number):
        _misinform(question, draw.sample(answers, len(answers)), given, tally)
    tally.add("misinfo", number, sum(len(each.against) for each in answers))
    wrong = tuple(dict.fromkeys(d.answer for each in answers for d in each.against))

    number = draw.randint(*NOISE)
    noise = _some(silent(passages, question, wrong), number, draw)
    passages.take(noise)
    tally.add("noise", number, len(noise))

    documents: list[RamDocument] = []
    for own in answers:
        right = own.answer.answer
        documents += [RamDocument(text=t, type="correct", answer=right) for t in own.shown]
        documents += own.against
    documents += [RamDocument(text=text, type="noise", answer=UNKNOWN) for text in noise]
    return RamQuestion(
        question=question.question,
        documents=tuple(documents),
        disambig_entity=tuple(each.entity for each in kept),
        gold_answers=tuple(each.answer for each in kept),
        wrong_answers=wrong,
    )


def _misinform(
    question: AmbiguousQuestion, answers: Sequence[_Answer], given: _Given, tally: _Tally
) -> None:
    """Add a document against the first answer that allows it, or count why the first does not."""
    shown = [text for own in answers for text in (*own.shown, *own.further)]
    whys: list[Unmade] = []
    for own in answers:
        found = _against(question, own, shown, given)
        if isinstance(found, str):
            whys.append(found)
            continue
        source, document = found
        own.against.append(document)
        if source in own.further:
            own.further.remove(source)
            given.passages.take([source])
        else:
            tally.copies += 1
        return
    tally.unmade[whys[0]] += 1


def _against(
    question: AmbiguousQuestion, own: _Answer, shown: Sequence[str], given: _Given
) -> tuple[str, RamDocument] | Unmade:
    """A document against an answer with the one that it is made of, further ones first."""
    right = own.answer.answer
    sources = [*own.further, *own.shown]
    if not any(has_words(text, right) for text in sources):
        return "not word for word"
    wrong = own.against[0].answer if own.against else _wrong(question, right, shown, given)
    if wrong is None:
        return "no wrong answer of its kind"
    before = {document.text for document in own.against}
    answers = [each.answer for each in question.documents]
    for source in sources:
        text = swapped(source, right, wrong, answers)
        if text is not None and text not in before:
            return source, RamDocument(text=text, type="misinfo", answer=wrong)
    return "no second document" if own.against else "a right answer would stay"


def _wrong(
    question: AmbiguousQuestion, right: str, shown: Sequence[str], given: _Given
) -> str | None:
    """An answer of the same kind: no right one, no part of one, and in no document."""
    answers = [each.answer for each in question.documents]
    texts = [*shown, *(each.text for each in question.documents)]
    for group in given.wrong.of_kind(question, right):
        for each in sorted(
            group, key=lambda one: rank(given.seed, question.question, f"{right}\n{one}")
        ):
            if not any(says(each, one) or says(one, each) for one in answers) and not any(
                says(text, each) for text in texts
            ):
                return each
    return None


def _some(items: Sequence[ItemT], number: int, draw: random.Random) -> list[ItemT]:
    """So many of the items, or all that there are, drawn without replacement, in their order."""
    places = draw.sample(range(len(items)), min(number, len(items)))
    return [items[place] for place in sorted(places)]


def _random(seed: int, question: AmbiguousQuestion, what: str) -> random.Random:
    return random.Random(rank(seed, question.question, what))  # noqa: S311  keeps no secret
