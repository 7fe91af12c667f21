"""How far raters agree beyond what chance gives."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import sqrt

from pipelines.metrics.estimate import Estimate, Z, percentile_estimate, redrawn


def stratified_share(strata: Sequence[tuple[Sequence[bool], int]]) -> Estimate | None:
    """Share of all examples for which something holds, known of a random sample of each stratum.

    With n of N examples of a stratum known, k of which hold, the value is the mean of k / n
    weighted by N. What is known is certain, and only the N - n others are estimated. Their share is
    p~ = (k + 2/m) / (n + 4/m) in each of m strata (Price and Bonett 2004, "An improved confidence
    interval for a linear function of binomial proportions"), and with T examples in all

        variance = sum over strata of ((N - n) / T)^2 p~ (1 - p~) (1 / (n + 4/m) + 1 / (N - n)).

    For one stratum and many others it is the interval of Agresti and Coull. It is cut to [0, 1],
    and widened to the value where that lies outside.

    Args:
        strata: Of each what is known of its sample, and the number of all its examples.

    Returns:
        A value in [0, 1]; None without a stratum, or where nothing is known of one.
    """
    if not strata or not all(sample for sample, _ in strata):
        return None
    whole = sum(size for _, size in strata)
    value = centre = variance = 0.0
    for sample, size in strata:
        holds, known, others = sum(sample), len(sample), size - len(sample)
        value += size / whole * holds / known
        centre += holds / whole
        if others:
            drawn = known + 4 / len(strata)
            share = (holds + 2 / len(strata)) / drawn
            centre += others / whole * share
            variance += (others / whole) ** 2 * share * (1 - share) * (1 / drawn + 1 / others)
    half = Z * sqrt(variance)
    value = min(value, 1.0)  # it may be above by rounding
    low, high = min(max(centre - half, 0.0), value), max(min(centre + half, 1.0), value)
    return Estimate(value, low, high, sum(len(sample) for sample, _ in strata))


Pairs = Sequence[tuple[Hashable, Hashable]]
"""What two raters say of the same examples."""


def stratified_kappa(strata: Mapping[str, Pairs], sizes: Mapping[str, int]) -> Estimate | None:
    """Agreement of two raters, corrected for chance, over strata drawn at different rates.

    Cohen's kappa (1960) is (p_o - p_e) / (1 - p_e), where p_o is the share of examples on which
    both agree, and p_e the share to be expected if each gave labels at random, as often as they do.
    With n_hij the examples of stratum h that one rater puts into i and the other into j, n_h their
    sum, and w_h the stratum's share of all examples, it is of p_ij = sum over h of w_h n_hij / n_h.
    It lies in [-1, 1]: 1 is full agreement, 0 that of chance. The interval is the percentile
    interval of a bootstrap within strata.

    Args:
        strata: The examples of each that both rated, at least one.
        sizes: How many examples each stratum has in all.

    Returns:
        None without a stratum, or where both raters give one and the same label to all. It has no
        interval where no resample differs.
    """
    import numpy as np

    every = [pair for pairs in strata.values() for pair in pairs]
    labels = list({label: None for pair in every for label in pair})
    if len(labels) < 2:
        return None
    whole = sum(sizes[name] for name in strata)
    place = {label: n for n, label in enumerate(labels)}
    shares = np.zeros((1, len(labels), len(labels)))
    for number, (name, pairs) in enumerate(strata.items()):
        times = np.vstack([np.ones((1, len(pairs))), redrawn(len(pairs), seed=number)])
        counts = np.zeros((len(times), len(labels), len(labels)))
        for one, other in {*pairs}:
            alike = np.array([pair == (one, other) for pair in pairs], dtype=float)
            counts[:, place[one], place[other]] = times @ alike
        shares = shares + sizes[name] / whole * counts / len(pairs)
    agreed = np.trace(shares, axis1=1, axis2=2)
    chance = (np.sum(shares, axis=2) * np.sum(shares, axis=1)).sum(axis=1)
    beyond = 1 - chance
    nothing = np.full(len(agreed), np.nan)
    kappas = np.divide(agreed - chance, beyond, out=nothing, where=beyond > 1e-12)
    value, n = float(kappas[0]), len(every)
    if np.ptp(kappas[~np.isnan(kappas)]) < 1e-12:
        return Estimate(value, None, None, n)
    return percentile_estimate(value, kappas[1:], n)


def nominal_alpha(units: Sequence[Sequence[Hashable]]) -> Estimate | None:
    """Krippendorff's alpha of labels without an order (Krippendorff 2011; NPOV, section 4.1.1).

    A unit has the labels that annotators gave it; units with fewer than two say nothing and are
    left out. With n labels in the others, n_c of them c, and in unit u m_u labels, n_uc of them c,

        D_o = 1/n  sum over u of  (m_u^2 - sum over c of n_uc^2) / (m_u - 1)
        D_e = (n^2 - sum over c of n_c^2) / (n (n - 1))
        alpha = 1 - D_o / D_e.

    1 is full agreement, 0 that of labels put into units at random, below 0 is disagreement. The
    interval is the percentile interval of a bootstrap over units; `n` counts them.

    Returns:
        None where fewer than two labels can be compared, or all are one and the same, so that
        chance agrees fully too.
    """
    import numpy as np

    compared = [Counter(unit) for unit in units if len(unit) > 1]
    labels = list({label: None for unit in compared for label in unit})
    if len(labels) < 2:
        return None
    counts = np.array([[unit[label] for label in labels] for unit in compared])
    sizes = counts.sum(axis=1)
    apart = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)
    times = np.vstack([np.ones((1, len(compared)), dtype=int), redrawn(len(compared))])
    of_label = times @ counts
    n = of_label.sum(axis=1)
    observed = times @ apart / n
    expected = (n**2 - (of_label**2).sum(axis=1)) / (n * (n - 1))
    ratio = np.divide(observed, expected, out=np.full(len(times), np.nan), where=expected > 0)
    value, *_ = (1 - ratio).tolist()
    if len(compared) == 1 or value == 1:
        return Estimate(value, None, None, len(compared))
    return percentile_estimate(value, 1 - ratio[1:], len(compared))
