"""The paired permutation test of a mean difference."""

from collections.abc import Sequence

RESAMPLES = 9_999


def sign_flip(differences: Sequence[float], *, seed: int = 0) -> float | None:
    """Probability of so large a mean difference, were the two sides of each pair exchangeable.

    The signs of the differences are flipped at random (Fisher 1935): 9,999 times, or in every way
    there is where there are fewer. Equal seeds give equal values. The p-value is two-sided, in
    (0, 1]; it is 1 of a single pair, and None without a pair.
    """
    if not differences:
        return None
    if len(differences) == 1 or not any(differences):
        return 1.0

    import numpy as np
    from scipy.stats import permutation_test

    found = permutation_test(
        (np.asarray(differences, float),),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=1_000,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)
