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
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeVar

from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.ramdocs import UNKNOWN, RamDocument, RamQuestion
from pipelines.errors import InputError
from pipelines.madam_rag.built import Counts, Made
from pipelines.madam_rag.constructions import rank, says
from pipelines.madam_rag.retrieved import Passages, Stated, key, silent, stated, supporting
from pipelines.madam_rag.swap import WrongAnswers, swapped
from pipelines.retrieval.index import Index
from pipelines.text.substitution import has_words

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
