"""The best of many scores."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def top(scores: "NDArray[Any]", k: int) -> "NDArray[np.intp]":
    """Positions of the k largest scores, the largest first; of equals the first ones, in order.

    The scores, of shape (n,), are partitioned and only the k are sorted. With fewer than k of
    them, all are given. k is at least 1.
    """
    import numpy as np

    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, -k)[-k]
    above = np.flatnonzero(scores > least)
    level = np.flatnonzero(scores == least)[: k - len(above)]
    chosen = np.sort(np.concatenate([above, level]))
    return chosen[np.argsort(-scores[chosen], kind="stable")]
