"""Pairs from RAMDocs and ConflictQA: answers as claims, and documents that give one or another."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from nli.labels import Label
from nli.pairs import LabelledPair
from pipelines.data.conflictqa import KnowledgeConflict, without_note
from pipelines.data.ramdocs import UNKNOWN, RamDocument, RamQuestion
from pipelines.supervision.context import ReservedTexts, content_words, labelled_pair
from pipelines.text.declarative import declarative
from pipelines.text.substitution import exchanged, has_words

HANDFUL = 40
"""Random candidates for hard negatives, of which those nearest to a claim are used. The nearest of
all documents would often be about the claim itself."""

OTHERS = 2
"""Documents of other questions for each claim."""

EXCHANGES = 3
"""Most copies of a RAMDocs document with its answer replaced."""


class Neighbours:
    """Documents of other questions that look as if they belonged to this one.

    Args:
        documents: Question by question, its documents.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._texts = [
            (number, text, content_words(text))
            for number, texts in enumerate(documents)
            for text in texts
        ]

    def near(self, claim: str, rng: random.Random, question: int) -> list[str]:
        """The `OTHERS` that share most words with a claim, of `HANDFUL` drawn from all documents.

        Those of the claim's own question, given by its number, are left out.
        """
        candidates = rng.sample(self._texts, min(HANDFUL, len(self._texts)))
        wanted = content_words(claim)
        others = [(text, words) for number, text, words in candidates if number != question]
        others.sort(key=lambda other: -len(wanted & other[1]))
        return [text for text, _ in others[:OTHERS]]


def conflictqa(questions: Sequence[KnowledgeConflict], rng: random.Random) -> list[LabelledPair]:
    """ConflictQA: each claim with evidence for it, against it, and about something similar."""
    neighbours = Neighbours([[text for text, _ in evidence(question)] for question in questions])
    made = []
    for number, question in enumerate(questions):
        for answer, is_memory in ((question.memory_answer, True), (question.counter_answer, False)):
            claim = without_note(answer)
            labelled = [
                (text, Label.SUPPORT if for_memory == is_memory else Label.REFUTE)
                for text, for_memory in evidence(question)
            ]
            labelled += [(text, Label.IRRELEVANT) for text in neighbours.near(claim, rng, number)]
            made += [
                _pair("conflictqa", text, claim, label, question.question)
                for text, label in labelled
            ]
    return made


def evidence(question: KnowledgeConflict) -> list[tuple[str, bool]]:
    """The non-empty documents of a question, each with whether it supports the memory answer."""
    texts = (
        (question.parametric_memory, True),
        (question.parametric_memory_aligned_evidence, True),
        (question.counter_memory, False),
        (question.counter_memory_aligned_evidence, False),
    )
    return [(text, side) for text, side in texts if text.strip()]


def ramdocs(
    questions: Sequence[RamQuestion], rng: random.Random, reserved: ReservedTexts
) -> list[LabelledPair]:
    """RAMDocs: each answer as a claim, with documents that give it, give another, or give none.

    Copies of the documents are added, with the answer replaced by that of another question of the
    same form ("What sport is X ..."), as the release made its own misinformation. So a claim's
    words do not reveal whether it is true.

    Documents that the test half also shows (`reserved`) are left out first: a copy with another
    answer would no longer be recognised.
    """
    documents = [
        [d for d in question.documents if d.text not in reserved] for question in questions
    ]
    neighbours = Neighbours([[document.text for document in shown] for shown in documents])
    answers: dict[str, dict[str, None]] = defaultdict(dict)
    for question in questions:
        answers[form(question.question)].update(
            dict.fromkeys((*question.gold_answers, *question.wrong_answers))
        )
    made = []
    for number, (question, shown) in enumerate(zip(questions, documents, strict=True)):
        asked = question.question
        given = tuple(dict.fromkeys(d.answer for d in shown if d.answer != UNKNOWN))
        other = [answer for answer in answers[form(asked)] if answer not in given]
        invented = rng.sample(other, min(1, len(other)))
        for answer in (*given, *invented):
            claim = declarative(asked, answer)
            labelled = [
                (document.text, label)
                for document in shown
                if (label := relation(document, answer))
            ]
            labelled += [(text, Label.IRRELEVANT) for text in neighbours.near(claim, rng, number)]
            made += [_pair("ramdocs", text, claim, label, asked) for text, label in labelled]
        for document in shown:
            drawn = rng.sample(other, min(EXCHANGES, len(other)))
            made += [
                _pair("ramdocs", text, declarative(asked, answer), label, asked)
                for text, answer, label in _exchanges(document, drawn)
            ]
    return made


def form(question: str) -> str:
    """What a question asks for, by its first words: "what sport is", "what is the population"."""
    words = question.casefold().split()
    return " ".join(words[: 4 if words[2:3] == ["the"] else 3])


def relation(document: RamDocument, answer: str) -> Label | None:
    """What a document says of an answer.

    None if unknown: one answer contains the other, or the document also names this one.
    """
    if document.answer == UNKNOWN:
        return None if has_words(document.text, answer) else Label.IRRELEVANT
    if document.answer.casefold() == answer.casefold():
        return Label.SUPPORT
    if _overlap(document.answer, answer) or has_words(document.text, answer):
        return None
    return Label.REFUTE


def _exchanges(document: RamDocument, answers: Sequence[str]) -> Iterator[tuple[str, str, Label]]:
    """Copies of a document with other answers, each with an answer and what it says of it."""
    given, text = document.answer, document.text
    if given == UNKNOWN or not has_words(text, given):
        return
    for answer in answers:
        if not has_words(text, answer) and not _overlap(given, answer):
            copy = exchanged(text, given, answer)
            yield copy, answer, Label.SUPPORT
            yield copy, given, Label.REFUTE


def _overlap(one: str, other: str) -> bool:
    return has_words(one, other) or has_words(other, one)


def _pair(source: str, document: str, claim: str, label: Label, question: str) -> LabelledPair:
    return labelled_pair(source, " ".join(document.split()), claim, label, question)
