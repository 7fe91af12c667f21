"""From the windows of a premise to the premise: how their probabilities are joined.

Every aggregation takes the (w, 3) probabilities of w >= 1 windows, in the order of `LABELS`, and
gives the (3,) probabilities of the whole, which sum to 1. One window is given back as it is.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nli.labels import LABELS, Label

Aggregation = Literal["maximum", "noisy-or"]
Floats = NDArray[np.float64]

_SUPPORT, _REFUTE, _IRRELEVANT = (LABELS.index(label) for label in Label)


def softmax(logits: ArrayLike, temperature: float = 1.0) -> Floats:
    """Probabilities of logits divided by a temperature; the last axis sums to 1."""
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    result: Floats = shares / shares.sum(axis=-1, keepdims=True)
    return result


def maximum(window_probabilities: ArrayLike) -> Floats:
    """Strongest support and strongest refute over the windows; irrelevant gets the rest.

    Where the two exceed 1 together (a premise that does both) nothing is left, and they are
    normalised. This is how sentence-level NLI is commonly read at document level (SummaC_ZS, Laban
    et al. 2022, takes the maximum over the source as well).
    """
    rows = _rows(window_probabilities)
    if len(rows) == 1:
        return rows.reshape(-1)
    support, refute = rows[:, _SUPPORT].max(), rows[:, _REFUTE].max()
    return _joined(support, refute, max(0.0, 1 - support - refute))


def noisy_or(window_probabilities: ArrayLike) -> Floats:
    """At least one window supports, at least one refutes, all are irrelevant: normalised.

    Support and refute are 1 - prod(1 - p) over the windows, irrelevant is the product of theirs.
    It treats windows as independent causes (Pearl, Probabilistic Reasoning in Intelligent Systems,
    1988, 4.3.2), so many weak windows add up.
    """
    rows = _rows(window_probabilities)
    if len(rows) == 1:
        return rows.reshape(-1)
    support, refute = (1 - float(np.prod(1 - rows[:, place])) for place in (_SUPPORT, _REFUTE))
    return _joined(support, refute, float(np.prod(rows[:, _IRRELEVANT])))


AGGREGATIONS: dict[Aggregation, Callable[[ArrayLike], Floats]] = {
    "maximum": maximum,
    "noisy-or": noisy_or,
}


def _rows(window_probabilities: ArrayLike) -> Floats:
    rows = np.asarray(window_probabilities, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] != len(LABELS):
        raise ValueError(f"windows' probabilities of shape {rows.shape}; (w, 3) with w >= 1 needed")
    return rows


def _joined(support: float, refute: float, irrelevant: float) -> Floats:
    shares = np.empty(len(LABELS))
    shares[[_SUPPORT, _REFUTE, _IRRELEVANT]] = support, refute, irrelevant
    result: Floats = shares / shares.sum()
    return result
