"""How often what was said once is said otherwise when it is asked for again."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.proportion import share

Key = TypeVar("Key", bound=Hashable)


def flip_rate(
    first: Mapping[Key, Hashable], again: Sequence[Mapping[Key, Hashable]]
) -> Estimate | None:
    """Share of keys that have another value in some of the runs `again`, with the Wilson interval.

    A key counts once, however often it was asked for again: repeats of one pair are no further
    trials. Keys that no run has again are left out; None where none is left.
    """
    rerun = [key for key in first if any(key in run for run in again)]
    return share([any(run.get(key, first[key]) != first[key] for run in again) for key in rerun])
