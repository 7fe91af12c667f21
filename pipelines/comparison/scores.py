"""What two runs come to, example by example, and how far they differ."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from pipelines.comparison.runs import Match, Run, other, placed
from pipelines.experiment.metric import Named, Values, named
from pipelines.metrics.estimate import Estimate, mean, share
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
    score: Named
    first: Values
    second: Values

    @cached_property
    def shared(self) -> list[str]:
        """Examples that have a value in both runs."""
        return [name for name in self.match.shared if name in self.first and name in self.second]

    @cached_property
    def comparison(self) -> Comparison:
        """The second run less the first, over the examples that have a value in both."""
        low, high = self.score.metric.bounds
        clusters = self.match.first.clusters(self.shared)
        return compare(
            {name: self.second[name] for name in self.shared},
            self.first,
            "sign flips" if clusters else self.score.metric.test,
            bounds=(low - high, high - low),
            clusters=clusters,
        )

    @property
    def tested(self) -> str:
        """What p is by."""
        clustered = self.match.first.clusters(self.shared) is not None
        return "sign flips by cluster" if clustered else self.score.metric.test

    def mean_of(self, run: Run) -> Estimate | None:
        """The mean over all examples of a run that have a value: of 0 and 1, their share."""
        values = self.first if run is self.match.first else self.second
        return self.score.metric.estimate(values, run.clusters(values))


def score_pairs(found: Iterable[Match]) -> list[ScorePair]:
    """Every declared score of which one run at least has a value."""
    return [pair for match in found for pair in _pairs(match) if pair.first or pair.second]


def _pairs(match: Match) -> Iterator[ScorePair]:
    for name, score in named(match.first.experiment.metrics).items():
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
            Column("better", "Better", lambda pair: pair.score.metric.better),
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


class Flip(NamedTuple):
    """An example with another verdict than in A."""

    match: Match
    example: str
    first: str
    second: str


@dataclass(frozen=True)
class VerdictPair:
    """The verdicts of two runs that belong together, on the examples that both have."""

    match: Match

    @cached_property
    def verdicts(self) -> dict[str, tuple[str, str]]:
        """Example -> the verdict of A, and that of the other."""
        runs = self.match.first, self.match.second
        one, two = ([run.verdict_on(name) for name in self.match.shared] for run in runs)
        return dict(zip(self.match.shared, zip(one, two, strict=True), strict=True))

    @property
    def flips(self) -> list[Flip]:
        """Examples with another verdict."""
        return [
            Flip(self.match, name, *both)
            for name, both in self.verdicts.items()
            if len({*both}) > 1
        ]

    @property
    def share(self) -> Estimate | None:
        """Share of examples with another verdict; clustered where examples share a question."""
        changed = [one != two for one, two in self.verdicts.values()]
        clusters = self.match.first.clusters(self.verdicts)
        if clusters is None:
            return share(changed)
        return mean(changed, [*clusters.values()], bounds=(0, 1))


def verdict_pairs(found: Iterable[Match]) -> list[VerdictPair]:
    """Of the experiments that give verdicts."""
    return [VerdictPair(match) for match in found if match.first.experiment.verdict is not None]


def share_table(pairs: Sequence[VerdictPair], *, several: bool) -> Table:
    """How many verdicts changed."""
    return Table.of(
        pairs,
        name="verdicts",
        title="Verdicts",
        caption="Over the examples that both runs have.",
        columns=[
            *placed(several=several),
            Column("examples", "Examples", lambda pair: len(pair.verdicts)),
            Column("changed", "Changed", lambda pair: len(pair.flips)),
            Measure("share", "Share", lambda pair: pair.share),
        ],
        notes=("In brackets 95 % intervals: t where examples share a question, else Wilson.",),
    )


def cross_table(pair: VerdictPair) -> Table:
    """A's verdicts down, the other's across: counts of examples."""
    counts = Counter(pair.verdicts.values())
    downwards, across = (sorted({both[side] for both in counts}) for side in (0, 1))

    def count(second: str) -> Column[str]:
        return Column(f"then {second}", second, lambda first: counts[first, second])

    letter = pair.match.letter
    return Table.of(
        downwards,
        name=f"verdicts-{pair.match.first.name}-{letter}",
        title=f"Verdicts of {pair.match.title}, A down and {letter} across",
        columns=[Column("verdict", "A", lambda first: first), *map(count, across)],
    )


def flip_table(pairs: Sequence[VerdictPair], *, several: bool) -> Table:
    """The examples with another verdict."""
    return Table.of(
        [flip for pair in pairs for flip in pair.flips],
        name="changed",
        title="Changed verdicts",
        columns=[
            *placed(several=several),
            Column("example", "Example"),
            Column("first", "A"),
            Column("second", other(several=several)),
        ],
    )
