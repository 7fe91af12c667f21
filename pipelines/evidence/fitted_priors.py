"""Corrections of label probabilities fitted on labelled pairs, and what each is worth on others."""

from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from pipelines.errors import InputError
from pipelines.evidence.priors import (
    FLOOR,
    Correction,
    HeldOut,
    LabelT,
    Method,
    Rows,
    batch_prior,
    contextual_prior,
    corrected,
    likeliest,
    logs,
    unchanged,
)
from pipelines.metrics.mean import mean

Floats = NDArray[np.float64]

SPREAD_OF_WEIGHTS: Final = 1.0
SPREAD_OF_BIAS: Final = 3.0
"""Standard deviations of the normal priors around the correction that changes nothing.

They keep few pairs, or a label that none of them has, from sending a number to infinity.
"""

FOLDS: Final = 5
"""Most parts that pairs are cut into."""

Fit = Callable[[Rows[LabelT], Sequence[LabelT]], Correction]


def fitted_bias(rows: Rows[LabelT], gold: Sequence[LabelT]) -> Correction:
    """The bias b with which labelled pairs are most likely, W being the identity.

    Maximises sum_i log p'_i(gold_i) - |b|^2 / (2 * 3^2).

    Args:
        rows: Probabilities, n of them.
        gold: The true labels, n of them.
    """
    return _fitted(rows, gold, "bias")


def fitted_matrix(rows: Rows[LabelT], gold: Sequence[LabelT]) -> Correction:
    """The matrix W and the bias b with which labelled pairs are most likely.

    Maximises sum_i log p'_i(gold_i) - |W - I|^2 / 2 - |b|^2 / (2 * 3^2): Dirichlet calibration
    (Kull and others, arXiv 1910.12656) drawn to the identity.

    Args:
        rows: Probabilities, n of them.
        gold: The true labels, n of them.
    """
    return _fitted(rows, gold, "matrix")


def _fitted(rows: Rows[LabelT], gold: Sequence[LabelT], method: Method) -> Correction:
    from scipy.optimize import minimize

    labels = list(rows[0])
    size = len(labels)
    given: Floats = np.array([[logs(row)[label] for label in labels] for row in rows])
    true: Floats = np.array([[float(label == one) for label in labels] for one in gold])
    free = method == "matrix"

    def parts(numbers: Floats) -> tuple[Floats, Floats]:
        """The bias, and the weights less the identity."""
        apart = numbers[size:].reshape(size, size) if free else np.zeros((size, size))
        return numbers[:size], apart

    def loss(numbers: Floats) -> tuple[float, Floats]:
        bias, apart = parts(numbers)
        made = given @ (np.eye(size) + apart).T + bias
        made -= made.max(axis=1, keepdims=True)
        shares = np.exp(made)
        total = shares.sum(axis=1, keepdims=True)
        missed = shares / total - true
        cost = float((np.log(total) - (made * true).sum(axis=1, keepdims=True)).sum())
        cost += float((bias**2).sum()) / (2 * SPREAD_OF_BIAS**2)
        cost += float((apart**2).sum()) / (2 * SPREAD_OF_WEIGHTS**2)
        slopes = [missed.sum(axis=0) + bias / SPREAD_OF_BIAS**2]
        if free:
            slopes.append((missed.T @ given + apart / SPREAD_OF_WEIGHTS**2).ravel())
        return cost, np.concatenate(slopes)

    start = np.zeros(size + (size * size if free else 0))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    bias, apart = parts(found.x)
    made = Correction.of_bias(labels, method, bias.tolist())
    return made.model_copy(update={"weights": tuple(map(tuple, (np.eye(size) + apart).tolist()))})


def fits(content_free: Rows[LabelT] = ()) -> dict[Method, Fit[LabelT]]:
    """Every way to learn a correction: name -> (probabilities, true labels) -> correction.

    `contextual`, which looks at `content_free` alone, is among them where there is any. Only
    `bias` and `matrix` look at labels.
    """
    found: dict[Method, Fit[LabelT]] = {
        "none": lambda rows, _: unchanged(list(rows[0])),
        "batch": lambda rows, _: batch_prior(rows),
        "batch-mean": lambda rows, _: batch_prior(rows, mean="probability"),
    }
    if content_free:
        found["contextual"] = lambda *_: contextual_prior(content_free)
    return found | {"bias": fitted_bias, "matrix": fitted_matrix}


def held_out(
    rows: Rows[LabelT],
    gold: Sequence[LabelT],
    groups: Sequence[str],
    ways: Mapping[Method, Fit[LabelT]],
    *,
    seed: int = 0,
) -> list[HeldOut]:
    """What each way is worth, by cross-validation in which no group is on both sides.

    The intervals are clustered by group.

    Args:
        rows: Probabilities, n of them.
        gold: True labels, n of them.
        groups: What pairs share (a question, a claim), n of them.
        ways: As of `fits`.
        seed: Of the parts that groups are drawn into.

    Raises:
        InputError: All pairs are of one group.
    """
    from sklearn.model_selection import GroupKFold

    count = len(set(groups))
    if count < 2:
        raise InputError("all pairs are of one group, so that nothing can be held out; give more")
    parts = GroupKFold(min(FOLDS, count), shuffle=True, random_state=seed)
    folds = list(parts.split(rows, groups=groups))
    found = []
    for method, fit in ways.items():
        made: dict[int, dict[LabelT, float]] = {}
        for inside, outside in folds:
            correction = fit([rows[place] for place in inside], [gold[place] for place in inside])
            made |= {place: corrected(rows[place], correction) for place in outside}
        scored = [(made[place], one) for place, one in enumerate(gold)]
        likelihoods = mean([log(max(row[one], FLOOR)) for row, one in scored], groups)
        hits = mean([float(likeliest(row) == one) for row, one in scored], groups, bounds=(0, 1))
        assert likelihoods is not None and hits is not None  # noqa: S101 - there are pairs
        found.append(HeldOut(method=method, log_likelihood=likelihoods, accuracy=hits))
    return found


def best(found: Sequence[HeldOut], groups: int) -> Method:
    """The simplest way, in their order, that is within one standard error of the likeliest.

    The rule of Breiman and others (Classification and Regression Trees, 1984, section 3.4.3): what
    more numbers gain has to be more than chance. The error is that of the likeliest way's mean,
    from its 95 % interval over so many groups (`metrics.mean`).
    """
    first = max(found, key=lambda each: each.log_likelihood.value).log_likelihood
    error = 0.0
    if first.low is not None and first.high is not None:
        error = (first.high - first.low) / (2 * float(stdtrit(groups - 1, 0.975)))
    return next(each for each in found if each.log_likelihood.value >= first.value - error).method
