"""What two runs come to, example by example, and how far they differ."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pipelines.comparison.runs import Match, Run, other, placed
from pipelines.experiment.scores import Score, Values
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.metrics.proportion import proportion
from pipelines.report.compare import Comparison, bonferroni, compare
from pipelines.report.glance import joined
from pipelines.report.table import Column, Measure, Table

SCORES: Final = "scores"
"""The table of scores."""


@dataclass(frozen=True)
class ScorePair:
    """A score of two runs that belong together."""

    match: Match
    name: str
    score: Score[Any]
    first: Values
    second: Values

    @cached_property
    def shared(self) -> list[str]:
        """Examples that have a value in both runs."""
        return [name for name in self.match.shared if name in self.first and name in self.second]

    @cached_property
    def comparison(self) -> Comparison:
        """The second run less the first, over the examples that have a value in both."""
        low, high = self.score.bounds
        clusters = self.match.first.clusters(self.shared)
        return compare(
            {name: self.second[name] for name in self.shared},
            self.first,
            "sign flips" if clusters else self.score.test,
            bounds=(low - high, high - low),
            clusters=clusters,
        )

    @property
    def tested(self) -> str:
        """What p is by."""
        clustered = self.match.first.clusters(self.shared) is not None
        return "sign flips by cluster" if clustered else self.score.test

    def mean_of(self, run: Run) -> Estimate | None:
        """The mean over all examples of a run that have a value: of 0 and 1, their share."""
        values = self.first if run is self.match.first else self.second
        clusters = run.clusters(values)
        if clusters is None and self.score.test == "McNemar":
            return proportion(sum(value == 1 for value in values.values()), len(values))
        named = None if clusters is None else [*clusters.values()]
        return mean([*values.values()], named, bounds=self.score.bounds)


def score_pairs(found: Iterable[Match]) -> list[ScorePair]:
    """Every declared score of which one run at least has a value."""
    return [pair for match in found for pair in _pairs(match) if pair.first or pair.second]


def _pairs(match: Match) -> Iterator[ScorePair]:
    for name, score in match.first.experiment.scores.items():
        first, second = (
            score.values([*run.results.values()]) for run in (match.first, match.second)
        )
        yield ScorePair(match, name, score, first, second)


def score_table(pairs: Sequence[ScorePair], *, several: bool) -> Table:
    """Scores side by side, with paired differences; `several` as in `making_table`."""
    second = other(several=several)
    return Table.of(
        pairs,
        name=SCORES,
        title="Scores",
        caption=f"Means of each run, and {second} less A over the examples that have a value "
        "in both.",
        columns=[
            *placed(several=several),
            Column("score", "Score", lambda pair: pair.name),
            Column("title", "Mean of", lambda pair: pair.score.title),
            Column("better", "Better", lambda pair: pair.score.better),
            Measure("first", "A", lambda pair: pair.mean_of(pair.match.first)),
            Measure("second", second, lambda pair: pair.mean_of(pair.match.second)),
            Measure("difference", f"{second} less A", lambda pair: pair.comparison.difference),
            Column("p", "p", lambda pair: pair.comparison.p),
            Column("test", "Test", lambda pair: pair.tested),
            Column("examples", "In both", lambda pair: pair.comparison.n),
            Column(
                "without_first",
                "No value in A",
                lambda pair: len(pair.match.first.results) - len(pair.first),
            ),
            Column(
                "without_second",
                f"No value in {second}",
                lambda pair: len(pair.match.second.results) - len(pair.second),
            ),
        ],
        notes=(
            "In brackets 95 % intervals: t of differences and means, Wilson of shares. McNemar's "
            "test is exact; signs are flipped 9,999 times, seed 0. Means are over all examples of "
            "a run, differences over those in both. An interval without width says that all values "
            "were equal, not that the value is certain.",
            *bonferroni([[pair.comparison.p] for pair in pairs]),
            *_independence(pairs),
            *remarks(pair.match for pair in pairs),
        ),
    )


def _independence(pairs: Sequence[ScorePair]) -> Iterator[str]:
    """Which examples are taken as independent."""
    alone = [
        pair.match.first.experiment.title
        for pair in pairs
        if pair.match.first.experiment.cluster is None
    ]
    if len(alone) < len(pairs):
        yield (
            "Where examples share a question, record or topic, intervals are clustered by it, and "
            "signs are flipped together."
        )
    if alone:
        yield f"Examples of {joined(alone)} are taken as independent."


def remarks(found: Iterable[Match]) -> list[str]:
    """What must be known before the figures are believed: other data under equal ids."""
    return [
        f"{match.title}: {match.letter} read other data than A. Examples are matched by their ids "
        "alone, and equal ids may name other examples."
        for match in dict.fromkeys(found)
        if not match.same_data
    ]
