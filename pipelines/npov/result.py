"""Detectors' scores of examples, and how well they detect errors (NPOV, sections 4.3 and 5)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel

from pipelines.experiment.metric import Metric, Values
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ranks import clustered_auc
from pipelines.npov.example import AnnotatedExample, Error, NpovExample, Vote
from salience.variants import Aggregation

ErrorKind = Literal["hallucination", "coverage"]
KINDS: tuple[ErrorKind, ErrorKind] = ("hallucination", "coverage")

ROUGE = "ROUGE"
BERT_SCORE = "BERTScore"
LENGTH = "response length"
COUNT = "argument count"
UNEQUAL = "unequal sides"
EMBEDDINGS = "sentence embeddings, least"
READS_NOTHING = (LENGTH, COUNT, UNEQUAL)

CLASSIFIER = "classifier"
ABLATION = "ablation, least"
SUPPORT = "tagger's support, mean"
RELEVANCE = "tagger's relevance, least"
"""These use the pool (see `similarity.Pool`) with the larger areas on training and development
topics."""

BASELINES = (*READS_NOTHING, ROUGE, BERT_SCORE, EMBEDDINGS)
"""Detectors that belong to no run, since they are the same in all."""


def salience_detector(aggregation: Aggregation) -> str:
    """Name of salience under an aggregation."""
    return f"salience, {aggregation.replace('_', ' ')}"


class ErrorScores(BaseModel, frozen=True):
    """A detector's scores for the two errors; higher means likelier.

    A hallucination is something added, a coverage error something left out. None if the detector
    cannot say.
    """

    hallucination: float | None = None
    coverage: float | None = None


class WordScore(BaseModel, frozen=True):
    """A content word: whether it is an error, and the scores of word detectors.

    Attributes:
        wrong: For an argument's word, whether it was left out; for the response's, whether added.
        errors: Its errors by the detectors' names in tables: for ROUGE 1 if the other side lacks
            its stem; for salience 1 - alpha or 1 - beta, by the maximum. Detectors of sentences and
            arguments give all their words the same error.
    """

    wrong: bool
    errors: Mapping[str, float] = {}


class NpovResult(BaseModel, frozen=True):
    """A scored example of a test set, with the id "SET/EXAMPLE"; or the reason why it failed.

    Attributes:
        source: The id of the error-free example that it was made from, or its own id.
        hallucination, coverage: The known labels.
        topic: Topic of its question, by which intervals are clustered.
        votes: Labels by annotator name, if there are several.
        example: The arguments and the response.
        given, response: Content words of the arguments and of the response; None if words were not
            scored or not annotated.
    """

    id: str
    test_set: str
    source: str
    status: Literal["scored", "failed"] = "scored"
    reason: str | None = None
    hallucination: Error
    coverage: Error
    topic: str
    votes: Mapping[str, Vote] = {}
    example: NpovExample
    detectors: Mapping[str, ErrorScores] = {}
    given: tuple[WordScore, ...] | None = None
    response: tuple[WordScore, ...] | None = None

    @property
    def error_free(self) -> bool:
        """Whether the response has neither error."""
        return self.hallucination == self.coverage == "none"

    def known(self, kind: ErrorKind) -> Error:
        """The known label for an error."""
        return self.hallucination if kind == "hallucination" else self.coverage

    def score(self, detector: str, kind: ErrorKind) -> float | None:
        """A detector's score for an error; None without one."""
        errors = self.detectors.get(detector, ErrorScores())
        return errors.hallucination if kind == "hallucination" else errors.coverage

    def words(self, kind: ErrorKind) -> tuple[WordScore, ...] | None:
        """Words that can be such an error: the response's can be added, the arguments' left out."""
        return self.response if kind == "hallucination" else self.given


ORGANIC = "organic"
UNPARAPHRASED = "unparaphrased"
PARAPHRASED = "paraphrased"
"""Test sets: responses of a generator, and synthetic errors of arguments as they are or in other
words."""


@dataclass(frozen=True)
class Slice:
    """A set's error-free examples, and those whose error has one label (NPOV, section 4.3).

    Attributes:
        title: Its name in the paper.
        test_set: The set.
        errors: The label that counts as an error; examples with the other one are left out.
    """

    title: str
    test_set: str
    errors: Error

    def wrong(self, result: NpovResult, kind: ErrorKind) -> bool:
        """Whether a result of the set has an error of the kind that counts."""
        return result.known(kind) == self.errors


SLICES = (
    Slice("Full organic", ORGANIC, "full"),
    Slice("Unparaphrased synthetic", UNPARAPHRASED, "full"),
    Slice("Paraphrased synthetic", PARAPHRASED, "full"),
    Slice("Ambiguous organic", ORGANIC, "ambiguous"),
)
"""The slices of the paper."""


