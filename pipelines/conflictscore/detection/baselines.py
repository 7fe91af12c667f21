"""Two detectors without a model, to be beaten: always a conflict, and shared words."""

from collections.abc import Sequence
from typing import NamedTuple

from pipelines.data.records import Document
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Relation, conflicting
from pipelines.metrics.f1 import f1
from pipelines.text.words import content_words, terms

ALWAYS = "always conflict"
LEXICAL = "lexical overlap"


class Thresholds(NamedTuple):
    """Least content-word recall, in [0, 1], of a document on the topic, and of one in support."""

    low: float
    high: float


CHOSEN = Thresholds(low=0.2, high=0.65)
"""`choose_thresholds` on the training halves of RAMDocs, ConflictQA and CLIMATE-FEVER, seed 0."""


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


def choose_thresholds(examples: Sequence[ContestedClaim], *, steps: int = 20) -> Thresholds:
    """The thresholds with the best F1 of conflict, averaged over sources.

    They are searched on a grid of 1 / steps. Of equal ones the lowest `low`, then the lowest
    `high`, is taken. To be called on training halves only.

    Raises:
        ValueError: No example has a conflict, so that every F1 is 0.
    """
    if not any(example.conflict for example in examples):
        raise ValueError("thresholds cannot be chosen without an example of conflict")
    recalls = [
        [content_word_recall(example.claim, document) for document in example.documents]
        for example in examples
    ]
    names = sorted({example.source for example in examples})

    def quality(thresholds: Thresholds) -> float:
        counts = {name: [0, 0, 0] for name in names}
        for example, row in zip(examples, recalls, strict=True):
            found = conflicting([overlap_relation(recall, thresholds) for recall in row])
            if found or example.conflict:
                place = 0 if found and example.conflict else 1 if found else 2
                counts[example.source][place] += 1
        return sum(f1(*counts[name]) or 0.0 for name in names) / len(names)

    grid = [step / steps for step in range(steps + 1)]
    pairs = [Thresholds(low, high) for low in grid for high in grid if low <= high]
    return max(pairs, key=quality)
