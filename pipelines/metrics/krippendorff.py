"""Agreement of any number of annotators, not all of whom labelled every unit."""

from collections import Counter
from collections.abc import Hashable, Sequence

from pipelines.metrics.bootstrap import percentile_estimate, redrawn
from pipelines.metrics.estimate import Estimate


def nominal_alpha(units: Sequence[Sequence[Hashable]], *, seed: int = 0) -> Estimate | None:
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
    times = np.vstack([np.ones((1, len(compared)), dtype=int), redrawn(len(compared), seed=seed)])
    of_label = times @ counts
    n = of_label.sum(axis=1)
    observed = times @ apart / n
    expected = (n**2 - (of_label**2).sum(axis=1)) / (n * (n - 1))
    ratio = np.divide(observed, expected, out=np.full(len(times), np.nan), where=expected > 0)
    value, *_ = (1 - ratio).tolist()
    if len(compared) == 1 or value == 1:
        return Estimate(value, None, None, len(compared))
    return percentile_estimate(value, 1 - ratio[1:], len(compared))
