"""Which statements of documents contradict each other, before any answer is written.

Sentences of different documents that share words are compared both ways by a tagger.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, Field

from nli.pairs import Pair
from pipelines.data.records import Document
from pipelines.judge.tagger import Tagging
from pipelines.retrieval.bm25 import scores_among
from pipelines.text import words

NEAREST: Final = 4
"""Sentences of other documents, best by words, that a sentence is compared with."""

LEAST_WORDS: Final = 4
"""Words of a statement; what is shorter is a heading or a part of a list."""


class Statement(BaseModel, frozen=True):
    """A sentence of a document: its characters [start, end).

    Its passage has the sentences before and after, which say whom "it" and "there" are about.
    """

    document: str
    start: int
    end: int
    text: str
    passage: str = Field(exclude=True)


class Contradiction(BaseModel, frozen=True):
    """Two statements, and how likely, in [0, 1], they exclude each other."""

    first: Statement
    second: Statement
    probability: float


class Screening(BaseModel, frozen=True):
    """What was compared, and every contradiction that was found, the likeliest first.

    Attributes:
        documents: Ids, in order.
        statements: Sentences of all documents.
        compared: Pairs of them that the tagger read.
        contradictions: At least as likely as the threshold.
    """

    documents: tuple[str, ...]
    statements: int
    compared: int
    contradictions: tuple[Contradiction, ...]

    def likeliest(self, one: str, other: str) -> float | None:
        """The probability of the likeliest contradiction of two documents; None without one."""
        return max(
            (
                found.probability
                for found in self.contradictions
                if {found.first.document, found.second.document} == {one, other}
            ),
            default=None,
        )


def screen(
    sets: Sequence[Sequence[Document]],
    tagger: Tagging,
    threshold: float,
) -> Screening:
    """Compare the statements of documents with those of others in the same set.

    Args:
        sets: Documents, with ids that are distinct over all sets.
        tagger: Reads each pair both ways.
        threshold: Least probability, in [0, 1], of what is told.

    Raises:
        TaggerError: A pair cannot be read.
    """
    stated = [[one for document in some for one in statements(document)] for some in sets]
    pairs = [pair for some in stated for pair in candidates(some)]
    readings = tagger.tag(
        [
            Pair(premise.passage, hypothesis.text)
            for one, other in pairs
            for premise, hypothesis in ((one, other), (other, one))
        ]
    )
    denials = [reading.probabilities[1] for reading in readings]
    compared = [
        Contradiction(
            first=one, second=other, probability=contradiction_probability(*denials[at : at + 2])
        )
        for at, (one, other) in zip(range(0, len(denials), 2), pairs, strict=True)
    ]
    likely = [pair for pair in compared if pair.probability >= threshold]
    return Screening(
        documents=tuple(document.id for some in sets for document in some),
        statements=sum(map(len, stated)),
        compared=len(pairs),
        contradictions=tuple(sorted(likely, key=lambda pair: -pair.probability)),
    )


def contradiction_probability(forth: float, back: float) -> float:
    """How likely two statements contradict each other, of how likely each is refuted by the other.

    A contradiction holds both ways, so both readings are estimates of one thing: their mean.
    """
    return (forth + back) / 2


def statements(document: Document) -> list[Statement]:
    """The sentences of a document that say something, headings and short ones left out."""
    text = document.text
    spans = words.statements(text)
    return [
        Statement(
            document=document.id,
            start=start,
            end=end,
            text=text[start:end],
            passage=text[before.start : after.end],
        )
        for before, (start, end), after in zip(
            [*spans[:1], *spans], spans, [*spans[1:], *spans[-1:]], strict=False
        )
        if len(text[start:end].split()) >= LEAST_WORDS
    ]


def candidates(stated: Sequence[Statement]) -> list[tuple[Statement, Statement]]:
    """Pairs of statements worth comparing: of other documents, and near by words (BM25).

    Each statement brings the `NEAREST` that share a word with it, so that the number of pairs grows
    with the number of statements, not with its square.
    """
    import numpy as np

    pairs: dict[tuple[int, int], None] = {}
    texts = [statement.text for statement in stated]
    documents = np.array([statement.document for statement in stated])
    for number, scores in enumerate(scores_among(texts, texts)):
        elsewhere = scores * (documents != documents[number])
        for other in map(int, np.argsort(-elsewhere, kind="stable")[:NEAREST]):
            if elsewhere[other] > 0:
                pairs[min(number, other), max(number, other)] = None
    return [(stated[one], stated[other]) for one, other in pairs]
