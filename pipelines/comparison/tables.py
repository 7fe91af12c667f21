"""The tables that two run folders share, row by row."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pipelines.comparison.runs import Match, Side
from pipelines.errors import InputError
from pipelines.experiment.publish import models_of
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Cell, Column, Measure, Table

Record = Mapping[str, Any]
"""A row of a table's JSON: key -> text, number or None."""

ENDS: Final = ("_low", "_high")
WORDS: Final = re.compile(r"(: | and |, )")
"""What stands between names within a cell."""


class Figure(NamedTuple):
    """A figure that both tables have: of which row, its name, and both values."""

    row: str
    name: str
    first: Cell
    second: Cell

    @property
    def difference(self) -> float | None:
        """The second less the first, where both have a value."""
        one, other = map(_number, (self.first, self.second))
        return None if one is None or other is None else other - one


@dataclass(frozen=True)
class SharedTable:
    """A table of A and of the folder of this letter: its figures, and rows that only one has."""

    name: str
    title: str
    letter: str
    figures: tuple[Figure, ...] = ()
    only_first: int = 0
    only_second: int = 0

    @property
    def differing(self) -> list[Figure]:
        """Figures that are not equal."""
        return [each for each in self.figures if each.first != each.second]

    def table(self, *, every: bool) -> Table:
        """Its figures side by side: those that differ, or all."""
        equal = len(self.figures) - len(self.differing)
        alone = [
            f"{count:,} rows are in {letter} alone."
            for letter, count in (("A", self.only_first), (self.letter, self.only_second))
            if count
        ]
        return Table.of(
            self.figures if every else self.differing,
            name=f"{self.name}-{self.letter}",
            title=f"{self.title}: A and {self.letter}",
            columns=[
                Column("row", "Row"),
                Column("figure", "Figure", lambda each: each.name),
                Measure("first", "A", lambda each: each.first),
                Measure("second", self.letter, lambda each: each.second),
                Column("difference", f"{self.letter} less A"),
            ],
            notes=(*alone, *([f"{equal:,} figures are equal."] if equal and not every else [])),
        )


def shared_tables(first: Side, other: Side, found: Sequence[Match]) -> list[SharedTable]:
    """The tables with figures that both folders have, in order of their names.

    Raises:
        InputError: A table is damaged.
    """
    names = _renamed([match for match in found if match.letter == other.letter])
    made = []
    for path in sorted(first.folder.tables.glob("*.json")):
        beside = other.folder.tables / path.name
        if not beside.is_file():
            continue
        (title, ones), (_, others) = _rows(path), _rows(beside)
        others = [{key: _with_names(cell, names) for key, cell in row.items()} for row in others]
        measures = _measures([*ones, *others])
        if measures and ones and others:
            empty = SharedTable(path.stem, title, other.letter)
            made.append(_side_by_side(empty, ones, others, measures))
    return made


def _rows(path: Path) -> tuple[str, list[Record]]:
    """Title and own rows of a table; figures from elsewhere are the same everywhere."""
    try:
        content = json.loads(path.read_text("utf-8"))
        rows = content["rows"]
        return str(content["title"]), [dict(row) for row in rows[: len(rows) - content["quoted"]]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is damaged ({error}); repeat the command of its run, which makes it anew"
        ) from error


def _renamed(found: Sequence[Match]) -> dict[str, str]:
    """Names in the other folder's rows -> what stands for them in A's: runs, models, data."""
    names: dict[str, str] = {}
    for match in found:
        one, other = match.first, match.second
        if one.called and other.called:
            names[other.called] = one.called
        names[other.config["data"]["name"]] = one.config["data"]["name"]
        models = [[model["name"] for model in models_of(run.config)] for run in (one, other)]
        names |= dict(zip(models[1], models[0], strict=False))
    return names


def _with_names(cell: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(cell, str):
        return cell
    return "".join(names.get(word, word) for word in WORDS.split(cell))


def _measures(rows: Sequence[Record]) -> list[str]:
    """Keys of columns with numbers alone; the ends of an interval belong to another one."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    numeric = [
        key
        for key in keys
        if any(row.get(key) is not None for row in rows)
        and all(_is_number(row.get(key)) for row in rows)
    ]
    return [key for key in numeric if not key.endswith(ENDS) or key.rpartition("_")[0] not in keys]


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _side_by_side(
    empty: SharedTable, ones: Sequence[Record], others: Sequence[Record], measures: Sequence[str]
) -> SharedTable:
    """A table with its figures."""
    words = [key for key in ones[0] if key not in measures and not key.endswith(ENDS)]
    keys = _telling(ones, others, words, measures)
    measures = [key for key in measures if key not in keys]
    found, beside = _by_key(ones, keys), _by_key(others, keys)
    said = [key for key in keys if len({str(row.get(key)) for row in (*ones, *others)}) > 1]
    figures = [
        Figure(_in_words(row, said), key, _cell(row, key), _cell(beside[own], key))
        for own, row in found.items()
        if own in beside
        for key in measures
        if key in beside[own]
    ]
    return replace(
        empty,
        figures=tuple(figures),
        only_first=len(found.keys() - beside.keys()),
        only_second=len(beside.keys() - found.keys()),
    )


def _telling(
    ones: Sequence[Record], others: Sequence[Record], words: list[str], measures: Sequence[str]
) -> list[str]:
    """The columns that tell rows apart: those of words, and where they do not, a whole number.

    A level or a round is such a number. A measure's interval says that it is none.
    """

    def tells(keys: Sequence[str]) -> bool:
        return all(
            len({tuple(row.get(key) for key in keys) for row in rows}) == len(rows)
            for rows in (ones, others)
        )

    whole = [
        key
        for key in measures
        if f"{key}_low" not in ones[0]
        and all(isinstance(row.get(key), int) for row in (*ones, *others))
    ]
    choices = [words, *([*words, key] for key in whole)]
    return next((keys for keys in choices if tells(keys)), words)


def _by_key(rows: Sequence[Record], keys: Sequence[str]) -> dict[tuple[Any, ...], Record]:
    """Rows by what tells them apart; those that nothing does, by their turn."""
    turns: Counter[tuple[Any, ...]] = Counter()
    found: dict[tuple[Any, ...], Record] = {}
    for row in rows:
        own = tuple(row.get(key) for key in keys)
        found[*own, turns[own]] = row
        turns[own] += 1
    return found


def _in_words(row: Record, keys: Sequence[str]) -> str:
    return ", ".join(str(row[key]) for key in keys if row.get(key) is not None) or "all"


def _cell(row: Record, key: str) -> Cell:
    value, low, high = row[key], row.get(f"{key}_low"), row.get(f"{key}_high")
    # How many observations there were, a table does not say.
    return value if low is None or value is None else Estimate(value, low, high, 1)


def _number(cell: Cell) -> float | None:
    if isinstance(cell, Estimate):
        return cell.value
    return None if isinstance(cell, str) else cell


def equal_tables(found: Sequence[SharedTable]) -> Iterator[str]:
    """Which shared tables have nothing that differs, in a line for each folder."""
    for letter in dict.fromkeys(each.letter for each in found):
        own = [each for each in found if each.letter == letter]
        if equal := [each.name for each in own if not each.differing]:
            names = ", ".join(equal)
            yield f"equal in A and {letter}: {len(equal):,} of {len(own):,} tables ({names})"
