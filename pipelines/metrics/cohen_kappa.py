"""Cohen's kappa: agreement of two raters beyond what chance gives."""

from collections import Counter
from collections.abc import Hashable, Sequence
from math import fsum, sqrt
from statistics import NormalDist

from pipelines.metrics.bootstrap import percentile_estimate, redrawn
from pipelines.metrics.estimate import Estimate, check_confidence


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], *, confidence: float = 0.95
) -> Estimate | None:
    """Agreement of two raters, corrected for chance (Cohen 1960).

    With p_ij the share of examples that the first rater puts into category i and the second into j,
    p_i. and p_.i the shares of each rater, p_o = sum p_ii and p_e = sum p_i. p_.i,

        kappa = (p_o - p_e) / (1 - p_e).

    The interval is kappa -+ z * s, cut to [-1, 1], with the large-sample variance of Fleiss, Cohen
    and Everitt (1969)

        s^2 = (sum_i p_ii (1 - (p_i. + p_.i)(1 - kappa))^2
               + (1 - kappa)^2 sum_(i != j) p_ij (p_.i + p_j.)^2
               - (kappa - p_e (1 - kappa))^2) / (n (1 - p_e)^2).

    Where that is 0 however few the examples (full agreement, or a rater who gives one label only),
    the value comes without an interval. Kappa lies in [-1, 1]: 1 is full agreement, 0 that of
    chance. It is None without an example, or where both raters give one and the same label to all,
    so that chance agrees fully too.

    Raises:
        ValueError: The lengths differ.
    """
    check_confidence(confidence)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels of one rater, but {len(second)} of the other")
    n = len(first)
    pairs = Counter(zip(first, second, strict=True))
    rows, columns = Counter(first), Counter(second)
    agreed = sum(count for (one, other), count in pairs.items() if one == other)
    chance = sum(rows[label] * columns[label] for label in rows)  # n^2 p_e
    if n * n == chance:
        return None
    # In whole numbers, so that the value is one exact division.
    value = (n * agreed - chance) / (n * n - chance)

    expected = chance / (n * n)
    diagonal = fsum(
        count / n * (1 - (rows[one] + columns[one]) / n * (1 - value)) ** 2
        for (one, other), count in pairs.items()
        if one == other
    )
    apart = fsum(
        count / n * ((columns[one] + rows[other]) / n) ** 2
        for (one, other), count in pairs.items()
        if one != other
    )
    spread = diagonal + (1 - value) ** 2 * apart - (value - expected * (1 - value)) ** 2
    if spread < 1e-12:  # 0 but for rounding
        return Estimate(value, None, None, n, confidence)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    half = z * sqrt(spread / n) / (1 - expected)
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), n, confidence)


def clustered_kappa(
    first: Sequence[bool], second: Sequence[bool], clusters: Sequence[Hashable]
) -> Estimate | None:
    """The kappa of `cohen_kappa` of two raters who say yes or no, with an interval over clusters.

    The interval is that of percentiles of a bootstrap that draws clusters (answers to one
    question); a resample in which kappa is 0/0 is left out. There is none where `cohen_kappa` has
    none, or for a single cluster.

    Raises:
        ValueError: The lengths differ.
    """
    found = cohen_kappa(first, second)
    if len(first) != len(clusters):
        raise ValueError(f"{len(first)} labels in {len(clusters)} clusters")
    names = {name: n for n, name in enumerate(dict.fromkeys(clusters))}
    if found is None or found.low is None or len(names) == 1:
        return found and Estimate(found.value, None, None, found.n)

    import numpy as np

    cells = np.zeros((len(names), 2, 2))
    for one, other, name in zip(first, second, clusters, strict=True):
        cells[names[name], int(one), int(other)] += 1
    drawn = np.tensordot(redrawn(len(names)), cells, axes=1)
    n = drawn.sum((1, 2))
    agreed = (drawn[:, 0, 0] + drawn[:, 1, 1]) / n
    chance = (drawn.sum(2) * drawn.sum(1)).sum(1) / n**2
    beyond = 1 - chance
    nothing = np.full(len(n), np.nan)
    kappas = np.divide(agreed - chance, beyond, out=nothing, where=beyond > 1e-12)
    return percentile_estimate(found.value, kappas, found.n)
