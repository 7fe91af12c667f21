"""How detectors rank one error, for runs to be compared by."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pipelines.experiment.scores import Score, Values, short
from pipelines.npov.areas import OF_RUNS, Detector, won
from pipelines.npov.result import KINDS, ErrorKind, NpovResult
from pipelines.npov.sets import SLICES


def _ranked(kind: ErrorKind, detector: str) -> Callable[[Sequence[NpovResult]], Values]:
    def values(results: Sequence[NpovResult]) -> Values:
        found = (won({"": results}, part, kind, Detector(None, detector)) for part in SLICES)
        return {result.id: value for own in found for result, value in own}

    return values


SCORES: Final[Mapping[str, Score[NpovResult]]] = {
    f"{kind}.{short(detector)}": Score(
        f"Ranked above what it was made from: {kind}, {detector}", _ranked(kind, detector)
    )
    for kind in KINDS
    for detector in OF_RUNS
}
"""By names such as "coverage.salience-max"; ties count half."""
