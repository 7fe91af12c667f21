"""The mean difference of paired values with a t interval."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean

Key = TypeVar("Key", bound=Hashable)


def paired_difference(
    first: Mapping[Key, float],
    second: Mapping[Key, float],
    *,
    bounds: tuple[float, float] | None = None,
    clusters: Mapping[Key, Hashable] | None = None,
) -> Estimate | None:
    """Mean of first - second over the keys that both have, with the paired t interval.

    With d_k = first[k] - second[k] over m shared keys, the interval is
    mean(d) -+ t(m - 1) * s_d / sqrt(m). Keys that only one side has are left out; `n` of the
    estimate tells how many pairs remain. No pair gives None, one pair the difference without an
    interval. Bounds are those of a difference. With `clusters`, of which each shared key has one,
    the interval is clustered as that of `mean`.

    Raises:
        ValueError: A difference is not finite or out of bounds.
    """
    shared = [key for key in first if key in second]
    differences = [first[key] - second[key] for key in shared]
    named = None if clusters is None else [clusters[key] for key in shared]
    return mean(differences, named, bounds=bounds)
