"""Scores of words and of whole responses (NPOV, section 3.2 and appendix C)."""

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from salience.variants import Aggregation


def contributions(
    words: NDArray[np.floating], aggregation: Aggregation = "max"
) -> NDArray[np.floating]:
    """alpha_i, how much an input word contributes to the response (NPOV, equation 1): (rows,).

    M_words is (rows, columns), in [0, 1]; without a response word alpha is 0. It is aggregated over
    response words. `sum` may exceed 1. `negative_entropy` is taken of the row divided by its sum,
    as 1 - entropy / log(columns), in [0, 1]: the paper does not scale it, but geometric means need
    non-negative numbers.
    """
    return _aggregated(words, aggregation)


def attributions(
    words: NDArray[np.floating], aggregation: Aggregation = "max"
) -> NDArray[np.floating]:
    """beta_j, how much a response word is drawn from the input (NPOV, equation 2).

    As `contributions`, over input words: (columns,), and 0 without an input word.
    """
    return _aggregated(words.T, aggregation)


def _aggregated(rows: NDArray[np.floating], aggregation: Aggregation) -> NDArray[np.floating]:
    if aggregation not in get_args(Aggregation):
        raise ValueError(f"unknown aggregation '{aggregation}'")
    if aggregation == "max":
        return np.asarray(rows.max(axis=1, initial=0))
    sums = rows.sum(axis=1, keepdims=True)
    if aggregation == "sum":
        return np.asarray(sums[:, 0])
    count = rows.shape[1]
    if count < 2:  # all of it is from one word
        return np.asarray((sums[:, 0] > 0).astype(rows.dtype))
    shares = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = -(shares * logs).sum(axis=1)
    # A word without any attribution is drawn from no word, not from one.
    certainty = np.where(sums[:, 0] > 0, 1 - entropy / np.log(count), 0)
    return np.asarray(np.clip(certainty, 0, 1))


def average(scores: NDArray[np.floating] | Sequence[float]) -> float:
    """The geometric mean of words' scores; 0 as soon as one score is.

    Section 3.2 of the paper says mean; the formulas of appendix C decide here.

    Raises:
        ValueError: There are no scores, or one is negative.
    """
    values = np.asarray(scores, dtype=np.float64)
    if not len(values) or (values < 0).any():
        raise ValueError("an average needs at least one score, and none below 0")
    return float(np.exp(np.log(values).mean())) if (values > 0).all() else 0.0


def coverage_error(perspectives: Sequence[NDArray[np.floating]]) -> float | None:
    """s_cov: how far a perspective is left out of a response (NPOV, appendix C).

    One minus the smallest of the perspectives' average contributions, since each must be covered;
    perspectives without words are ignored. In [0, 1] if contributions are; None if no perspective
    has a word.
    """
    means = [average(words) for words in perspectives if len(words)]
    return 1 - min(means) if means else None


def hallucination_error(response: NDArray[np.floating]) -> float | None:
    """s_hall: how far a response is not drawn from the input (NPOV, appendix C).

    One minus the average attribution of the response's words. In [0, 1] if attributions are; None
    if the response has no word.
    """
    return 1 - average(response) if len(response) else None
