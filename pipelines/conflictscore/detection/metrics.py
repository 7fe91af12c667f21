"""Precision, recall, F1 and accuracies of Conflict Detection (ConflictScore, Table 2)."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.f1 import f1
from pipelines.metrics.proportion import proportion


class Verdict(NamedTuple):
    """Whether an example has a conflict, and whether one was found.

    Examples of one group (a question) are not independent.
    """

    truth: bool
    found: bool
    group: Hashable


class Outcomes(NamedTuple):
    """Counts of decisions, conflict being the positive class: `fn` are conflicts missed."""

    tp: int
    fp: int
    fn: int
    tn: int


def outcomes(verdicts: Sequence[Verdict]) -> Outcomes:
    """Count decisions."""
    counts = Counter((each.truth, each.found) for each in verdicts)
    kinds = (True, True), (False, True), (True, False), (False, False)
    return Outcomes(*(counts[kind] for kind in kinds))


def precision(counts: Outcomes) -> Estimate | None:
    """TP / (TP + FP) with the Wilson interval; None where no conflict was found (Table 2)."""
    return proportion(counts.tp, counts.tp + counts.fp)


def recall(counts: Outcomes) -> Estimate | None:
    """TP / (TP + FN) with the Wilson interval, also the accuracy on conflicts (Table 2)."""
    return proportion(counts.tp, counts.tp + counts.fn)


def accuracy(counts: Outcomes) -> Estimate | None:
    """(TP + TN) / all with the Wilson interval (Table 2)."""
    return proportion(counts.tp + counts.tn, counts.tp + counts.fp + counts.fn + counts.tn)


def accuracy_without_conflict(counts: Outcomes) -> Estimate | None:
    """TN / (TN + FP) with the Wilson interval, the accuracy without conflict (Table 2)."""
    return proportion(counts.tn, counts.tn + counts.fp)


def f1_score(
    verdicts: Sequence[Verdict],
    *,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Estimate | None:
    """2 TP / (2 TP + FP + FN) with a percentile bootstrap interval over groups (Table 2).

    Whole groups are drawn with replacement, so that the two examples of one question go together.
    A resample without a positive decision or truth has no F1 and is left out. Equal seeds give
    equal intervals.

    Returns:
        A value in [0, 1]; None where nothing is or was found to be a conflict. A single group has
        no interval.
    """
    counts = outcomes(verdicts)
    value = f1(counts.tp, counts.fp, counts.fn)
    if value is None:
        return None
    groups: dict[Hashable, list[Verdict]] = defaultdict(list)
    for each in verdicts:
        groups[each.group].append(each)
    if len(groups) == 1:
        return Estimate(value, None, None, len(verdicts), confidence)

    import numpy as np

    rows = [outcomes(members) for members in groups.values()]
    # Only the counts matter, so groups of equal counts are drawn together.
    kinds, sizes = np.unique(
        np.array([[row.tp, row.fp + row.fn] for row in rows]), axis=0, return_counts=True
    )
    draws = np.random.default_rng(seed).multinomial(len(rows), sizes / sizes.sum(), size=resamples)
    hits, misses = (draws @ kinds).T
    there = 2 * hits + misses > 0
    values = 2 * hits[there] / (2 * hits[there] + misses[there])
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return Estimate(
        value, min(float(low), value), max(float(high), value), len(verdicts), confidence
    )
