"""From the windows of a premise to the premise: how their probabilities are joined.

Every aggregation takes the (w, 3) probabilities of w >= 1 windows, in the order of `LABELS`, and
gives the (3,) probabilities of the whole, which sum to 1. One window is given back as it is.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nli.errors import TaggerError
from nli.labels import LABELS, Label

Aggregation = Literal["maximum", "noisy-or", "learned"]
Floats = NDArray[np.float64]
Coefficients = tuple[tuple[float, ...], ...]
"""Coefficients of `learned`: per label, in the order of `LABELS`, intercept and one factor per
feature."""

_SUPPORT, _REFUTE, _IRRELEVANT = (LABELS.index(label) for label in Label)
# Keeps log-odds finite; more extreme probabilities of a small model mean nothing.
_LEAST = 1e-4


def softmax(logits: ArrayLike, temperature: float = 1.0) -> Floats:
    """Probabilities of logits divided by a temperature; the last axis sums to 1."""
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    result: Floats = shares / shares.sum(axis=-1, keepdims=True)
    return result


def strongest(probabilities: ArrayLike) -> float:
    """The largest of some probabilities, (w,): one window is enough to support or to refute."""
    return float(np.max(probabilities))


def any_of(probabilities: ArrayLike) -> float:
    """Noisy-or: 1 - prod(1 - p) over (w,), the probability that at least one of the windows does.

    It treats windows as independent causes (Pearl, Probabilistic Reasoning in Intelligent Systems,
    1988, 4.3.2), so many weak windows add up.
    """
    return float(1 - np.prod(1 - np.asarray(probabilities, dtype=np.float64)))


def maximum(window_probabilities: ArrayLike) -> Floats:
    """Strongest support and strongest refute over the windows; irrelevant gets the rest.

    Where the two exceed 1 together (a premise that does both) nothing is left, and they are
    normalised. This is how sentence-level NLI is commonly read at document level (SummaC_ZS, Laban
    et al. 2022, takes the maximum over the source as well).
    """
    rows = _rows(window_probabilities)
    if len(rows) == 1:
        return rows.reshape(-1)
    support, refute = strongest(rows[:, _SUPPORT]), strongest(rows[:, _REFUTE])
    return _joined(support, refute, max(0.0, 1 - support - refute))


def noisy_or(window_probabilities: ArrayLike) -> Floats:
    """At least one window supports, at least one refutes, all are irrelevant: normalised.

    Support and refute are `any_of` the windows, irrelevant is the product of the windows'.
    """
    rows = _rows(window_probabilities)
    if len(rows) == 1:
        return rows.reshape(-1)
    return _joined(
        any_of(rows[:, _SUPPORT]), any_of(rows[:, _REFUTE]), float(np.prod(rows[:, _IRRELEVANT]))
    )


def features(window_probabilities: ArrayLike) -> Floats:
    """Features of the learned aggregation, from the (w, 3) probabilities of windows.

    Returns:
        (6,): log-odds of the strongest support and of the strongest refute, log-odds of the mean
        support and of the mean refute, their difference within the window that is least
        irrelevant, and the logarithm of the number of windows.
    """
    rows = _rows(window_probabilities)
    support, refute = rows[:, _SUPPORT], rows[:, _REFUTE]
    telling = rows[int(np.argmin(rows[:, _IRRELEVANT]))]
    return np.array(
        [
            _log_odds(support.max()),
            _log_odds(refute.max()),
            _log_odds(support.mean()),
            _log_odds(refute.mean()),
            telling[_SUPPORT] - telling[_REFUTE],
            np.log(len(rows)),
        ]
    )


def learned(window_probabilities: ArrayLike, coefficients: Coefficients) -> Floats:
    """Multinomial logistic regression on `features`, with the coefficients of `fit_learned`."""
    rows = _rows(window_probabilities)
    if len(rows) == 1:
        return rows.reshape(-1)
    weights = np.asarray(coefficients, dtype=np.float64)
    return softmax(weights[:, 0] + weights[:, 1:] @ features(rows))


def fit_learned(windows: Sequence[ArrayLike], labels: Sequence[Label]) -> Coefficients:
    """Fit the coefficients of `learned` by maximum likelihood with a weak quadratic penalty.

    Args:
        windows: The (w, 3) window probabilities of n premises. Premises of one window teach nothing
            and are left out.
        labels: The premises' labels, (n,).

    Raises:
        TaggerError: A label has no premise of several windows.
    """
    from sklearn.linear_model import LogisticRegression

    several = [
        (features(each), LABELS.index(label))
        for each, label in zip(windows, labels, strict=True)
        if len(_rows(each)) > 1
    ]
    if {label for _, label in several} != set(range(len(LABELS))):
        raise TaggerError(
            "a learned aggregation needs premises of several windows for all three labels; give"
            " longer premises, or use maximum or noisy-or"
        )
    model = LogisticRegression(max_iter=1000)
    model.fit([row for row, _ in several], [label for _, label in several])
    table = np.column_stack([model.intercept_, model.coef_])
    return tuple(tuple(round(float(value), 6) for value in row) for row in table)


def aggregate(
    name: Aggregation, window_probabilities: ArrayLike, coefficients: Coefficients | None = None
) -> Floats:
    """Join windows by the aggregation of this name; `learned` needs its coefficients."""
    if name != "learned":
        return (maximum if name == "maximum" else noisy_or)(window_probabilities)
    if coefficients is None:
        raise ValueError("the learned aggregation has not been fitted")
    return learned(window_probabilities, coefficients)


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


def _log_odds(probability: float) -> float:
    kept = min(max(float(probability), _LEAST), 1 - _LEAST)
    return float(np.log(kept / (1 - kept)))
