"""Precision, recall, F1 and accuracies of Conflict Detection (ConflictScore, Table 2)."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from pipelines.metrics.estimate import Estimate, percentile_estimate, proportion, redrawn_sums
from pipelines.metrics.rates import clustered_f1, f1


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


def outcomes(verdicts: Iterable[Verdict]) -> Outcomes:
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
    return clustered_f1(
        [each.truth for each in verdicts],
        [each.found for each in verdicts],
        [each.group for each in verdicts],
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )


def f1_difference(
    first: Mapping[str, Verdict],
    second: Mapping[str, Verdict],
    *,
    resamples: int = 2_000,
    seed: int = 0,
) -> Estimate | None:
    """F1 of the first detector less that of the second, on the examples that both decided.

    The 95 % percentile bootstrap interval draws whole groups, the same for both, as `f1_score`
    does for one. A resample in which either has no F1 is left out.

    Args:
        first: By the names of examples.
        second: Likewise; truth and group of an example are those of `first`.
        resamples: Draws of groups.
        seed: Equal seeds give equal intervals.

    Returns:
        A value in [-1, 1]; None where either has no F1. A single group has no interval.
    """
    groups: dict[Hashable, list[tuple[Verdict, Verdict]]] = defaultdict(list)
    for name, own in first.items():
        if name in second:
            groups[own.group].append((own, second[name]))
    sides = [
        [outcomes([pair[side] for pair in members]) for members in groups.values()]
        for side in (0, 1)
    ]
    totals = [Outcomes(*map(sum, zip(*side, strict=True))) for side in sides if side]
    scores = [f1(total.tp, total.fp, total.fn) for total in totals]
    if not scores or scores[0] is None or scores[1] is None:
        return None
    value, n = scores[0] - scores[1], sum(map(len, groups.values()))
    if len(groups) == 1:
        return Estimate(value, None, None, n)

    import numpy as np

    rows = [
        [*(row.tp for row in pair), *(row.fp + row.fn for row in pair)]
        for pair in zip(*sides, strict=True)
    ]
    counts = redrawn_sums(rows, seed=seed, resamples=resamples)
    hits, misses = 2 * counts[:, :2], counts[:, 2:]
    with np.errstate(invalid="ignore"):
        found = hits / (hits + misses)
    return percentile_estimate(value, found[:, 0] - found[:, 1], n)
