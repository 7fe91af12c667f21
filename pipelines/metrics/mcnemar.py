"""McNemar's exact test of two methods on the same examples."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


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
