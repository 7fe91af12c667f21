"""Chance-corrected agreement between raters."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import sqrt

from pipelines.metrics.estimate import Estimate, Z, percentile_estimate, redrawn


def stratified_share(strata: Sequence[tuple[Sequence[bool], int]]) -> Estimate | None:
    """Share of all examples that have a property, estimated from a random sample per stratum.

    If n of a stratum's N examples are labelled and k of those are positive, the value is the mean
    of k / n weighted by N. Labelled examples are known exactly; only the other N - n are estimated.
    With m strata and T examples in all, the share among those others is taken as p~ = (k + 2/m) /
    (n + 4/m) (Price and Bonett 2004, "An improved confidence interval for a linear function of
    binomial proportions"), and

        variance = sum over strata of ((N - n) / T)^2 p~ (1 - p~) (1 / (n + 4/m) + 1 / (N - n)).

    With one stratum and a large N - n, this is the Agresti-Coull interval. The interval is clipped
    to [0, 1], and widened to include the value if needed.

    Args:
        strata: Per stratum, the labels of its sample and the number of all its examples.

    Returns:
        A value in [0, 1]; None without strata, or if a stratum has no labelled example.
    """
    if not strata or not all(sample for sample, _ in strata):
        return None
    population = sum(size for _, size in strata)
    value = centre = variance = 0.0
    for sample, size in strata:
        holds, known, others = sum(sample), len(sample), size - len(sample)
        value += size / population * holds / known
        centre += holds / population
        if others:
            drawn = known + 4 / len(strata)
            share = (holds + 2 / len(strata)) / drawn
            centre += others / population * share
            variance += (others / population) ** 2 * share * (1 - share) * (1 / drawn + 1 / others)
    half = Z * sqrt(variance)
    value = min(value, 1.0)  # rounding can put it above
    low, high = min(max(centre - half, 0.0), value), max(min(centre + half, 1.0), value)
    return Estimate(value, low, high, sum(len(sample) for sample, _ in strata))


Pairs = Sequence[tuple[Hashable, Hashable]]
"""Two raters' labels of the same examples."""


def stratified_kappa(strata: Mapping[str, Pairs], sizes: Mapping[str, int]) -> Estimate | None:
    """Cohen's kappa of two raters over strata sampled at different rates.

    Cohen's kappa (1960) is (p_o - p_e) / (1 - p_e). p_o is the share of examples on which both
    raters agree; p_e is the share expected if each rater labelled at random with the same label
    frequencies. Let n_hij be the number of examples in stratum h that the first rater labels i and
    the second labels j, n_h their sum, and w_h the stratum's share of all examples. Kappa is
    computed from p_ij = sum over h of w_h n_hij / n_h. It lies in [-1, 1]: 1 is full agreement, 0
    is chance. The interval is a percentile bootstrap within strata.

    Args:
        strata: The examples of each stratum that both raters labelled, at least one.
        sizes: The number of examples in each stratum.

    Returns:
        None without strata, or if both raters give every example the same label. There is no
        interval if all resamples are equal.
    """
    import numpy as np

    all_pairs = [pair for pairs in strata.values() for pair in pairs]
    labels = list({label: None for pair in all_pairs for label in pair})
    if len(labels) < 2:
        return None
    population = sum(sizes[name] for name in strata)
    place = {label: n for n, label in enumerate(labels)}
    shares = np.zeros((1, len(labels), len(labels)))
    for number, (name, pairs) in enumerate(strata.items()):
        times = np.vstack([np.ones((1, len(pairs))), redrawn(len(pairs), seed=number)])
        counts = np.zeros((len(times), len(labels), len(labels)))
        for one, other in {*pairs}:
            same = np.array([pair == (one, other) for pair in pairs], dtype=float)
            counts[:, place[one], place[other]] = times @ same
        shares = shares + sizes[name] / population * counts / len(pairs)
    agreed = np.trace(shares, axis1=1, axis2=2)
    chance = (np.sum(shares, axis=2) * np.sum(shares, axis=1)).sum(axis=1)
    beyond = 1 - chance
    undefined = np.full(len(agreed), np.nan)
    kappas = np.divide(agreed - chance, beyond, out=undefined, where=beyond > 1e-12)
    value, n = float(kappas[0]), len(all_pairs)
    if np.ptp(kappas[~np.isnan(kappas)]) < 1e-12:
        return Estimate(value, None, None, n)
    return percentile_estimate(value, kappas[1:], n)


def nominal_alpha(units: Sequence[Sequence[Hashable]]) -> Estimate | None:
    """Krippendorff's alpha for nominal labels (Krippendorff 2011; NPOV, section 4.1.1).

    A unit holds its annotators' labels; units with fewer than two labels are skipped. Let the other
    units have n labels, n_c of them c, and let unit u have m_u labels, n_uc of them c:

        D_o = 1/n  sum over u of  (m_u^2 - sum over c of n_uc^2) / (m_u - 1)
        D_e = (n^2 - sum over c of n_c^2) / (n (n - 1))
        alpha = 1 - D_o / D_e.

    1 is full agreement, 0 is chance, and negative values are systematic disagreement. The interval
    is a percentile bootstrap over units; `n` counts units.

    Returns:
        None if fewer than two labels can be compared, or if all labels are the same, so that
        expected disagreement is 0.
    """
    import numpy as np

    compared = [Counter(unit) for unit in units if len(unit) > 1]
    labels = list({label: None for unit in compared for label in unit})
    if len(labels) < 2:
        return None
    counts = np.array([[unit[label] for label in labels] for unit in compared])
    sizes = counts.sum(axis=1)
    disagreements = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)
    times = np.vstack([np.ones((1, len(compared)), dtype=int), redrawn(len(compared))])
    label_counts = times @ counts
    n = label_counts.sum(axis=1)
    observed = times @ disagreements / n
    expected = (n**2 - (label_counts**2).sum(axis=1)) / (n * (n - 1))
    ratio = np.divide(observed, expected, out=np.full(len(times), np.nan), where=expected > 0)
    value, *_ = (1 - ratio).tolist()
    if len(compared) == 1 or value == 1:
        return Estimate(value, None, None, len(compared))
    return percentile_estimate(value, 1 - ratio[1:], len(compared))
