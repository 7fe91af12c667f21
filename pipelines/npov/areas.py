"""How well detectors tell examples and words with an error from those without (NPOV, section 5)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.metrics.auc import roc_auc
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.hanley_mcneil import hanley_mcneil
from pipelines.npov.detect import salience_detector
from pipelines.npov.result import (
    CLASSIFIER,
    KINDS,
    ROUGE,
    ErrorKind,
    NpovResult,
    WordScore,
)
from pipelines.npov.sets import Slice

Results = Mapping[str, Sequence[NpovResult]]
"""What a run is called -> its results."""

SALIENCE = salience_detector("max")


@dataclass(frozen=True)
class Detector:
    """A detector of a run.

    Attributes:
        run: What the run is called; None of ROUGE, which needs no model and is the same in all.
        name: As in results.
    """

    run: str | None
    name: str

    @property
    def title(self) -> str:
        """For people: "salience, max (smollm2-135m-instruct)"."""
        return f"{self.name} ({self.run})" if self.run else self.name


def detectors(results: Results) -> list[Detector]:
    """ROUGE, then the detector of each run: its salience by the maximum, or its classifier."""
    found = [Detector(None, ROUGE)] if any(results.values()) else []
    for run, own in results.items():
        named = {name for each in own for name in each.detectors}
        found += [Detector(run, name) for name in (SALIENCE, CLASSIFIER) if name in named]
    return found


@dataclass(frozen=True)
class Areas:
    """How well both kinds of errors are told from examples without any.

    Attributes:
        of_kind: Kind of error -> the area, and how many errors there are; None where there are no
            values for either.
        error_free: Examples without any error.
    """

    of_kind: Mapping[ErrorKind, tuple[Estimate | None, int | None]]
    error_free: int | None = None


def areas(
    results: Results,
    part: Slice,
    detector: Detector,
    where: Callable[[NpovResult], bool] = lambda _: True,
) -> Areas | None:
    """AUC and count of errors of both kinds, and the count of others; None without any score."""
    of_kind, error_free = {}, 0
    for kind in KINDS:
        found = scored(results, part, kind, detector, where)
        wrong = sum(positive for _, positive in found.values())
        of_kind[kind] = _area(found), wrong
        error_free = max(error_free, len(found) - wrong)
    some = error_free or any(wrong for _, wrong in of_kind.values())
    return Areas(of_kind, error_free) if some else None


def _area(found: Mapping[str, tuple[float, bool]]) -> Estimate | None:
    return hanley_mcneil(
        [score for score, _ in found.values()], [positive for _, positive in found.values()]
    )


def scored(
    results: Results,
    part: Slice,
    kind: ErrorKind,
    detector: Detector,
    where: Callable[[NpovResult], bool] = lambda _: True,
) -> dict[str, tuple[float, bool]]:
    """Example -> its score and whether it has the error; without examples of other errors."""
    return {
        result.id: (score, result.known(kind) == part.errors)
        for result in _examples(results, part, detector)
        if where(result)
        and (_error_free(result) or result.known(kind) == part.errors)
        and (score := result.score(detector.name, kind)) is not None
    }


def won_pairs(
    results: Results, part: Slice, kind: ErrorKind, detector: Detector
) -> list[tuple[str, float]]:
    """Errors beside the example without error that they were made from.

    Returns:
        Per error that example's name, and 1 if the error scores higher, 0.5 if alike, else 0.
    """
    known = {result.id: result for result in _examples(results, part, detector)}
    found = []
    for result in known.values():
        source = known.get(result.source)
        if result.known(kind) != part.errors or source is None or source is result:
            continue
        one, other = (each.score(detector.name, kind) for each in (result, source))
        if one is not None and other is not None:
            found.append((source.id, 1.0 if one > other else 0.5 if one == other else 0.0))
    return found


def word_area(
    results: Results, part: Slice, kind: ErrorKind, detector: Detector
) -> tuple[Estimate | None, int | None]:
    """AUC over words, and how many are wrong."""
    says = _WORD_SCORES.get(detector.name)
    if says is None:
        return None, None
    found = [
        (says(word), word.wrong, result.source)
        for result in _examples(results, part, detector, lambda one: one.words(kind) is not None)
        if _error_free(result) or part.errors in (result.hallucination, result.coverage)
        if result.known(kind) in ("none", part.errors)
        for word in result.words(kind) or ()
    ]
    if not found:
        return None, None
    scores, wrong, sources = zip(*found, strict=True)
    return roc_auc(scores, wrong, sources), sum(wrong)


_WORD_SCORES: Mapping[str, Callable[[WordScore], float]] = {
    ROUGE: lambda word: float(word.rouge),
    SALIENCE: lambda word: word.salience,
}


def _examples(
    results: Results,
    part: Slice,
    detector: Detector,
    usable: Callable[[NpovResult], bool] = lambda _: True,
) -> Iterator[NpovResult]:
    """A slice's results that were scored; of ROUGE those of all runs, each example once."""
    seen = set()
    for run, own in results.items():
        for result in own if detector.run in (None, run) else ():
            in_set = (
                result.test_set == part.test_set if part.test_set else result.overlap is not None
            )
            scored = result.status == "scored" and usable(result)
            if in_set and scored and result.id not in seen:
                seen.add(result.id)
                yield result


def _error_free(result: NpovResult) -> bool:
    return result.hallucination == result.coverage == "none"
