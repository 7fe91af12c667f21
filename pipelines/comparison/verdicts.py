"""Which verdicts changed from one run to another."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pipelines.comparison.runs import Match, other, placed
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.metrics.proportion import share
from pipelines.report.table import Column, Measure, Table


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