@dataclass(frozen=True)
class Case:
    """An example of a test set, with its known labels."""

    test_set: str
    annotated: AnnotatedExample

    @property
    def id(self) -> str:
        """Unique among all sets."""
        return f"{self.test_set}/{self.annotated.id}"

    def result(self, **found: Any) -> NpovResult:
        """The result of the example: its known labels, and the scores."""
        return NpovResult(
            id=self.id,
            test_set=self.test_set,
            source=f"{self.test_set}/{self.annotated.source}",
            hallucination=self.annotated.hallucination,
            coverage=self.annotated.coverage,
            topic=self.annotated.example.topic or self.annotated.example.question,
            votes=self.annotated.votes,
            example=self.annotated.example,
            **found,
        )


Results = Mapping[str, Sequence[NpovResult]]
"""Name of a run -> its results."""

Figure = tuple[Estimate | None, int | None]
"""An area or a share, and its number of errors or words; None without values."""

SALIENCE = salience_detector("max")

OF_RUNS = (SALIENCE, ABLATION, SUPPORT, RELEVANCE, CLASSIFIER)
"""Detectors of runs that the main tables show."""


@dataclass(frozen=True)
class Detector:
    """A detector of a run, named as in results; baselines have no run, since all share them."""

    run: str | None
    name: str

    @property
    def title(self) -> str:
        """Its name in tables: "salience, max (smollm2-135m-instruct)"."""
        return f"{self.name} ({self.run})" if self.run else self.name


def detectors(results: Results) -> list[Detector]:
    """Baselines, then the detectors in `OF_RUNS` of every run."""
    by_run = {
        run: {name for result in run_results for name in result.detectors}
        for run, run_results in results.items()
    }
    known = {name for names in by_run.values() for name in names}
    listed = [Detector(None, name) for name in BASELINES if name in known]
    for run, names in by_run.items():
        listed += [Detector(run, name) for name in OF_RUNS if name in names]
    return listed


class Score(NamedTuple):
    """A detector's score for an example or a word, whether that is an error, and its topic."""

    score: float
    wrong: bool
    cluster: str


def area(found: Collection[Score]) -> Figure:
    """AUC with an interval over topics, and the number of errors."""
    if not found:
        return None, 0
    values, wrong, clusters = zip(*found, strict=True)
    return clustered_auc(values, wrong, clusters), sum(wrong)


def scores(results: Results, part: Slice, kind: ErrorKind, detector: Detector) -> dict[str, Score]:
    """Scores by example; examples with other errors are left out."""
    return {
        result.id: Score(score, part.wrong(result, kind), result.topic)
        for result in _examples(results, part, detector)
        if (result.error_free or part.wrong(result, kind))
        and (score := result.score(detector.name, kind)) is not None
    }


def won(
    results: Results, part: Slice, kind: ErrorKind, detector: Detector
) -> list[tuple[NpovResult, float]]:
    """Each error with 1 if it scores higher than its error-free source, 0.5 in a tie, else 0."""
    known = {result.id: result for result in _examples(results, part, detector)}
    outcomes = []
    for result in known.values():
        source = known.get(result.source)
        if not part.wrong(result, kind) or source is None or source is result:
            continue
        one, other = (example.score(detector.name, kind) for example in (result, source))
        if one is not None and other is not None:
            outcomes.append((result, 1.0 if one > other else 0.5 if one == other else 0.0))
    return outcomes


def word_area(results: Results, part: Slice, kind: ErrorKind, detector: Detector) -> Figure:
    """AUC over words, and the number of wrong words."""
    found = [
        Score(score, word.wrong, result.topic)
        for result in _examples(results, part, detector, kind)
        if result.error_free or part.errors in (result.hallucination, result.coverage)
        if result.known(kind) in ("none", part.errors)
        for word in result.words(kind) or ()
        if (score := word.errors.get(detector.name)) is not None
    ]
    return area(found) if found else (None, None)


def _examples(
    results: Results, part: Slice, detector: Detector, words: ErrorKind | None = None
) -> Iterator[NpovResult]:
    """A slice's results that a detector scored; for baselines, of all runs, each example once.

    With `words`, only results with words that can be such an error.
    """
    seen = set()
    for run, run_results in results.items():
        for result in run_results if detector.run in (None, run) else ():
            known = words is None or result.words(words) is not None
            scored = result.status == "scored" and known and detector.name in result.detectors
            if scored and result.test_set == part.test_set and result.id not in seen:
                seen.add(result.id)
                yield result


def _ranked(kind: ErrorKind) -> Callable[[Sequence[NpovResult], str], Values]:
    def values(results: Sequence[NpovResult], detector: str) -> Values:
        outcomes = (won({"": results}, part, kind, Detector(None, detector)) for part in SLICES)
        return {result.id: value for slice_outcomes in outcomes for result, value in slice_outcomes}

    return values


METRICS: Final = tuple(
    Metric(
        kind,
        f"Ranked above its error-free source: {kind}",
        _ranked(kind),
        {detector: detector for detector in OF_RUNS},
    )
    for kind in KINDS
)
"""Metrics with names such as "coverage.salience-max"; ties count half."""
