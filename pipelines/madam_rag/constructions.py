"""Questions of RAMDocs with a chosen number of documents for one answer (sections 6.2 and 6.3).

Each question is shown at several levels, which differ in nothing but that number. The levels are
nested: the documents of a level are among those of the next, in the same order. That order is drawn
once per question, so that no answer always comes first.

The paper does not publish its subsets nor the code that made them; the rules here are ours. What is
drawn depends on the seed and the question's own text, not on its place in the file.
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from pipelines.data.records import Document
from pipelines.madam_rag.data import GivenDocument, Question
from pipelines.metrics.answers import canonical
from pipelines.supervision.questions import form
from pipelines.text.substitution import exchanged, has_words

MOST = 200
"""Questions of each construction (sections 6.2 and 6.3)."""

SUPPORT_LEVELS = (1, 2, 3)
MISINFORMATION_LEVELS = (0, 1, 2, 3)

COPY = "-exchanged"
"""Ends the id of a document in which the answer was exchanged."""


@dataclass(frozen=True)
class GoldAnswer:
    """A gold answer's names with the documents that support it.

    They are in the question's order, no text twice, and none that supports another answer as well.
    """

    names: tuple[str, ...]
    documents: tuple[GivenDocument, ...]


@dataclass(frozen=True)
class Case:
    """A question that is eligible for a construction.

    Its fixed documents stand at every level, of the varied ones the first so many. Gold are the
    answers that either support; wrong is the one that misinformation promotes, if there is one.
    """

    question: Question
    fixed: tuple[GivenDocument, ...]
    varied: tuple[GivenDocument, ...]
    gold: tuple[tuple[str, ...], ...]
    wrong: tuple[str, ...] = ()

    def at(self, levels: Sequence[int], seed: int) -> list[Question]:
        """The question at each level; its id is that of the question, "/" and the level."""
        order = [*self.fixed, *self.varied]
        drawn = random.Random(rank(seed, self.question.question, "order"))  # noqa: S311  no secret
        drawn.shuffle(order)
        return [
            Question(
                id=f"{self.question.id}/{level}",
                question=self.question.question,
                documents=tuple(d for d in order if d not in self.varied[level:]),
                gold=self.gold,
                wrong=self.wrong,
                level=level,
            )
            for level in levels
        ]


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
    lent = _answers_by_form(questions)
    cases = (_misinformed(question, lent, seed) for question in questions)
    return _at_levels(cases, MISINFORMATION_LEVELS, most, seed)


def supported(question: Question) -> list[GoldAnswer]:
    """The gold answers of a question that have a supporting document, in its order."""
    given: dict[str, list[GivenDocument]] = defaultdict(list)
    for each in question.documents:
        if each.kind == "correct" and each.answer is not None:
            given[canonical(each.answer)].append(each)
    # A page that is released twice, once for each of two answers, supports neither alone.
    answers_of: dict[str, set[str]] = defaultdict(set)
    for answer, documents in given.items():
        for each in documents:
            answers_of[_text(each)].add(answer)
    found = []
    for names in question.gold:
        own = [d for name in dict.fromkeys(map(canonical, names)) for d in given.get(name, [])]
        alone = _once(d for d in own if len(answers_of[_text(d)]) == 1)
        if alone:
            found.append(GoldAnswer(names, alone))
    return found


def _imbalanced(question: Question) -> Case | None:
    answers = supported(question)
    many = next((a for a in answers if len(a.documents) >= max(SUPPORT_LEVELS)), None)
    one = next((a for a in answers if a is not many), None)
    if many is None or one is None:
        return None
    gold = tuple(answer.names for answer in answers if answer in (many, one))
    return Case(question, one.documents[:1], many.documents[: max(SUPPORT_LEVELS)], gold)


def _misinformed(question: Question, lent: Mapping[str, Set[str]], seed: int) -> Case | None:
    answers = supported(question)
    if len(answers) < 2:
        return None
    shown = tuple(answer.documents[0] for answer in answers[:2])
    others = [d for answer in answers for d in answer.documents if d not in shown]
    for wrong in _wrong_answers(question, lent, seed):
        documents = _promoting(question, wrong, [*others, *shown])
        if len(documents) >= max(MISINFORMATION_LEVELS):
            varied = documents[: max(MISINFORMATION_LEVELS)]
            gold = tuple(answer.names for answer in answers[:2])
            return Case(question, shown, varied, gold, (wrong,))
    return None


def _wrong_answers(question: Question, lent: Mapping[str, Set[str]], seed: int) -> list[str]:
    """Wrong answers in the order in which they are tried."""
    own = [wrong for wrong in question.wrong if not _overlaps_gold(question, wrong)]
    if own:
        return own[:1]
    texts = [each.document.text for each in question.documents if each.kind == "correct"]
    others = [
        answer
        for answer in lent.get(form(question.question), ())
        if not _overlaps_gold(question, answer) and not any(says(text, answer) for text in texts)
    ]
    return sorted(others, key=lambda answer: rank(seed, question.question, answer))


def _promoting(
    question: Question, wrong: str, supporting: Sequence[GivenDocument]
) -> tuple[GivenDocument, ...]:
    """Documents that promote a wrong answer, no text twice, those of the release first."""
    released = [
        each
        for each in question.documents
        if each.kind == "misinfo" and each.answer and canonical(each.answer) == canonical(wrong)
    ]
    copies = [copy for each in supporting if (copy := _copy(question, each, wrong))]
    return _once([*released, *copies])


def _copy(question: Question, source: GivenDocument, wrong: str) -> GivenDocument | None:
    """A supporting document that gives the wrong answer in place of its own."""
    text, own = source.document.text, source.answer or ""
    if not own or not has_words(text, own) or says(text, wrong):
        return None
    text = exchanged(text, own, wrong)
    if any(says(text, name) for names in question.gold for name in names):
        return None
    name = f"{source.document.id}{COPY}"
    document = Document(id=name, text=text, title=source.document.title)
    return GivenDocument(document=document, kind="misinfo", answer=wrong)


def rank(seed: int, question: str, what: str) -> str:
    """What draws are ordered by: the seed and a question's own text, not its place in a file."""
    key = f"{seed}\n{question}\n{what}"
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def says(text: str, answer: str) -> bool:
    """Whether a text has an answer as whole words, as written or after normalisation."""
    normal = canonical(answer)
    return has_words(text, answer) or (bool(normal) and f" {normal} " in f" {canonical(text)} ")


def _overlaps_gold(question: Question, answer: str) -> bool:
    return any(
        says(answer, name) or says(name, answer) for names in question.gold for name in names
    )


def _answers_by_form(questions: Iterable[Question]) -> Mapping[str, Set[str]]:
    """Form of a question -> gold answers of all questions of that form."""
    found: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        found[form(question.question)].update(names[0] for names in question.gold)
    return found


def _at_levels(
    cases: Iterable[Case | None], levels: Sequence[int], most: int, seed: int
) -> list[Question]:
    eligible = [case for case in cases if case is not None]
    ranks = [rank(seed, case.question.question, "drawn") for case in eligible]
    drawn = sorted(sorted(range(len(ranks)), key=ranks.__getitem__)[:most])
    return [made for n in drawn for made in eligible[n].at(levels, seed)]


def _once(documents: Iterable[GivenDocument]) -> tuple[GivenDocument, ...]:
    """Documents without those whose text came before."""
    first: dict[str, GivenDocument] = {}
    for each in documents:
        first.setdefault(_text(each), each)
    return tuple(first.values())


def _text(each: GivenDocument) -> str:
    return " ".join(each.document.text.split())
