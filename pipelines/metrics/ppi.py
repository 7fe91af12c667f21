"""Prediction-powered inference: a few true labels and many predicted ones give a mean."""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist
from typing import NamedTuple

from pipelines.metrics.estimate import Estimate, check_confidence


class Predicted(NamedTuple):
    """A random sample with its labels, and the predictions for it and for what was not drawn.

    `labels` and `predictions` belong to the same examples, at least one; `unlabelled` are the
    predictions for all others, of which there may be none. Where examples do not count alike,
    `weights` and `other_weights`, all above 0, say how much those and these do.
    """

    labels: Sequence[float]
    predictions: Sequence[float]
    unlabelled: Sequence[float]
    weights: Sequence[float] | None = None
    other_weights: Sequence[float] | None = None

    @property
    def drawn(self) -> Sequence[float]:
        """The weights of what was drawn."""
        return [1.0] * len(self.labels) if self.weights is None else self.weights

    @property
    def others(self) -> Sequence[float]:
        """The weights of what was not."""
        return [1.0] * len(self.unlabelled) if self.other_weights is None else self.other_weights

    @property
    def weight(self) -> float:
        """That of all examples, labelled or not."""
        return fsum(self.drawn) + fsum(self.others)


def effective_size(weights: Sequence[float]) -> float:
    """How many examples of equal weight tell as much: (sum w)^2 / sum w^2 (Kish 1965)."""
    return fsum(weights) ** 2 / fsum(w * w for w in weights)


def power_tuning(samples: Sequence[Predicted]) -> float:
    """How far to trust the predictions: the lambda of the smallest variance, cut to [0, 1].

    PPI++ (Angelopoulos, Duchi and Zrnic 2023, section 6 and example 6.1): for one sample of n
    labels y with predictions f, and N further predictions,

        lambda = cov(y, f) / ((1 + n/N) var(f)).

    Several samples are strata of weights w_h, their share of all examples. One lambda serves all,
    for a stratum of ten labels would tune its own to noise:

        lambda = sum w_h^2 cov_h / n_h  /  sum w_h^2 var_h (1/n_h + 1/N_h).

    As in ppi-python, cov divides by n, var by the n + N predictions less 1. It is 0 where the
    predictions do not differ, so that they say nothing. Where examples have weights, means are
    weighted, w_h is the stratum's share of the weight, and n and N are `effective_size`s.
    """
    whole = fsum(each.weight for each in samples)
    gain, cost = 0.0, 0.0
    for each in samples:
        if not each.unlabelled:
            continue
        n, rest = effective_size(each.drawn), effective_size(each.others)
        weight = (each.weight / whole) ** 2
        gain += weight * _covariance(each.labels, each.predictions, each.drawn) / n
        every, weights = [*each.predictions, *each.unlabelled], [*each.drawn, *each.others]
        size = effective_size(weights)
        cost += weight * _variance(every, weights) * size / (size - 1) * (1 / n + 1 / rest)
    return min(max(gain / cost, 0.0), 1.0) if cost > 1e-15 else 0.0  # 0 but for rounding


def ppi_share(
    samples: Sequence[Predicted],
    *,
    lam: float | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """The mean of labels in [0, 1] over these very examples, by a sample and predictions (PPI++).

    Labels of 0 and 1 make it a share. In each sample, with lambda from `power_tuning` unless given,

        theta = mean(y) + lambda (mean of f over the unlabelled - mean of f over the labelled),

    and the mean over samples, which are strata, is weighted by their share of all examples. lambda
    = 0 is the classical mean of the labels, 1 the first form of prediction-powered inference. What
    is labelled is known, and only the mean of the N others is estimated: with residuals
    e = y - lambda (n + N) / N f, a stratum has

        variance = (N / (n + N))^2 var(e) (1/n + 1/N),

    which is PPI++'s variance less var(y) / (n + N). Where ten labels are equal, their variance
    would be 0, and the interval a point. So that of the others is Price and Bonett's (2004, "An
    improved confidence interval for a linear function of binomial proportions"): each of m strata
    gets 2/m labels of 1 and of 0 besides, here with the stratum's mean prediction and weight. For
    one stratum, many others and lambda = 0 it is the interval of Agresti and Coull. It is cut to
    [0, 1], and widened to the value where that lies outside. Weights count as in `power_tuning`.
    """
    check_confidence(confidence)
    for each in samples:
        if len(each.labels) != len(each.predictions):
            raise ValueError(f"{len(each.labels)} labels, {len(each.predictions)} predictions")
    if not samples or not all(each.labels for each in samples):
        return None
    tuned = power_tuning(samples) if lam is None else lam
    whole = fsum(each.weight for each in samples)
    added = 2 / len(samples)
    value, centre, variance = 0.0, 0.0, 0.0
    for each in samples:
        drawn, others = each.drawn, each.others
        known = fsum(w * y for w, y in zip(drawn, each.labels, strict=True)) / whole
        value += known
        centre += known
        if not each.unlabelled:
            continue
        rest = fsum(others) / whole
        slope = tuned * each.weight / fsum(others)
        predicted = _mean(each.predictions, drawn)
        moved = slope * (_mean(each.unlabelled, others) - predicted)
        value += rest * (_mean(each.labels, drawn) + moved)

        # Residuals around the mean prediction, so that the labels added are residuals, too.
        pairs = zip(each.labels, each.predictions, strict=True)
        residuals = [*(y - slope * (f - predicted) for y, f in pairs), 1.0, 0.0]
        besides = added * fsum(drawn) / len(drawn)
        counts = [*drawn, besides, besides]
        n = effective_size(drawn) + 2 * added
        centre += rest * (_mean(residuals, counts) + moved)
        spread = _variance(residuals, counts) * (1 / n + 1 / effective_size(others))
        variance += rest**2 * spread
    half = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(variance)
    value = min(max(value, 0.0), 1.0)
    low, high = min(max(centre - half, 0.0), value), max(min(centre + half, 1.0), value)
    return Estimate(value, low, high, sum(len(each.labels) for each in samples), confidence)


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return fsum(w * x for w, x in zip(weights, values, strict=True)) / fsum(weights)


def _variance(values: Sequence[float], weights: Sequence[float]) -> float:
    return _covariance(values, values, weights)


def _covariance(first: Sequence[float], second: Sequence[float], weights: Sequence[float]) -> float:
    one, other = _mean(first, weights), _mean(second, weights)
    products = [(x - one) * (y - other) for x, y in zip(first, second, strict=True)]
    return _mean(products, weights)
