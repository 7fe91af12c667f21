"""Everything that run folders beside each other come to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.comparison.making import Change, changes, making_table, runs_table
from pipelines.comparison.runs import Match, Side, left_alone, matches, opened
from pipelines.comparison.scores import (
    ScorePair,
    VerdictPair,
    cross_table,
    flip_table,
    score_pairs,
    score_table,
    share_table,
    verdict_pairs,
)
from pipelines.errors import InputError
from pipelines.report.table import Table, records


@dataclass(frozen=True)
class FolderComparison:
    """Folders, A first, and the runs that belong together.

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
    alone: Sequence[str] = ()

    @property
    def several(self) -> bool:
        """Whether more than one folder is compared with A."""
        return len(self.sides) > 2

    def of(self, experiment: str) -> "FolderComparison":
        """What there is of an experiment."""

        def own(match: Match) -> bool:
            return match.first.experiment.name == experiment

        return FolderComparison(
            self.sides,
            [match for match in self.matches if own(match)],
            [change for change in self.changes if own(change.match)],
            [pair for pair in self.scores if own(pair.match)],
            [pair for pair in self.verdicts if own(pair.match)],
        )

    def tables(self) -> list[Table]:
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

    def as_json(self) -> dict[str, Any]:
        """Everything as one object: folders by letter, rows of tables by their names."""
        return {
            "folders": {side.letter: str(side.path) for side in self.sides},
            "not_compared": list(self.alone),
            **{table.name: records(table) for table in self.tables()},
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
    alone: list[str] = []
    for other in others:
        own = matches(first, other)
        if not own:
            raise InputError(
                f"{first.path} ({', '.join(first.runs)}) and {other.path} "
                f"({', '.join(other.runs)}) share no run; name runs of one experiment"
            )
        found += own
        alone += left_alone(first, other, own)
    return FolderComparison(
        sides,
        found,
        [change for match in found for change in changes(match)],
        score_pairs(found),
        verdict_pairs(found),
        list(dict.fromkeys(alone)),
    )
