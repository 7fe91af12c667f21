"""F1 of a label, and its mean over labels with a bootstrap interval."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.metrics.confusion import Counts, Label, confusion
from pipelines.metrics.estimate import Estimate, check_confidence

if TYPE_CHECKING:
    import numpy as np

_CELLS = 20_000_000
"""Labels that the bootstrap holds at once; it bounds memory, not the result."""


def f1(true_positives: int, false_positives: int, false_negatives: int) -> float | None:
    """Harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN), in [0, 1].

    None where all three are 0, since nothing was there to be found; ValueError below 0.
    """
    if min(true_positives, false_positives, false_negatives) < 0:
        raise ValueError("a count is negative")
    total = 2 * true_positives + false_positives + false_negatives
    return 2 * true_positives / total if total else None


def f1_by_label(counts: Counts) -> tuple[float | None, ...]:
    """F1 of each label of a confusion matrix, in its order; None for a label that never occurs."""
    return tuple(
        f1(row[index], sum(other[index] for other in counts) - row[index], sum(row) - row[index])
        for index, row in enumerate(counts)
    )


def macro_f1(
    gold: Sequence[Label],
    predicted: Sequence[Label],
    labels: Sequence[Label],
    *,
    confidence: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
) -> Estimate | None:
    """Mean F1 over the labels that occur, with a percentile bootstrap interval over examples.

    A label that is neither true nor given anywhere has no F1 and is left out of the mean, in the
    sample and in each resample. Examples are drawn independently; where they come in clusters
    (pairs with one premise), the interval is too narrow.

    Equal seeds give equal intervals. Labels and errors are as in `confusion`. The mean, in
    [0, 1], is None without an example, and has no interval for a single one.
    """
    check_confidence(confidence)
    counts = confusion(gold, predicted, labels)
    scores = [score for score in f1_by_label(counts) if score is not None]
    if not scores:
        return None
    value, n = sum(scores) / len(scores), len(gold)
    if n == 1:
        return Estimate(value, None, None, n, confidence)

    import numpy as np
    from scipy.stats import bootstrap

    width = len(labels)
    cells = np.repeat(np.arange(width * width), np.asarray(counts).ravel())
    if len(np.unique(cells)) == 1:  # every resample is the sample
        return Estimate(value, value, value, n, confidence)

    def statistic(sample: "np.ndarray", axis: int = -1) -> "np.ndarray":
        """Macro-F1 of each resample, cells (..., n) along `axis` -> (...)."""
        tables = np.stack([(sample == cell).sum(axis=axis) for cell in range(width**2)], axis=-1)
        tables = tables.reshape(*tables.shape[:-1], width, width)
        hits = np.diagonal(tables, axis1=-2, axis2=-1)
        totals = tables.sum(axis=-1) + tables.sum(axis=-2)
        found = np.divide(2 * hits, totals, out=np.zeros(totals.shape), where=totals > 0)
        mean: np.ndarray = found.sum(axis=-1) / (totals > 0).sum(axis=-1)
        return mean

    interval = bootstrap(
        (cells,),
        statistic,
        n_resamples=resamples,
        batch=max(1, _CELLS // n),
        vectorized=True,
        method="percentile",
        confidence_level=confidence,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    # F1 is no mean: the percentiles of a small sample may both lie on one side of the value.
    low, high = min(float(interval.low), value), max(float(interval.high), value)
    return Estimate(value, low, high, n, confidence)
