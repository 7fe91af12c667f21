"""Tests of a difference between two methods on the same examples."""

from collections.abc import Mapping, Sequence

from pipelines.metrics.estimate import RESAMPLES, Key


def mcnemar(first: Mapping[Key, bool], second: Mapping[Key, bool]) -> float | None:
    """Probability of so unequal a split of the discordant pairs, were both methods equally good.

    With b examples that only the first has right and c that only the second has, the two-sided
    binomial test of min(b, c) among b + c at 1/2 (McNemar 1947, exact form). Examples that only one
    side has are left out. The p-value, in [0, 1], is 1 where no example tells the two apart, and
    None without a shared example.
    """
    shared = [(right, second[key]) for key, right in first.items() if key in second]
    if not shared:
        return None
    only_first = sum(one and not other for one, other in shared)
    only_second = sum(other and not one for one, other in shared)
    if only_first + only_second == 0:
        return 1.0

    from scipy.stats import binomtest

    return float(binomtest(only_first, only_first + only_second).pvalue)


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
