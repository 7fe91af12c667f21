"""How well detectors tell examples and words with an error from those without (NPOV, section 5)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pipelines.experiment.metric import Metric, Values
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ranks import clustered_auc
from pipelines.npov.result import (
    ABLATION,
    BASELINES,
    BERT_SCORE,
    CLASSIFIER,
    KINDS,
    LESS_OTHER,
    RELEVANCE,
    ROUGE,
    SHOWN,
    SUPPORT,
    ErrorKind,
    NpovResult,
    WordScore,
    salience_detector,
)
from pipelines.npov.sets import SLICES, Slice

Results = Mapping[str, Sequence[NpovResult]]
"""What a run is called -> its results."""

Figure = tuple[Estimate | None, int | None]
"""An area or a share, and how many errors or words it is of; None where there are no values."""

SALIENCE = salience_detector("max")

OF_RUNS = (
    SALIENCE,
    LESS_OTHER,
    *(SHOWN[name] for name in (ABLATION, SUPPORT, RELEVANCE)),
    CLASSIFIER,
)
"""Those that stand beside others, of a run."""


@dataclass(frozen=True)
class Detector:
    """A detector of a run, named as in results; baselines have no run, being the same in all."""

    run: str | None
    name: str

    @property
    def title(self) -> str:
        """For people: "salience, max (smollm2-135m-instruct)"."""
        return f"{self.name} ({self.run})" if self.run else self.name


def detectors(results: Results) -> list[Detector]:
    """Baselines, then of each run the detectors in `OF_RUNS` that it has."""
    by_run = {
        run: {name for each in own for name in each.detectors} for run, own in results.items()
    }
    every = {name for named in by_run.values() for name in named}
    found = [Detector(None, name) for name in BASELINES if name in every]
    for run, named in by_run.items():
        found += [Detector(run, name) for name in OF_RUNS if name in named]
    return found


class Score(NamedTuple):
    """What a detector says of an example, whether that has the error, and its topic."""

    score: float
    wrong: bool
    cluster: str


def example_area(found: Mapping[str, Score]) -> Figure:
    """AUC over the examples of `scores`, with an interval over topics, and how many are wrong."""
    if not found:
        return None, 0
    values, wrong, clusters = zip(*found.values(), strict=True)
    return clustered_auc(values, wrong, clusters), sum(wrong)


def scores(results: Results, part: Slice, kind: ErrorKind, detector: Detector) -> dict[str, Score]:
    """Scores by example; those with other errors are left out."""
    return {
        result.id: Score(score, part.wrong(result, kind), result.cluster)
        for result in _examples(results, part, detector)
        if (result.error_free or part.wrong(result, kind))
        and (score := result.score(detector.name, kind)) is not None
    }


def won(
    results: Results, part: Slice, kind: ErrorKind, detector: Detector
) -> list[tuple[NpovResult, float]]:
    """Errors with 1 where they score higher than what they were made from, 0.5 of a tie, else 0."""
    known = {result.id: result for result in _examples(results, part, detector)}
    found = []
    for result in known.values():
        source = known.get(result.source)
        if not part.wrong(result, kind) or source is None or source is result:
            continue
        one, other = (each.score(detector.name, kind) for each in (result, source))
        if one is not None and other is not None:
            found.append((result, 1.0 if one > other else 0.5 if one == other else 0.0))
    return found


def word_area(results: Results, part: Slice, kind: ErrorKind, detector: Detector) -> Figure:
    """AUC over words, and how many are wrong."""
    name = detector.name
    says = _WORD_SCORES.get(name) or (lambda word: word.errors.get(name))
    found = [
        (score, word.wrong, result.cluster)
        for result in _examples(results, part, detector, kind)
        if result.error_free or part.errors in (result.hallucination, result.coverage)
        if result.known(kind) in ("none", part.errors)
        for word in result.words(kind) or ()
        if (score := says(word)) is not None
    ]
    if not found:
        return None, None
    values, wrong, clusters = zip(*found, strict=True)
    return clustered_auc(values, wrong, clusters), sum(wrong)


_WORD_SCORES: Mapping[str, Callable[[WordScore], float | None]] = {
    ROUGE: lambda word: float(word.rouge),
    BERT_SCORE: lambda word: word.bert_score,
    SALIENCE: lambda word: word.salience,
}


def _examples(
    results: Results, part: Slice, detector: Detector, words: ErrorKind | None = None
) -> Iterator[NpovResult]:
    """A slice's results with a detector's score; of baselines those of all runs, each example once.

    With `words`, those that have the words of such an error.
    """
    seen = set()
    for run, own in results.items():
        for result in own if detector.run in (None, run) else ():
            known = words is None or result.words(words) is not None
            scored = result.status == "scored" and known and detector.name in result.detectors
            if scored and part.has(result) and result.id not in seen:
                seen.add(result.id)
                yield result


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
