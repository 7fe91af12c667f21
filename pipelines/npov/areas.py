"""How well detectors tell examples and words with an error from those without (NPOV, section 5)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.metrics.auc import roc_auc
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.hanley_mcneil import hanley_mcneil
from pipelines.metrics.mean import mean
from pipelines.npov.detect import salience_detector
from pipelines.npov.result import CLASSIFIER, ROUGE, ErrorKind, NpovResult, WordScore
from pipelines.npov.sets import Slice

Results = Mapping[str, Sequence[NpovResult]]
"""What a run is called -> its results."""

Figure = tuple[Estimate | None, int | None]
"""An area or a share, and how many errors or words it is of; None where there are no values."""

SALIENCE = salience_detector("max")


@dataclass(frozen=True)
class Detector:
    """A detector of a run, named as in results; ROUGE has no run, since it is the same in all."""

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


def example_area(found: Mapping[str, tuple[float, bool]]) -> Figure:
    """AUC over the examples of `scores`, and how many have the error."""
    scores, wrong = [score for score, _ in found.values()], [error for _, error in found.values()]
    return hanley_mcneil(scores, wrong), sum(wrong)


def scores(
    results: Results, part: Slice, kind: ErrorKind, detector: Detector
) -> dict[str, tuple[float, bool]]:
    """Example -> its score and whether it has the error; without examples of other errors."""
    return {
        result.id: (score, result.known(kind) == part.errors)
        for result in _examples(results, part, detector)
        if (result.error_free or result.known(kind) == part.errors)
        and (score := result.score(detector.name, kind)) is not None
    }


def won_pairs(results: Results, part: Slice, kind: ErrorKind, detector: Detector) -> Figure:
    """Share of errors that score higher than the example without error they were made from.

    Ties count half. Pairs with the same example without error are not independent.
    """
    known = {result.id: result for result in _examples(results, part, detector)}
    won, sources = [], []
    for result in known.values():
        source = known.get(result.source)
        if result.known(kind) != part.errors or source is None or source is result:
            continue
        one, other = (each.score(detector.name, kind) for each in (result, source))
        if one is not None and other is not None:
            won.append(1.0 if one > other else 0.5 if one == other else 0.0)
            sources.append(source.id)
    return mean(won, sources, bounds=(0, 1)), len(won)


def word_area(results: Results, part: Slice, kind: ErrorKind, detector: Detector) -> Figure:
    """AUC over words, and how many are wrong."""
    says = _WORD_SCORES.get(detector.name)
    if says is None:
        return None, None
    found = [
        (says(word), word.wrong, result.source)
        for result in _examples(results, part, detector, kind)
        if result.error_free or part.errors in (result.hallucination, result.coverage)
        if result.known(kind) in ("none", part.errors)
        for word in result.words(kind) or ()
    ]
    if not found:
        return None, None
    values, wrong, sources = zip(*found, strict=True)
    return roc_auc(values, wrong, sources), sum(wrong)


_WORD_SCORES: Mapping[str, Callable[[WordScore], float]] = {
    ROUGE: lambda word: float(word.rouge),
    SALIENCE: lambda word: word.salience,
}


def _examples(
    results: Results, part: Slice, detector: Detector, words: ErrorKind | None = None
) -> Iterator[NpovResult]:
    """A slice's results that were scored; of ROUGE those of all runs, each example once.

    With `words`, those that have the words of such an error.
    """
    seen = set()
    for run, own in results.items():
        for result in own if detector.run in (None, run) else ():
            known = words is None or result.words(words) is not None
            scored = result.status == "scored" and known
            if scored and part.has(result) and result.id not in seen:
                seen.add(result.id)
                yield result
