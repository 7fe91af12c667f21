"""Questions of RAMDocs with a chosen number of documents for one answer (sections 6.2 and 6.3).

Each question is shown at several levels, which differ only in that number. The levels are nested:
the documents of a level are among those of the next, in the same order. That order is drawn once
per question, so that no answer always comes first.

The paper publishes neither its subsets nor the code that made them; the rules here are ours. Draws
depend on the seed and the question's own text, not on its place in the file.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pipelines.data.records import Document
from pipelines.madam_rag.build import apart, borrowed, rank, says, squeezed, swapped
from pipelines.madam_rag.data import GivenDocument, Question
from pipelines.metrics.answers import canonical
from pipelines.supervision.questions import form

MOST = 200
"""Number of questions in each construction (sections 6.2 and 6.3)."""

SUPPORT_LEVELS = (1, 2, 3)
MISINFORMATION_LEVELS = (0, 1, 2, 3)

COPY = "-exchanged"
"""Suffix of the id of a document whose answer was exchanged."""


class GoldAnswer(NamedTuple):
    """A gold answer's names with the distinct documents that support it and no other answer."""

    names: tuple[str, ...]
    documents: tuple[GivenDocument, ...]


class Case(NamedTuple):
    """A question that is eligible for a construction.

    Every level shows its fixed documents and the first few of the varied ones. `gold` has the right
    answers that these support, `wrong` the answer that misinformation promotes, if any.
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

    A question is eligible if one gold answer has at least three supporting documents and another
    has at least one. The first such answers and their first documents are taken. The question has
    no misinformation and no noise, so no answer counts as wrong, and the two answers are the only
    gold ones: if the question has a third, none of its documents is shown.

    Returns:
        `SUPPORT_LEVELS` of each question of RAMDocs, in the order given. The seed decides the order
        of documents, and which questions are drawn if more than `most` are eligible.
    """
    return _at_levels(map(_imbalanced, questions), SUPPORT_LEVELS, most, seed)


def misinformation(
    questions: Sequence[Question], *, most: int = MOST, seed: int = 0
) -> list[Question]:
    """Two right answers with a document each, and 0 to 3 that promote a wrong one (section 6.3).

    The right answers are the first two gold ones that have a document; each is shown with its
    first. The wrong answer is the question's first one that neither contains a gold answer nor is
    contained in one. If there is no such answer, gold answers of other questions of the same form
    ("What sport is X ...") are tried in a drawn order; no supporting document contains them.

    The paper makes its documents by FaithEval's entity swap. Those used here are, in this order:

    1. the release's misinformation that gives this wrong answer, which was made by that swap;
    2. copies of the question's other supporting documents with the wrong answer swapped in;
    3. such copies of the two documents that are shown.

    A copy counts only if the document contains its answer word for word and not the wrong one, and
    if no gold answer of the question is left in it. A question with fewer than three such
    documents is not eligible. The wrong answer counts as wrong at every level, even at 0. Since
    wrong answers may be borrowed from other questions, give the whole file rather than a part.

    Returns:
        `MISINFORMATION_LEVELS` of each question, drawn and ordered as in `support_imbalance`; the
        seed also decides the order in which answers of other questions are tried.
    """
    lent: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        lent[form(question.question)].update(names[0] for names in question.gold)
    cases = (_misinformed(question, lent, seed) for question in questions)
    return _at_levels(cases, MISINFORMATION_LEVELS, most, seed)


def _at_levels(
    cases: Iterable[Case | None], levels: Sequence[int], most: int, seed: int
) -> list[Question]:
    """The eligible questions at each level; an id is the question's, "/" and the level."""
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

    A page that is released twice, once for each of two answers, supports neither by itself.
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
        # Documents that promote it: the release's own first.
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
    """Wrong answers in the order to try; none contains a gold answer or is contained in one."""
    gold = [name for names in question.gold for name in names]
    if released := [wrong for wrong in question.wrong if apart(wrong, gold)]:
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
    """Documents without those whose text occurred before."""
    first: dict[str, GivenDocument] = {}
    for given in documents:
        first.setdefault(squeezed(given.document.text), given)
    return tuple(first.values())
