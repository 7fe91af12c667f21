"""A table of results, written as Markdown, CSV, JSON and HTML."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, Final, Generic, Self, TypeVar

from pipelines.files import replace_text
from pipelines.metrics.estimate import Estimate
from pipelines.report.texts import one_line, visible

Cell = str | int | float | Estimate | None
Row = tuple[Cell, ...]
Quoted = Mapping[str, Cell]
"""Quoted figures by column key; missing keys are missing values."""

Item = TypeVar("Item")
Shown_contra = TypeVar("Shown_contra", contravariant=True)

MISSING = "–"
"""Shown for a missing value, never 0."""


@dataclass(frozen=True)
class Column(Generic[Shown_contra]):
    """One column.

    Attributes:
        key: Name in CSV and JSON, unique within the table.
        title: Heading in Markdown and HTML.
        cell: Makes the cell of an item; None takes the item's attribute named as the key.
        interval: Whether cells are estimates. CSV and JSON then always have `key_low` and
            `key_high` beside `key`.
    """

    key: str
    title: str
    cell: Callable[[Shown_contra], Cell] | None = field(default=None, compare=False, repr=False)
    interval: bool = False

    def of(self, item: Shown_contra) -> Cell:
        """The cell of an item."""
        if self.cell is not None:
            return self.cell(item)
        cell: Cell = getattr(item, self.key)
        return cell


def of_place(column: Column[Item]) -> Column[Any]:
    """The column of the place: the item's `at`."""
    return Column(column.key, column.title, lambda item: column.of(item.at))


@dataclass(frozen=True)
class Measure(Column[Shown_contra]):
    """A column of estimates."""

    interval: bool = True


HERE: Final = Column[Any]("figures", "Figures", lambda _: "this run")
"""The column that distinguishes this run's rows from the paper's."""


@dataclass(frozen=True)
class Table:
    """Rows under named columns, with caption and notes.

    Attributes:
        name: File name without its ending.
        title: Heading.
        columns: In the order shown.
        rows: One cell per column. A float is a number without an interval, shown with four
            decimals, or two in a column of estimates; NaN is refused.
        quoted: Rows of a paper's figures, shown apart below `rows`.
        caption: One sentence under the title.
        notes: Sentences under the table.
    """

    name: str
    title: str
    columns: tuple[Column[Any], ...]
    rows: tuple[Row, ...]
    quoted: tuple[Row, ...] = ()
    caption: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        items: Iterable[Item],
        *,
        name: str,
        title: str,
        columns: Sequence[Column[Item]],
        quoted: Iterable[Quoted] = (),
        caption: str = "",
        notes: Iterable[str] = (),
    ) -> Self:
        """The table with one row per item.

        Rows of `quoted` are keyed by column.

        Raises:
            ValueError: A quoted figure belongs to no column.
        """
        keys = [column.key for column in columns]
        quotes = list(quoted)
        if unknown := {key for row in quotes for key in row} - {*keys}:
            raise ValueError(f"{name}: no column for {', '.join(sorted(unknown))}")
        return cls(
            name=name,
            title=title,
            columns=tuple(columns),
            rows=tuple(tuple(column.of(item) for column in columns) for item in items),
            quoted=tuple(tuple(row.get(key) for key in keys) for row in quotes),
            caption=caption,
            notes=tuple(notes),
        )

    def __post_init__(self) -> None:
        for row in (*self.rows, *self.quoted):
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: {len(row)} cells for {len(self.columns)} columns")
            for column, cell in zip(self.columns, row, strict=True):
                if isinstance(cell, float) and not isfinite(cell):
                    raise ValueError(f"{self.name}: {cell} in '{column.key}'; None says 'no value'")
                if isinstance(cell, Estimate) and not column.interval:
                    raise ValueError(f"{self.name}: '{column.key}' has no room for an interval")


def brief(table: Table, *keys: str) -> Table:
    """Our rows in these columns and all columns of estimates, without notes."""
    places = [
        place for place, column in enumerate(table.columns) if column.interval or column.key in keys
    ]
    return replace(with_columns(table, places), quoted=(), notes=())


WIDE: Final = 10
"""Maximum number of columns that fit on a page."""


def without_zeros(table: Table) -> Table:
    """The table for a page; if it is wide, columns of zeros are named in a note instead."""
    if len(table.columns) <= WIDE or not table.rows:
        return table
    empty = [
        place
        for place in range(1, len(table.columns))
        if all(row[place] == 0 and type(row[place]) is int for row in table.rows)
        if all(row[place] is None for row in table.quoted)
    ]
    if not empty:
        return table
    titles = [table.columns[place].title for place in empty]
    named = ", ".join(title[:1].lower() + title[1:] for title in titles)
    kept = with_columns(table, [n for n in range(len(table.columns)) if n not in empty])
    return replace(kept, notes=(*table.notes, f"0 in all rows: {named}."))


def with_columns(table: Table, places: Sequence[int]) -> Table:
    """The table with only these columns."""
    return replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in table.rows),
        quoted=tuple(tuple(row[place] for place in places) for row in table.quoted),
    )


def quote(keys: str, *rows: Sequence[Cell], **same: Cell) -> tuple[Quoted, ...]:
    """Rows of a paper's figures, by column.

    `keys` names the column of every figure in a row, separated by spaces; `KEY_low` and `KEY_high`
    after `KEY` are its interval. Keyword arguments are the same in all rows.
    """
    return tuple({**same, **_with_intervals(keys.split(), row)} for row in rows)


def _with_intervals(keys: Sequence[str], row: Sequence[Any]) -> dict[str, Cell]:
    cells = dict(zip(keys, row, strict=True))
    for key in keys:
        if f"{key}_low" in cells:
            cells[key] = Estimate(cells[key], cells.pop(f"{key}_low"), cells.pop(f"{key}_high"), 1)
    return cells


