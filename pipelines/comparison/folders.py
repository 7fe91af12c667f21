"""Everything that run folders beside each other come to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.comparison.making import Change, changes, making_table, runs_table
from pipelines.comparison.runs import Match, Side, left_alone, matches, opened
from pipelines.comparison.scores import ScorePair, score_pairs, score_table
from pipelines.comparison.tables import SharedTable, shared_tables
from pipelines.comparison.verdicts import (
    VerdictPair,
    cross_table,
    flip_table,
    share_table,
    verdict_pairs,
)
from pipelines.errors import InputError
from pipelines.report.table import Table, records


@dataclass(frozen=True)
class FolderComparison:
    """Folders, A first, the runs that belong together, and the tables that they share.

    Attributes:
        changes: What differs in how runs were made.
        scores: Of examples.
        verdicts: On examples.
        alone: In lines, which runs are not compared, and why.
    """

    sides: Sequence[Side]
    matches: Sequence[Match]
    changes: Sequence[Change]
    scores: Sequence[ScorePair]
    verdicts: Sequence[VerdictPair]
    shared: Sequence[SharedTable] = ()
    alone: Sequence[str] = ()

    @property
    def several(self) -> bool:
        """Whether more than one folder is compared with A."""
        return len(self.sides) > 2

    def of(self, experiment: str) -> "FolderComparison":
        """What there is of an experiment, without the tables of folders."""

        def own(match: Match) -> bool:
            return match.first.experiment.name == experiment

        return FolderComparison(
            self.sides,
            [match for match in self.matches if own(match)],
            [change for change in self.changes if own(change.match)],
            [pair for pair in self.scores if own(pair.match)],
            [pair for pair in self.verdicts if own(pair.match)],
        )

    def own_tables(self) -> list[Table]:
        """What was compared: runs, what differs, scores, verdicts."""
        several = self.several
        return [
            runs_table(self.sides, self.matches),
            making_table(self.changes, several=several),
            score_table(self.scores, several=several),
            share_table(self.verdicts, several=several),
            *(cross_table(pair) for pair in self.verdicts if pair.flips),
            flip_table(self.verdicts, several=several),
        ]

    def tables_of_folders(self, *, every: bool) -> list[Table]:
        """The tables that folders share: figures that differ, or all of them."""
        return [each.table(every=every) for each in self.shared if every or each.differing]

    def as_json(self, *, every: bool) -> dict[str, Any]:
        """Everything as one object: folders by letter, rows of tables by their names."""
        return {
            "folders": {side.letter: str(side.path) for side in self.sides},
            "not_compared": list(self.alone),
            **{table.name: records(table) for table in self.own_tables()},
            "tables": {table.name: records(table) for table in self.tables_of_folders(every=every)},
        }


def compare_folders(
    paths: Sequence[Path], known: Mapping[str, Callable[[], Any]]
) -> FolderComparison:
    """Compare folders with the first of them; nothing is written, and no model is needed.

    Arguments are those of `opened`.

    Raises:
        InputError: A folder cannot be compared, or shares nothing with the first.
    """
    first, *others = sides = opened(paths, known)
    found: list[Match] = []
    shared: list[SharedTable] = []
    alone: list[str] = []
    for other in others:
        own = matches(first, other)
        tables = shared_tables(first, other, own)
        if not own and not tables:
            raise InputError(
                f"{first.path} ({', '.join(first.runs)}) and {other.path} "
                f"({', '.join(other.runs)}) share no run and no table; name runs of one experiment"
            )
        found += own
        shared += tables
        alone += left_alone(first, other, own)
    return FolderComparison(
        sides,
        found,
        [change for match in found for change in changes(match)],
        score_pairs(found),
        verdict_pairs(found),
        shared,
        list(dict.fromkeys(alone)),
    )
