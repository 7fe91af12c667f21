"""Which facts of two lists are the same: a similarity, and the largest one-to-one matching."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.evidence.labeller import Labeller
from pipelines.text.words import content_words

LEAST_WORDS: Final = 0.8
"""Dice coefficient of content words from which two facts are the same.

"X Y is an actor" and "X Y is a singer" have 2/3, and 3/4 if X Y is three words.
"""

LEAST_SUPPORT: Final = 0.5
"""Probability of support, both ways, from which two facts are the same."""


class Match(NamedTuple):
    """Two facts that are the same, by their places in the lists, and how similar they are."""

    ours: int
    people: int
    similarity: float


def dice(first: str, second: str) -> float:
    """2 |A and B| / (|A| + |B|) of two texts' content words, in [0, 1] (Dice 1945).

    1 for texts that both have none and are the same, else 0.
    """
    one, other = content_words(first), content_words(second)
    if not one and not other:
        return float(first.split() == second.split())
    return 2 * len(one & other) / (len(one) + len(other))


def by_words(ours: Sequence[str], people: Sequence[str]) -> list[list[float]]:
    """The Dice coefficient of each of ours (row) with each of theirs (column)."""
    return [[dice(one, other) for other in people] for one in ours]


async def by_tagger(
    ours: Sequence[str], people: Sequence[str], tagger: Labeller
) -> list[list[float]]:
    """How far each of ours (row) and each of theirs (column) support each other, in [0, 1].

    The smaller of two probabilities: that theirs, as a document, supports ours, and the reverse.
    """
    if not ours or not people:
        return [[] for _ in ours]
    back = await _support(ours, people, tagger)
    forth = await _support(people, ours, tagger)
    return [
        [min(back[row][column], forth[column][row]) for column in range(len(people))]
        for row in range(len(ours))
    ]


async def _support(
    claims: Sequence[str], facts: Sequence[str], tagger: Labeller
) -> list[list[float]]:
    documents = [Document(id=str(place), text=text) for place, text in enumerate(facts)]
    judged = (await tagger(claims, documents)).judgements
    found = [(each.probabilities or {}).get(Relation.SUPPORTS, 0.0) for each in judged]
    return [found[row : row + len(facts)] for row in range(0, len(found), len(facts))]


def one_to_one(similarity: Sequence[Sequence[float]], least: float) -> tuple[Match, ...]:
    """As many pairs of a row and a column as can be, each in one pair, of similarity `least`.

    Of matchings of one size the most similar is taken (Kuhn 1955, by scipy).
    """
    if not similarity or not similarity[0]:
        return ()

    import numpy as np
    from scipy.optimize import linear_sum_assignment

    found = np.asarray(similarity)
    # More than all similarities together, so that no pair is given up for more similar ones.
    size = min(found.shape) + 1
    rows, columns = linear_sum_assignment(
        np.where(found >= least, size + found, 0.0), maximize=True
    )
    return tuple(
        Match(int(row), int(column), float(found[row, column]))
        for row, column in zip(rows, columns, strict=True)
        if found[row, column] >= least
    )


_JOINTS: Final = re.compile(r"\s*(?:;|,?\s(?:and|but|while)\s)\s*")


def at_conjunctions(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence between "and", "but", "while" and semicolons: a trivial splitter."""
    parts = (part.strip(" .,") for part in _JOINTS.split(sentence))
    return tuple(f"{part}." for part in parts if part)