def shown(cell: Cell) -> str:
    """A cell for people: "0.42 [0.31, 0.53]", or a dash for a missing value."""
    if cell is None:
        return MISSING
    if isinstance(cell, Estimate):
        if cell.low is None or cell.high is None:
            return two_places(cell.value)
        return f"{two_places(cell.value)} [{two_places(cell.low)}, {two_places(cell.high)}]"
    if isinstance(cell, float):
        return f"{cell:,.4f}".replace("-", "−")
    if isinstance(cell, int):
        return f"{cell:,}"
    return visible(cell)


def as_shown(table: Table, row: Row) -> Row:
    """A row for `shown`: figures in a column of estimates get two decimals.

    Quoted figures have no interval, so they are floats among estimates.
    """
    return tuple(
        Estimate(cell, None, None, 1) if column.interval and isinstance(cell, float) else cell
        for column, cell in zip(table.columns, row, strict=True)
    )


def two_places(value: float) -> str:
    """A number with two decimals, without the sign of a negative zero, with a real minus."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def markdown(table: Table) -> str:
    """The table as a GitHub-flavoured Markdown page."""
    lines = [f"# {_escaped(table.title)}", ""]
    if table.caption:
        lines += [_escaped(table.caption), ""]
    lines.append(_line(column.title for column in table.columns))
    numbers = (numeric(table, place) for place in range(len(table.columns)))
    lines.append(_line("---:" if number else "---" for number in numbers))
    lines += [
        _line(_escaped(shown(cell)) for cell in as_shown(table, row))
        for row in table.rows + table.quoted
    ]
    if not table.rows:
        lines += ["", "No rows."]
    if table.notes:
        lines += ["", *(f"- {_escaped(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def csv_text(table: Table) -> str:
    """The table as CSV (RFC 4180, with line feeds); missing values are empty fields.

    A text that a spreadsheet would run as a formula gets a leading apostrophe, and control
    characters are made `visible`; JSON has the texts unchanged. Line ends within a text become line
    feeds.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        key
        for column in table.columns
        for key in (column.key, f"{column.key}_low", f"{column.key}_high")
        if column.interval or key == column.key
    )
    writer.writerows([_inert(value) for value in row.values()] for row in records(table))
    return buffer.getvalue()


def json_text(table: Table) -> str:
    """The table as a JSON object: name, title, caption, notes, and rows as objects.

    `quoted` is the number of a paper's rows, which come last.
    """
    content = {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "notes": list(table.notes),
        "quoted": len(table.quoted),
        "rows": records(table),
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def records(table: Table) -> list[dict[str, str | int | float | None]]:
    """All rows, quoted ones last, as key -> value with separate `_low` and `_high`."""
    made = []
    for row in table.rows + table.quoted:
        record: dict[str, str | int | float | None] = {}
        value: str | int | float | None
        for column, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, Estimate):
                value, low, high = cell.value, cell.low, cell.high
            else:
                value, low, high = cell, None, None
            record[column.key] = value
            if column.interval:
                record |= {f"{column.key}_low": low, f"{column.key}_high": high}
        made.append(record)
    return made


def own_rows(table: Table) -> list[dict[str, Cell]]:
    """Our rows as key -> cell, without quoted figures."""
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, row, strict=True)) for row in table.rows]


def grouped(table: Table, *keys: str) -> list[tuple[tuple[str, ...], list[dict[str, Cell]]]]:
    """Our rows by the values of columns, in the order of first appearance."""
    groups: dict[tuple[str, ...], list[dict[str, Cell]]] = {}
    for row in own_rows(table):
        groups.setdefault(tuple(str(row[key]) for key in keys), []).append(row)
    return list(groups.items())


def estimate_of(cell: Cell) -> Estimate | None:
    """The cell if it is an estimate."""
    return cell if isinstance(cell, Estimate) else None


def called(run: str, name: str) -> str:
    """The name of an example with its run, since names may repeat across runs."""
    return f"{run}: {name}"


def with_names_joined(table: Table, run: str, name: str) -> Table:
    """The table with run and example joined in the first cell, for `html` to link.

    Both are keys of columns; the joined column keeps the heading of the examples.
    """
    keys = [column.key for column in table.columns]
    first, second = keys.index(run), keys.index(name)
    others = [place for place in range(len(keys)) if place not in (first, second)]
    return replace(
        table,
        columns=(table.columns[second], *(table.columns[place] for place in others)),
        rows=tuple(
            (called(str(row[first]), str(row[second])), *(row[place] for place in others))
            for row in table.rows
        ),
    )


def write(table: Table, folder: Path) -> None:
    """Writes NAME.md, NAME.csv and NAME.json, each in one step.

    Raises:
        InputError: The folder cannot be written.
    """
    texts = {"md": markdown(table), "csv": csv_text(table), "json": json_text(table)}
    for ending, text in texts.items():
        replace_text(folder / f"{table.name}.{ending}", text)


def numeric(table: Table, index: int) -> bool:
    """Whether all values of a column are numbers."""
    cells = [row[index] for row in table.rows + table.quoted if row[index] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Text escaped for Markdown, on one line."""
    line = one_line(visible(text))
    for sign in "\\`*<>|":
        line = line.replace(sign, f"\\{sign}")
    return line.replace("](", "]\\(")


_FORMULA = re.compile(r"[\t\n]|[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*[=+\-@＝＋－＠]")
"""Start of a cell that a spreadsheet would run; some skip invisible characters first."""


def _inert(value: str | float | None) -> str | float | None:
    if not isinstance(value, str):
        return value
    value = visible(value.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{value}" if _FORMULA.match(value) else value
