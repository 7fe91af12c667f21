"""Several rankings made one."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar

ItemT = TypeVar("ItemT", bound=Hashable)

RANK_CONSTANT = 60
"""The constant of the original paper."""


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[ItemT]], *, constant: float = RANK_CONSTANT
) -> list[tuple[ItemT, float]]:
    """Sum over rankings of 1 / (constant + rank), ranks from 1 (Cormack et al. 2009).

    Rankings have the best first, each item once; what one does not name gets nothing from it. The
    constant is above 0; a larger one lets first places count for less.

    Returns:
        Items with their score, the best first; of equals the one that was met first.
    """
    scores: dict[ItemT, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] += 1 / (constant + rank)
    return sorted(scores.items(), key=lambda row: -row[1])


def normalised(scores: Sequence[float]) -> list[float]:
    """Scores divided by the largest, in [0, 1]; negative ones count as 0 (ConRAG's rel_i).

    Where none is above 0, all are 0. The smallest score is not moved to 0: the last of twenty
    passages is no less relevant for being last.
    """
    most = max(scores, default=0.0)
    return [max(0.0, score) / most if most > 0 else 0.0 for score in scores]
