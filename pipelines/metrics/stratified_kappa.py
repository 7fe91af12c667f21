"""Cohen's kappa of a sample whose strata were drawn at different rates."""

from collections.abc import Hashable, Mapping, Sequence

from pipelines.metrics.bootstrap import percentile_estimate, redrawn
from pipelines.metrics.estimate import Estimate

Pairs = Sequence[tuple[Hashable, Hashable]]
"""What two raters say of the same examples."""


def stratified_kappa(
    strata: Mapping[str, Sequence[Pairs]], sizes: Mapping[str, int]
) -> Estimate | None:
    """Kappa as it would be over all examples, of which each stratum gives a random sample.

    With n_hij the examples of stratum h that one rater puts into i and the other into j, n_h their
    sum, and w_h the stratum's share of all examples, the shares p_ij = sum over h of w_h n_hij/n_h
    stand in the formula of `cohen_kappa`; with one stratum the values are equal. The interval is
    that of percentiles of a bootstrap that draws within strata what was drawn at once.

    Args:
        strata: The examples of each that both rated, those together that were drawn at once. None
            is empty.
        sizes: How many examples each stratum has in all.

    Returns:
        None without a stratum, or where both raters give one and the same label to all. It has no
        interval where no resample differs.
    """
    import numpy as np

    every = [pair for units in strata.values() for pairs in units for pair in pairs]
    labels = list({label: None for pair in every for label in pair})
    if len(labels) < 2:
        return None
    whole = sum(sizes[name] for name in strata)
    place = {label: n for n, label in enumerate(labels)}
    shares = np.zeros((1, len(labels), len(labels)))
    for number, (name, units) in enumerate(strata.items()):
        times = np.vstack([np.ones((1, len(units))), redrawn(len(units), seed=number)])
        found = np.zeros((len(times), len(labels), len(labels)))
        for one, other in {pair for pairs in units for pair in pairs}:
            own = [sum(pair == (one, other) for pair in pairs) for pairs in units]
            found[:, place[one], place[other]] = times @ np.array(own, dtype=float)
        shares = shares + sizes[name] / whole * found / found.sum(axis=(1, 2), keepdims=True)
    agreed = np.trace(shares, axis1=1, axis2=2)
    chance = (np.sum(shares, axis=2) * np.sum(shares, axis=1)).sum(axis=1)
    beyond = 1 - chance
    nothing = np.full(len(agreed), np.nan)
    kappas = np.divide(agreed - chance, beyond, out=nothing, where=beyond > 1e-12)
    value, n = float(kappas[0]), len(every)
    if np.ptp(kappas[~np.isnan(kappas)]) < 1e-12:
        return Estimate(value, None, None, n)
    return percentile_estimate(value, kappas[1:], n)
