"""Prediction-powered inference: a few true labels and many predicted ones give a mean."""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist
from typing import NamedTuple

from pipelines.metrics.estimate import Estimate, check_confidence


class Predicted(NamedTuple):
    """A random sample with its labels, and the predictions for it and for what was not drawn.

    `labels` and `predictions` belong to the same examples, at least one; `unlabelled` are the
    predictions for all others, of which there may be none.
    """

    labels: Sequence[float]
    predictions: Sequence[float]
    unlabelled: Sequence[float]

    @property
    def size(self) -> int:
        """Examples, labelled or not."""
        return len(self.labels) + len(self.unlabelled)


def power_tuning(samples: Sequence[Predicted]) -> float:
    """How far to trust the predictions: the lambda of the smallest variance, cut to [0, 1].

    PPI++ (Angelopoulos, Duchi and Zrnic 2023, section 6 and example 6.1): for one sample of n
    labels y with predictions f, and N further predictions,

        lambda = cov(y, f) / ((1 + n/N) var(f)).

    Several samples are strata of weights w_h, their share of all examples. One lambda serves all,
    for a stratum of ten labels would tune its own to noise:

        lambda = sum w_h^2 cov_h / n_h  /  sum w_h^2 var_h (1/n_h + 1/N_h).

    As in ppi-python, cov divides by n, var by the n + N predictions less 1. It is 0 where the
    predictions do not differ, so that they say nothing.
    """
    whole = sum(each.size for each in samples)
    gain, cost = 0.0, 0.0
    for each in samples:
        n, rest = len(each.labels), len(each.unlabelled)
        if rest == 0:
            continue
        weight = (each.size / whole) ** 2
        gain += weight * _covariance(each.labels, each.predictions) / n
        every = [*each.predictions, *each.unlabelled]
        cost += weight * _variance(every) * len(every) / (len(every) - 1) * (1 / n + 1 / rest)
    return min(max(gain / cost, 0.0), 1.0) if cost > 1e-15 else 0.0  # 0 but for rounding


def ppi_mean(
    samples: Sequence[Predicted],
    *,
    lam: float | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """The mean of the labels where all examples come from, by a sample and predictions (PPI++).

    In each sample, with lambda from `power_tuning` unless given,

        theta = mean(y) + lambda (mean of f over the unlabelled - mean of f over the labelled)
        variance = var(y - lambda f) / n + lambda^2 var(f over the unlabelled) / N.

    The mean over samples, which are strata, is weighted by their share of all examples, and its
    interval is theta -+ z sqrt(sum of w_h^2 variance_h). lambda = 0 is the classical mean of the
    labels, 1 the first form of prediction-powered inference.

    Returns:
        None without a sample, or where one has no label.

    Raises:
        ValueError: Labels and predictions of a sample differ in number.
    """
    check_confidence(confidence)
    if not _checked(samples):
        return None
    tuned = power_tuning(samples) if lam is None else lam
    whole = sum(each.size for each in samples)
    value, variance = 0.0, 0.0
    for each in samples:
        weight = each.size / whole
        value += weight * _mean(each.labels)
        used = tuned if each.unlabelled else 0.0
        residuals = [y - used * f for y, f in zip(each.labels, each.predictions, strict=True)]
        variance += weight**2 * _variance(residuals) / len(residuals)
        if each.unlabelled:
            value += weight * used * (_mean(each.unlabelled) - _mean(each.predictions))
            variance += weight**2 * used**2 * _variance(each.unlabelled) / len(each.unlabelled)
    half = _z(confidence) * sqrt(variance)
    n = sum(len(each.labels) for each in samples)
    return Estimate(value, value - half, value + half, n, confidence)


def ppi_share(
    samples: Sequence[Predicted],
    *,
    lam: float | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """The share of labels of 1 among these very examples; the value is that of `ppi_mean`.

    What is labelled is known, and only the mean of the N others is estimated, so the interval is
    narrower: with the residuals e = y - lambda (n + N) / N f, a stratum has

        variance = (N / (n + N))^2 var(e) (1/n + 1/N),

    which is that of `ppi_mean` less var(y) / (n + N). Where ten labels are equal, their variance
    would be 0, and the interval a point. So that of the others is Price and Bonett's (2004, "An
    improved confidence interval for a linear function of binomial proportions"): each of m strata
    gets 2/m labels of 1 and of 0 besides, here with the stratum's mean prediction. For one stratum,
    many others and lambda = 0 it is the interval of Agresti and Coull. It is cut to [0, 1], and
    widened to the value where that lies outside.
    """
    check_confidence(confidence)
    if not _checked(samples):
        return None
    tuned = power_tuning(samples) if lam is None else lam
    whole = sum(each.size for each in samples)
    added = 2 / len(samples)
    value, centre, variance = 0.0, 0.0, 0.0
    for each in samples:
        n, others = len(each.labels), len(each.unlabelled)
        known = sum(each.labels) / whole
        value += known
        centre += known
        if not others:
            continue
        rest = others / whole
        slope, predicted = tuned * each.size / others, _mean(each.predictions)
        moved = slope * (_mean(each.unlabelled) - predicted)
        value += rest * (_mean(each.labels) + moved)

        # Residuals around the mean prediction, so that the labels added are residuals, too.
        pairs = zip(each.labels, each.predictions, strict=True)
        residuals = [*(y - slope * (f - predicted) for y, f in pairs), 1.0, 0.0]
        counts = [*[1.0] * n, added, added]
        total = n + 2 * added
        middle = fsum(c * r for c, r in zip(counts, residuals, strict=True)) / total
        spread = fsum(c * (r - middle) ** 2 for c, r in zip(counts, residuals, strict=True)) / total
        centre += rest * (middle + moved)
        variance += rest**2 * spread * (1 / total + 1 / others)
    half = _z(confidence) * sqrt(variance)
    value = min(max(value, 0.0), 1.0)
    low, high = min(max(centre - half, 0.0), value), max(min(centre + half, 1.0), value)
    return Estimate(value, low, high, sum(len(each.labels) for each in samples), confidence)


def _checked(samples: Sequence[Predicted]) -> bool:
    """Whether there are labels of each sample; ValueError if predictions do not belong to them."""
    for each in samples:
        if len(each.labels) != len(each.predictions):
            raise ValueError(f"{len(each.labels)} labels, {len(each.predictions)} predictions")
    return bool(samples) and all(each.labels for each in samples)


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    return _covariance(values, values)


def _covariance(first: Sequence[float], second: Sequence[float]) -> float:
    one, other = _mean(first), _mean(second)
    return fsum((x - one) * (y - other) for x, y in zip(first, second, strict=True)) / len(first)
