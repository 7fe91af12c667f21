"""Find statements in documents that contradict each other, before any answer is written.

A tagger compares sentences of different documents that share words, in both directions.
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
"""Number of sentences of other documents, best by BM25, to compare each sentence with."""

LEAST_WORDS: Final = 4
"""Minimum words of a statement; anything shorter is a heading or a list fragment."""


class Statement(BaseModel, frozen=True):
    """A sentence of a document: its characters [start, end).

    Its passage adds the sentences before and after, which resolve words such as "it" and "there".
    """

    document: str
    start: int
    end: int
    text: str
    passage: str = Field(exclude=True)


class Contradiction(BaseModel, frozen=True):
    """Two statements, and the probability, in [0, 1], that they contradict each other."""

    first: Statement
    second: Statement
    probability: float


class Screening(BaseModel, frozen=True):
    """What was compared, and every contradiction found, most likely first.

    Attributes:
        documents: Ids, in order.
        statements: Number of sentences in all documents.
        compared: Number of statement pairs that the tagger read.
        contradictions: Those at or above the threshold.
        met: Pairs of documents, in order, of which some statements were compared.
    """

    documents: tuple[str, ...]
    statements: int
    compared: int
    contradictions: tuple[Contradiction, ...]
    met: frozenset[tuple[str, str]] = Field(exclude=True)

    def likeliest(self, one: str, other: str) -> float | None:
        """Probability of the likeliest contradiction between two documents, if any."""
        return max(
            (
                contradiction.probability
                for contradiction in self.contradictions
                if {contradiction.first.document, contradiction.second.document} == {one, other}
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
        sets: Sets of documents; ids are unique across all sets.
        tagger: Reads each pair in both directions.
        threshold: Lowest probability, in [0, 1], to report.

    Raises:
        TaggerError: A pair cannot be read.
    """
    stated = [
        [statement for document in group for statement in statements(document)] for group in sets
    ]
    pairs = [pair for group in stated for pair in candidates(group)]
    readings = tagger.tag(
        [
            Pair(premise.passage, hypothesis.text)
            for one, other in pairs
            for premise, hypothesis in ((one, other), (other, one))
        ]
    )
    # Contradiction is symmetric: both directions estimate the same probability.
    denials = [reading.probabilities[1] for reading in readings]
    compared = [
        Contradiction(first=one, second=other, probability=sum(denials[at : at + 2]) / 2)
        for at, (one, other) in zip(range(0, len(denials), 2), pairs, strict=True)
    ]
    likely = [pair for pair in compared if pair.probability >= threshold]
    return Screening(
        documents=tuple(document.id for group in sets for document in group),
        statements=sum(map(len, stated)),
        compared=len(pairs),
        contradictions=tuple(sorted(likely, key=lambda pair: -pair.probability)),
        met=frozenset((one.document, other.document) for one, other in pairs),
    )


def statements(document: Document) -> list[Statement]:
    """The statements of a document: its sentences, without headings and very short ones."""
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
    """Pairs of statements worth comparing: from different documents and lexically close (BM25).

    Each statement contributes the `NEAREST` statements that share a word with it, so the number of
    pairs grows linearly with the number of statements, not quadratically.
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
