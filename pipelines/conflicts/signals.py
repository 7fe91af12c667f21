"""What the evidence itself tells about the type of a conflict: numbers, without any list of words.

Each source speaks by one statement, the sentence that lies nearest to the question for a sentence
encoder. The tagger says how the statements relate to each other, and to a question of yes or no;
dates and numbers are compared.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import log1p
from typing import TYPE_CHECKING, Final, Protocol

from nli.windows import sentences
from pipelines.conflicts.dates import spread_years, written
from pipelines.conflicts.question import Query
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.labeller import Labeller, label_pairs
from pipelines.metrics.kappa import kappa
from pipelines.text.declarative import affirmed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STATEMENT_CHARACTERS: Final = 400
"""Of a statement, at most: what has no full stop may be a menu, or a table."""

MEANING: Final = {
    "yes_no": "a question of yes or no",
    "kappa": "conflict score of the sources, of a question of yes or no",
    "refuting": "sources against its statement",
    "supporting": "statements that support each other",
    "contradicting": "statements that contradict each other",
    "most_contradicting": "the pair that contradicts most",
    "nearness": "how near statements lie to the question",
    "spread": "how far statements lie apart",
    "document_spread": "how far whole sources lie apart",
    "years_apart": "years between the sources",
    "gap": "years between sources that contradict each other, less those between all",
    "commonest": "statements that name the same number",
    "runner_up": "statements that name the second one",
}
"""Signal -> what it is, in words."""

Signals = Mapping[str, float | None]
"""Signal -> a finite number; None where the sources do not say."""

_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


class Encoder(Protocol):
    """What turns texts into vectors of length 1."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Embeddings of shape (n, dimension)."""


@dataclass(frozen=True)
class Read:
    """What was read of a query's evidence: its signals, and two vectors.

    Attributes:
        question, evidence: Embedding of the question, and the mean of the statements', (d,).
    """

    signals: Signals
    question: "NDArray[np.float32]"
    evidence: "NDArray[np.float32]"


async def read_evidence(query: Query, labeller: Labeller, encoder: Encoder) -> Read:
    """The signals of a query; errors are those of the labeller."""
    documents = query.documents()
    parts = [_parts(each.text) for each in documents]
    flat = [part for each in parts for part in each]
    vectors = encoder.embed([query.query, *(each.text for each in documents), *flat])
    question, whole = vectors[0], vectors[1 : len(documents) + 1]
    said, places, start = [], [], len(documents) + 1
    for document, own in zip(documents, parts, strict=True):
        nearest = int((vectors[start : start + len(own)] @ question).argmax())
        said.append(Document(id=document.id, text=own[nearest]))
        places.append(start + nearest)
        start += len(own)
    stated = vectors[places]
    relations = await _relations(said, labeller)
    claim = affirmed(query.query)
    stances, _ = await label_pairs(labeller, [(claim, each) for each in said] if claim else [])
    return Read(
        signals={
            "yes_no": float(claim is not None),
            **_stances(list(stances.values())),
            **_between(relations),
            "nearness": float((stated @ question).mean()),
            "spread": spread(stated),
            "document_spread": spread(whole),
            **_years(query, relations),
            **_numbers(query.query, [each.text for each in said]),
        },
        question=question,
        evidence=stated.mean(axis=0),
    )


def read_question(query: Query, encoder: Encoder) -> Read:
    """What the question alone tells; no source is read."""
    (question,) = encoder.embed([query.query])
    signals = dict.fromkeys(MEANING) | {"yes_no": float(affirmed(query.query) is not None)}
    return Read(signals, question, evidence=0 * question)


def spread(vectors: "NDArray[np.float32]") -> float:
    """1 less the mean cosine over pairs of vectors of length 1, in [0, 2]; 0 of a single one."""
    n = len(vectors)
    if n < 2:
        return 0.0
    cosines = vectors @ vectors.T
    return 1.0 - float(cosines.sum() - cosines.trace()) / (n * (n - 1))


def _parts(text: str) -> list[str]:
    found = [text[slice(*span)][:STATEMENT_CHARACTERS].strip() for span in sentences(text)]
    return [each for each in found if each] or [text[:STATEMENT_CHARACTERS]]


Relations = Mapping[tuple[int, int], Mapping[Relation, float]]
"""(place of the one that speaks, place of the other) -> probabilities; equal statements support."""


async def _relations(said: Sequence[Document], labeller: Labeller) -> Relations:
    ordered = list(permutations(range(len(said)), 2))
    asked = {
        (said[other].text, said[one].id): (said[other].text, said[one])
        for one, other in ordered
        if said[one].text != said[other].text
    }
    judged, _ = await label_pairs(labeller, list(asked.values()))
    same = {each: float(each is Relation.SUPPORTS) for each in Relation}
    return {
        (one, other): shares(judged[said[other].text, said[one].id])
        if said[one].text != said[other].text
        else same
        for one, other in ordered
    }


def shares(judgement: Judgement) -> Mapping[Relation, float]:
    """A labeller's probabilities of the relations; of one that gives none, 1 and 0."""
    given = judgement.probabilities or {judgement.relation: 1.0}
    return {each: given.get(each, 0.0) for each in Relation}


def _stances(stances: Sequence[Judgement]) -> Signals:
    if not stances:
        return {"kappa": None, "refuting": None}
    found = [shares(each) for each in stances]
    for_it, against = (
        sum(each[side] for each in found) for side in (Relation.SUPPORTS, Relation.CONTRADICTS)
    )
    return {"kappa": kappa(for_it, against), "refuting": against / len(found)}


def _between(relations: Relations) -> Signals:
    if not relations:
        return {"supporting": 1.0, "contradicting": 0.0, "most_contradicting": 0.0}
    against = [each[Relation.CONTRADICTS] for each in relations.values()]
    return {
        "supporting": sum(each[Relation.SUPPORTS] for each in relations.values()) / len(relations),
        "contradicting": sum(against) / len(against),
        "most_contradicting": max(against),
    }


def _years(query: Query, relations: Relations) -> Signals:
    dates = [written(each) for each in query.sources]
    spread_of_all = spread_years([each for each in dates if each])
    apart = {
        (one, other): abs(first.decimal_year - second.decimal_year)
        for one, other in combinations(range(len(dates)), 2)
        if (first := dates[one]) and (second := dates[other])
    }
    weights = {
        (one, other): relations[one, other][Relation.CONTRADICTS]
        + relations[other, one][Relation.CONTRADICTS]
        for one, other in apart
    }
    total = sum(weights.values())
    gap = None
    if total > 0:
        of_contradicting = sum(weights[pair] * years for pair, years in apart.items()) / total
        gap = log1p(of_contradicting) - log1p(sum(apart.values()) / len(apart))
    return {
        "years_apart": None if spread_of_all is None else log1p(spread_of_all),
        "gap": gap,
    }


def _numbers(question: str, said: Sequence[str]) -> Signals:
    """Shares of the statements that name the commonest number, and the second; not the asked."""
    asked = _named(question)
    counts = Counter(value for each in said for value in _named(each) - asked)
    first, second = (*sorted(counts.values(), reverse=True), 0, 0)[:2]
    return {"commonest": first / len(said), "runner_up": second / len(said)}


def _named(text: str) -> set[str]:
    """The numbers in a text, without commas."""
    return {found.replace(",", "") for found in _NUMBER.findall(text)}
