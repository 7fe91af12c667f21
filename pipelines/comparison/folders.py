"""Two run folders beside each other: what differs in their making, their scores and verdicts."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from pipelines.comparison.runs import (
    Change,
    Known,
    Match,
    Run,
    changes,
    left_alone,
    matches,
    runs_of,
)
from pipelines.errors import InputError
from pipelines.experiment.metric import Named, Values, named
from pipelines.metrics.estimate import Estimate, mean, share
from pipelines.report.compare import Comparison, bonferroni, compare
from pipelines.report.table import Column, Measure, Table, records

SCORES: Final = "scores"
"""The table of scores."""

RUN: Final = Column[Any]("run", "Run", lambda item: item.match.title)


@dataclass(frozen=True)
class ScorePair:
    """A score of two runs that belong together."""

    match: Match
    name: str
    score: Named
    first: Values
    second: Values

    @cached_property
    def clusters(self) -> dict[str, Hashable] | None:
        """Of the examples that have a value in both runs; None where they are independent."""
        return self.match.first.clusters([name for name in self.second if name in self.first])

    @cached_property
    def comparison(self) -> Comparison:
        """B less A, over the examples that have a value in both."""
        low, high = self.score.metric.bounds
        return compare(
            self.second,
            self.first,
            "sign flips" if self.clusters else self.score.metric.test,
            bounds=(low - high, high - low),
            clusters=self.clusters,
        )

    @property
    def tested(self) -> str:
        """The test that gives p."""
        return "sign flips by cluster" if self.clusters else self.score.metric.test

    def mean_of(self, run: Run) -> Estimate | None:
        """The mean over all examples of a run that have a value: of 0 and 1, their share."""
        values = self.first if run is self.match.first else self.second
        return self.score.metric.estimate(values, run.clusters(values))


class Flip(NamedTuple):
    """An example with another verdict in B than in A."""

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
        """Example -> the verdicts of A and of B."""
        verdict_on = self.match.first.experiment.verdict_on
        first, second = self.match.first.results, self.match.second.results
        return {
            name: (verdict_on(first[name]), verdict_on(second[name])) for name in self.match.shared
        }

    @property
    def flips(self) -> list[Flip]:
        """Examples with another verdict."""
        return [
            Flip(self.match, name, one, two)
            for name, (one, two) in self.verdicts.items()
            if one != two
        ]

    @property
    def share(self) -> Estimate | None:
        """Share of examples with another verdict; clustered where examples share a question."""
        changed = [one != two for one, two in self.verdicts.values()]
        clusters = self.match.first.clusters(self.verdicts)
        if clusters is None:
            return share(changed)
        return mean(changed, [*clusters.values()], bounds=(0, 1))


@dataclass(frozen=True)
class FolderComparison:
    """Two folders, the runs that belong together, and (`alone`) why others are not compared."""

    first: Path
    second: Path
    matches: Sequence[Match]
    alone: Sequence[str] = ()

    @cached_property
    def changes(self) -> list[Change]:
        """What differs in how runs were made."""
        return [change for match in self.matches for change in changes(match)]

    @cached_property
    def scores(self) -> list[ScorePair]:
        """Every declared score of which one run at least has a value."""
        pairs = (pair for match in self.matches for pair in _score_pairs(match))
        return [pair for pair in pairs if pair.first or pair.second]

    @cached_property
    def verdicts(self) -> list[VerdictPair]:
        """Of the experiments that give verdicts."""
        return [VerdictPair(match) for match in self.matches if match.first.experiment.verdict]

    def tables(self) -> list[Table]:
        """What differs, scores, verdicts and the examples whose verdict changed."""
        return [
            changes_table(self.changes),
            score_table(self.scores),
            share_table(self.verdicts),
            flip_table(self.verdicts),
        ]

    def as_json(self) -> dict[str, Any]:
        """Everything as one object: folders by letter, rows of tables by their names."""
        return {
            "folders": {"A": str(self.first), "B": str(self.second)},
            "not_compared": list(self.alone),
            **{table.name: records(table) for table in self.tables()},
        }


def compare_folders(first: Path, second: Path, known: Known) -> FolderComparison:
    """Compare two folders; nothing is written, and no model is needed.

    Raises:
        InputError: A folder cannot be read, is named twice, or the two share no run.
    """
    if first.resolve() == second.resolve():
        raise InputError("a folder is named twice; name two folders")
    (runs, unknown), (others, also_unknown) = (runs_of(path, known) for path in (first, second))
    found = matches(runs, others)
    if not found:
        raise InputError(
            f"{first} ({', '.join(runs)}) and {second} ({', '.join(others)}) share no run; name "
            "runs of one experiment"
        )
    alone = left_alone(found, {"A": runs, "B": others}, {"A": unknown, "B": also_unknown})
    return FolderComparison(first, second, found, alone)


def _score_pairs(match: Match) -> Iterator[ScorePair]:
    first, second = ([*run.results.values()] for run in (match.first, match.second))
    for name, score in named(match.first.experiment.metrics).items():
        yield ScorePair(match, name, score, score.values(first), score.values(second))


def changes_table(found: Sequence[Change]) -> Table:
    """What differs in how runs were made, a row each."""
    return Table.of(
        found,
        name="differences",
        title="What differs",
        caption="Between runs that belong together, in how they were made.",
        columns=[
            RUN,
            Column("kind", "Kind"),
            Column("what", "What"),
            Column("first", "A"),
            Column("second", "B"),
        ],
        notes=("Digests are shown by their first 12 digits. Times and costs are not compared.",),
    )


def score_table(pairs: Sequence[ScorePair]) -> Table:
    """Scores side by side, with paired differences."""
    return Table.of(
        pairs,
        name=SCORES,
        title="Scores",
        caption="Means of each run, and B less A over the examples that have a value in both.",
        columns=[
            RUN,
            Column("score", "Score", lambda pair: pair.name),
            Measure("first", "A", lambda pair: pair.mean_of(pair.match.first)),
            Measure("second", "B", lambda pair: pair.mean_of(pair.match.second)),
            Measure("difference", "B less A", lambda pair: pair.comparison.difference),
            Column("p", "p", lambda pair: pair.comparison.p),
            Column("test", "Test", lambda pair: pair.tested),
            Column("examples", "In both", lambda pair: pair.comparison.n),
        ],
        notes=(
            "In brackets 95 % intervals: t of differences and means, Wilson of shares. McNemar's "
            "test is exact; signs are flipped 9,999 times, seed 0. Where examples share a "
            "question, record or topic, intervals are clustered by it, and signs are flipped by "
            "cluster. Means are over all examples of a run that have a value. An interval without "
            "width says that all values were equal, not that the value is certain.",
            *bonferroni([[pair.comparison.p] for pair in pairs]),
            *remarks(pair.match for pair in pairs),
        ),
    )


def remarks(found: Iterable[Match]) -> list[str]:
    """What must be known before the figures are believed: other data under equal ids."""
    return [
        f"{match.title}: B read other data than A. Examples are matched by their ids alone, and "
        "equal ids may name other examples."
        for match in dict.fromkeys(found)
        if not match.same_data
    ]


def share_table(pairs: Sequence[VerdictPair]) -> Table:
    """How many verdicts changed."""
    return Table.of(
        pairs,
        name="verdicts",
        title="Verdicts",
        caption="Over the examples that both runs have.",
        columns=[
            RUN,
            Column("examples", "Examples", lambda pair: len(pair.verdicts)),
            Column("changed", "Changed", lambda pair: len(pair.flips)),
            Measure("share", "Share"),
        ],
        notes=("In brackets 95 % intervals: t where examples share a question, else Wilson.",),
    )


def flip_table(pairs: Sequence[VerdictPair]) -> Table:
    """The examples with another verdict."""
    return Table.of(
        [flip for pair in pairs for flip in pair.flips],
        name="changed",
        title="Changed verdicts",
        columns=[
            RUN,
            Column("example", "Example"),
            Column("first", "A"),
            Column("second", "B"),
        ],
    )
