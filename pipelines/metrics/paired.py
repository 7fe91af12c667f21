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
    confidence: float = 0.95,
) -> Estimate | None:
    """Mean of first - second over the keys that both have, with the paired t interval.

    With d_k = first[k] - second[k] over m shared keys, the interval is
    mean(d) -+ t(m - 1) * s_d / sqrt(m). Keys that only one side has are left out; `n` of the
    estimate tells how many pairs remain. No pair gives None, one pair the difference without an
    interval.

    Args:
        first: Key (a question) -> value.
        second: Key -> value, to be subtracted.
        bounds: Range that a difference can take; the interval is cut to it.
        confidence: Level of the interval, in (0, 1).

    Raises:
        ValueError: A difference is not finite or out of bounds, or the level is outside (0, 1).
    """
    differences = [value - second[key] for key, value in first.items() if key in second]
    return mean(differences, bounds=bounds, confidence=confidence)
