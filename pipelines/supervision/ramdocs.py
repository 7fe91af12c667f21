"""Pairs from RAMDocs: claims made of a question and an answer, and the question's documents."""

import random
from collections import defaultdict
from collections.abc import Sequence

from nli.labels import Label
from nli.pairs import LabelledPair
from pipelines.data.ramdocs import UNKNOWN, RamDocument, RamQuestion
from pipelines.supervision.neighbours import Neighbours
from pipelines.supervision.unseen import Unseen
from pipelines.text.declarative import declarative
from pipelines.text.substitution import exchanged, has_words

SOURCE = "ramdocs"

OTHERS = 2
"""Documents of other questions for each claim."""

EXCHANGES = 3
"""Copies of each document with another answer put in."""


def pairs(
    questions: Sequence[RamQuestion], rng: random.Random, unseen: Unseen
) -> list[LabelledPair]:
    """Each answer as a claim, with documents that give it, give another, or give none.

    To the documents of the release come copies with the answer exchanged for that of another
    question of the same form ("What sport is X ..."), which is how the release made its own
    misinformation. So a claim is not known to be true by its words.

    Args:
        questions: Of the training half.
        rng: Chooses exchanged answers and documents of other questions.
        unseen: Documents that questions of the test half show as well. They are left out first: a
            copy with another answer would not be known for one.
    """
    questions = [
        question.model_copy(
            update={"documents": tuple(d for d in question.documents if d.text not in unseen)}
        )
        for question in questions
    ]
    answers = _answers_by_form(questions)
    documents = [document.text for question in questions for document in question.documents]
    origin = [n for n, question in enumerate(questions) for _ in question.documents]
    neighbours = Neighbours(documents)
    made = []
    for number, question in enumerate(questions):
        given = tuple(dict.fromkeys(d.answer for d in question.documents if d.answer != UNKNOWN))
        other = [answer for answer in answers[form(question.question)] if answer not in given]
        invented = rng.sample(other, min(1, len(other)))
        for answer in (*given, *invented):
            claim = declarative(question.question, answer)
            made += [
                _pair(document.text, claim, label, question)
                for document in question.documents
                if (label := relation(document, answer)) is not None
            ]
            near = neighbours.near(claim, rng, OTHERS, leave_out=lambda n: origin[n] == number)  # noqa: B023
            made += [_pair(document, claim, Label.IRRELEVANT, question) for document in near]
        for document in question.documents:
            made += _exchanges(question, document, rng.sample(other, min(EXCHANGES, len(other))))
    return made


def form(question: str) -> str:
    """What a question asks for, by its first words: "what sport is", "what is the population"."""
    words = question.casefold().split()
    return " ".join(words[: 4 if words[2:3] == ["the"] else 3])


def relation(document: RamDocument, answer: str) -> Label | None:
    """What a document says of an answer.

    Returns:
        None where that is not known: one answer contains the other, or the document names this one
        too.
    """
    if document.answer == UNKNOWN:
        return None if has_words(document.text, answer) else Label.IRRELEVANT
    if document.answer.casefold() == answer.casefold():
        return Label.SUPPORT
    if _overlap(document.answer, answer) or has_words(document.text, answer):
        return None
    return Label.REFUTE


def _exchanges(
    question: RamQuestion, document: RamDocument, answers: Sequence[str]
) -> list[LabelledPair]:
    if document.answer == UNKNOWN or not has_words(document.text, document.answer):
        return []
    made = []
    for answer in answers:
        if has_words(document.text, answer) or _overlap(document.answer, answer):
            continue
        text = exchanged(document.text, document.answer, answer)
        made.append(_pair(text, declarative(question.question, answer), Label.SUPPORT, question))
        made.append(
            _pair(text, declarative(question.question, document.answer), Label.REFUTE, question)
        )
    return made


def _overlap(one: str, other: str) -> bool:
    return has_words(one, other) or has_words(other, one)


def _answers_by_form(questions: Sequence[RamQuestion]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for question in questions:
        for answer in (*question.gold_answers, *question.wrong_answers):
            found[form(question.question)][answer] = None
    return {kind: list(answers) for kind, answers in found.items()}


def _pair(document: str, claim: str, label: Label, question: RamQuestion) -> LabelledPair:
    return LabelledPair(
        premise=" ".join(document.split()),
        hypothesis=claim,
        label=label,
        source=SOURCE,
        group=question.question,
    )
