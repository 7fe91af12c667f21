"""Two detectors without a model, to be beaten: always a conflict, and shared words."""

from typing import NamedTuple

from pipelines.data.records import Document
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Relation
from pipelines.text.words import content_words, terms

ALWAYS = "always conflict"
LEXICAL = "lexical overlap"


class Thresholds(NamedTuple):
    """Least content-word recall, in [0, 1], of a document on the topic, and of one in support."""

    low: float
    high: float


CHOSEN = Thresholds(low=0.2, high=0.65)
"""Those with the best F1 of conflict, averaged over the training halves of RAMDocs, ConflictQA and
CLIMATE-FEVER (seed 0), in steps of 0.05."""


def content_word_recall(claim: str, document: Document) -> float:
    """Share of the claim's content words that stand in the document, in [0, 1].

    Function words count where the claim has no others; a claim without words has recall 0.
    """
    wanted = content_words(claim)
    return len(wanted.intersection(terms(document.as_read()))) / len(wanted) if wanted else 0.0


def overlap_relation(recall: float, thresholds: Thresholds) -> Relation:
    """The relation that shared words suggest.

    All of the claim in the document: it supports. On the topic, but lacking some of it (the
    answer, one hopes): it contradicts. Else it is irrelevant.
    """
    if recall >= thresholds.high:
        return Relation.SUPPORTS
    return Relation.CONTRADICTS if recall >= thresholds.low else Relation.IRRELEVANT


def by_overlap(example: ContestedClaim, thresholds: Thresholds = CHOSEN) -> tuple[Relation, ...]:
    """The relation of each document by shared words."""
    return tuple(
        overlap_relation(content_word_recall(example.claim, document), thresholds)
        for document in example.documents
    )
