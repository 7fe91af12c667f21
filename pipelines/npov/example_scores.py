"""How detectors rank one error."""

from collections.abc import Callable, Sequence
from typing import Final

from pipelines.experiment.metric import Metric, Values
from pipelines.npov.areas import OF_RUNS, Detector, won
from pipelines.npov.result import KINDS, ErrorKind, NpovResult
from pipelines.npov.sets import SLICES


def _ranked(kind: ErrorKind) -> Callable[[Sequence[NpovResult], str], Values]:
    def values(results: Sequence[NpovResult], detector: str) -> Values:
        found = (won({"": results}, part, kind, Detector(None, detector)) for part in SLICES)
        return {result.id: value for own in found for result, value in own}

    return values


METRICS: Final = tuple(
    Metric(
        kind,
        f"Ranked above what it was made from: {kind}",
        _ranked(kind),
        {detector: detector for detector in OF_RUNS},
    )
    for kind in KINDS
)
"""Compared by names such as "coverage.salience-max"; ties count half."""
