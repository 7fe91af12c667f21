"""Accuracy, confusion counts and F1 of predicted labels."""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

from pipelines.metrics.estimate import (
    RESAMPLES,
    Estimate,
    percentile_estimate,
    redrawn_sums,
    share,
)

if TYPE_CHECKING:
    import numpy as np


def accuracy(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> Estimate | None:
    """Share of examples whose predicted label is the true one, in [0, 1], with the Wilson interval.

    None without examples; ValueError if the lengths differ.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} true labels, but {len(predicted)} predicted ones")
    return share([one == other for one, other in zip(gold, predicted, strict=True)])


Label = TypeVar("Label", bound=Hashable)

Counts = tuple[tuple[int, ...], ...]
"""A square matrix of counts: a row per true label, a column per predicted label."""


def confusion(gold: Sequence[Label], predicted: Sequence[Label], labels: Sequence[Label]) -> Counts:
    """Counts of predicted label by true label.

    Row i, column j counts the examples of `labels[i]` that were labelled `labels[j]`. The counts
    sum to the number of examples.

    Raises:
        ValueError: The lengths differ, `labels` has a duplicate, or a label is not in `labels`.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} true labels, but {len(predicted)} predicted ones")
    if len(set(labels)) < len(labels):
        raise ValueError(f"a label appears twice in {list(labels)}")
    counts = Counter(zip(gold, predicted, strict=True))
    for pair in counts:
        for label in pair:
            if label not in labels:
                raise ValueError(f"{label!r} is not among the labels {list(labels)}")
    return tuple(tuple(counts[row, column] for column in labels) for row in labels)


_CELLS = 20_000_000
"""Labels that the bootstrap holds at once; it bounds memory, not the result."""


def f1(true_positives: int, false_positives: int, false_negatives: int) -> float | None:
    """Harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN), in [0, 1].

    None if all counts are zero; ValueError if one is negative.
    """
    if min(true_positives, false_positives, false_negatives) < 0:
        raise ValueError("a count is negative")
    total = 2 * true_positives + false_positives + false_negatives
    return 2 * true_positives / total if total else None


def f1_by_label(counts: Counts) -> tuple[float | None, ...]:
    """F1 of each label of a confusion matrix, in order; None for a label that never occurs."""
    return tuple(
        f1(row[index], sum(other[index] for other in counts) - row[index], sum(row) - row[index])
        for index, row in enumerate(counts)
    )


def macro_f1(
    gold: Sequence[Label],
    predicted: Sequence[Label],
    labels: Sequence[Label],
    *,
    resamples: int = 1_000,
) -> Estimate | None:
    """Mean F1 over the labels that occur, with a percentile bootstrap interval over examples.

    A label that is neither true nor predicted for any example has no F1 and is left out of the
    mean, both in the sample and in each resample. Examples are drawn independently; if they are
    clustered (pairs with one premise), the interval is too narrow.

    Labels and errors are as in `confusion`. The mean, in [0, 1], is None without examples, and has
    no interval for a single example.
    """
    counts = confusion(gold, predicted, labels)
    scores = [score for score in f1_by_label(counts) if score is not None]
    if not scores:
        return None
    value, n = sum(scores) / len(scores), len(gold)
    if n == 1:
        return Estimate(value, None, None, n)

    import numpy as np
    from scipy.stats import bootstrap

    width = len(labels)
    cells = np.repeat(np.arange(width * width), np.asarray(counts).ravel())
    if len(np.unique(cells)) == 1:  # every resample is the sample
        return Estimate(value, value, value, n)

    def statistic(sample: "np.ndarray", axis: int = -1) -> "np.ndarray":
        """Macro-F1 of each resample, cells (..., n) along `axis` -> (...)."""
        tables = np.stack([(sample == cell).sum(axis=axis) for cell in range(width**2)], axis=-1)
        tables = tables.reshape(*tables.shape[:-1], width, width)
        hits = np.diagonal(tables, axis1=-2, axis2=-1)
        totals = tables.sum(axis=-1) + tables.sum(axis=-2)
        by_class = np.divide(2 * hits, totals, out=np.zeros(totals.shape), where=totals > 0)
        mean: np.ndarray = by_class.sum(axis=-1) / (totals > 0).sum(axis=-1)
        return mean

    interval = bootstrap(
        (cells,),
        statistic,
        n_resamples=resamples,
        batch=max(1, _CELLS // n),
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    # F1 is not a mean: in a small sample both percentiles may lie on one side of the value.
    low, high = min(float(interval.low), value), max(float(interval.high), value)
    return Estimate(value, low, high, n)


def clustered_f1(
    gold: Sequence[bool],
    said: Sequence[bool],
    clusters: Sequence[Hashable],
    *,
    resamples: int = RESAMPLES,
) -> Estimate | None:
    """F1 of the class "yes", 2 TP / (2 TP + FP + FN), with a cluster bootstrap interval.

    None if "yes" is neither true nor predicted; no interval for a single cluster. A resample
    without any "yes" is dropped.

    Raises:
        ValueError: The lengths differ.
    """
    import numpy as np

    counts: dict[Hashable, list[int]] = {}
    for label, answer, cluster in zip(gold, said, clusters, strict=True):
        tally = counts.setdefault(cluster, [0, 0, 0])
        tally[0] += label and answer
        tally[1] += answer and not label
        tally[2] += label and not answer
    rows = list(counts.values())
    value = f1(*map(sum, zip(*rows, strict=True))) if rows else None
    if value is None:
        return None
    if len(rows) == 1:
        return Estimate(value, None, None, len(gold))
    pairs = [[hits, false + missed] for hits, false, missed in rows]
    hits, misses = redrawn_sums(pairs, resamples=resamples).T
    with np.errstate(invalid="ignore"):
        scores = 2 * hits / (2 * hits + misses)
    return percentile_estimate(value, scores, len(gold))


def evidence_f1(
    predicted: Collection[Hashable], gold_sets: Sequence[Collection[Hashable]]
) -> float | None:
    """F1 over the evidence units of one claim (ConRAG, Table II), for its best gold set.

    The paper does not say how F1 is averaged over claims. Here each claim has one value, and tables
    report the mean, so claims with much evidence count no more than others.

    Units are sentences or passages. Each gold set is sufficient alone, as in WiCE and FEVER. F1, in
    [0, 1], is None without gold evidence.
    """
    units = set(predicted)
    scores = []
    for gold in map(set, gold_sets):
        if gold:
            hits = len(units & gold)
            scores.append(f1(hits, len(units) - hits, len(gold) - hits) or 0.0)
    return max(scores, default=None)
