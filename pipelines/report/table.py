"""A table of results: one value, written as Markdown, CSV, JSON and HTML."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from markupsafe import Markup

from pipelines.files import replace_text
from pipelines.metrics.estimate import Estimate
from pipelines.report.text import one_line, visible

Cell = str | int | float | Estimate | None
Row = tuple[Cell, ...]

MISSING = "–"
"""How a value that does not exist is shown; it is never shown as 0."""

_SHORT = 28
"""Characters of a text cell that are kept on one line in HTML."""


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        key: Name in CSV and JSON, unique within the table.
        title: Heading in Markdown and HTML.
        interval: Whether cells are estimates. CSV and JSON then have `key_low` and `key_high`
            beside `key`, whether or not a row has an interval.
    """

    key: str
    title: str
    interval: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under named columns, with what a reader must know to read them.

    Attributes:
        name: File name without its ending.
        title: Heading.
        columns: In the order shown.
        rows: One cell per column. A float is a number without an interval, shown with four
            decimals; NaN is refused.
        quoted: Rows of figures from elsewhere, shown below `rows`, set apart from them.
        caption: One sentence under the title.
        notes: Sentences under the table.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    quoted: tuple[Row, ...] = ()
    caption: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in (*self.rows, *self.quoted):
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: {len(row)} cells for {len(self.columns)} columns")
            for column, cell in zip(self.columns, row, strict=True):
                if isinstance(cell, float) and not isfinite(cell):
                    raise ValueError(f"{self.name}: {cell} in '{column.key}'; None says 'no value'")
                if isinstance(cell, Estimate) and not column.interval:
                    raise ValueError(f"{self.name}: '{column.key}' has no room for an interval")


def shown(cell: Cell) -> str:
    """A cell as people read it: "0.42 [0.31, 0.53]", or a dash for what does not exist."""
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


def two_places(value: float) -> str:
    """A number with two decimals, without the sign of a negative zero, with a real minus."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def markdown(table: Table) -> str:
    """The table as a GitHub-flavoured Markdown page."""
    lines = [f"# {_escaped(table.title)}", ""]
    if table.caption:
        lines += [_escaped(table.caption), ""]
    lines.append(_line(column.title for column in table.columns))
    lines.append(_line(("---:" if _numeric(table, i) else "---") for i in _indices(table)))
    lines += [_line(_escaped(shown(cell)) for cell in row) for row in table.rows + table.quoted]
    if not table.rows:
        lines += ["", "No rows."]
    if table.notes:
        lines += ["", *(f"- {_escaped(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def csv_text(table: Table) -> str:
    """The table as CSV (RFC 4180, with line feeds); an empty field is a value that does not exist.

    A text that a spreadsheet would run as a formula gets an apostrophe before it; JSON has it as it
    is. Line ends within a text become line feeds.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_fields(table))
    writer.writerows([_inert(value) for value in row.values()] for row in records(table))
    return buffer.getvalue()


def json_text(table: Table) -> str:
    """The table as a JSON object: name, title, caption, notes, and rows as objects."""
    content = {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "notes": list(table.notes),
        "rows": records(table),
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def records(table: Table) -> list[dict[str, str | int | float | None]]:
    """All rows, quoted ones last, as key -> value with separate `_low` and `_high`."""
    found = []
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
        found.append(record)
    return found


def own_rows(table: Table) -> list[dict[str, Cell]]:
    """The table's own rows as key -> cell, without figures from elsewhere."""
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, row, strict=True)) for row in table.rows]


def grouped(
    rows: Sequence[dict[str, Cell]], *keys: str
) -> list[tuple[tuple[str, ...], list[dict[str, Cell]]]]:
    """Values of columns with their rows, in the order in which the values come first."""
    found: dict[tuple[str, ...], list[dict[str, Cell]]] = {}
    for row in rows:
        found.setdefault(tuple(str(row[key]) for key in keys), []).append(row)
    return list(found.items())


def estimate_of(cell: Cell) -> Estimate | None:
    """The cell where it is an estimate."""
    return cell if isinstance(cell, Estimate) else None


def called(run: str, name: str) -> str:
    """An example among those of several runs, whose names may be the same."""
    return f"{run}: {name}"


def with_names_joined(table: Table, run: str, name: str) -> Table:
    """The table with a run and an example as one first cell, for `html` to link to the example.

    Args:
        table: Has both columns.
        run: Key of the column of runs.
        name: Key of the column of examples; the heading of the joined one is its.
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


def html(table: Table, *, limit: int = 500, links: Mapping[str, str] | None = None) -> Markup:
    """The table as an HTML `<table>` with real headers; everything in it is escaped.

    Args:
        table: What to show.
        limit: Rows shown at most. Where there are more, a line says how many and that the CSV has
            them all.
        links: First cell of a row -> id of the element on the page that it leads to.
    """
    head = Markup("").join(
        Markup('<th scope="col"{}>{}</th>').format(_align(table, i), column.title)
        for i, column in enumerate(table.columns)
    )
    bodies = [
        Markup("<tbody{}>{}</tbody>").format(
            Markup(' class="quoted"') if group is table.quoted else "",
            Markup("").join(_html_row(table, row, links or {}) for row in group[:limit]),
        )
        for group in (table.rows, table.quoted)
        if group
    ]
    left_out = len(table.rows) - limit
    more = (
        Markup('<p class="note">{:,} more rows stand in tables/{}.csv.</p>').format(
            left_out, table.name
        )
        if left_out > 0
        else ""
    )
    notes = Markup("").join(Markup("<li>{}</li>").format(visible(note)) for note in table.notes)
    return Markup(
        '{}<div class="scroll" tabindex="0" role="region" aria-label="{}"><table class="figures">'
        '<caption class="hidden-text">{}</caption><thead><tr>{}</tr></thead>{}</table></div>{}{}'
    ).format(
        Markup('<p class="note">{}</p>').format(visible(table.caption)) if table.caption else "",
        table.title,
        table.title,
        head,
        Markup("").join(bodies),
        more,
        Markup('<ul class="notes">{}</ul>').format(notes) if notes else "",
    )


def write(table: Table, folder: Path) -> list[Path]:
    """Writes NAME.md, NAME.csv and NAME.json, each in one step.

    Raises:
        InputError: The folder cannot be written.
    """
    written = []
    for ending, text in (
        ("md", markdown(table)),
        ("csv", csv_text(table)),
        ("json", json_text(table)),
    ):
        path = folder / f"{table.name}.{ending}"
        replace_text(path, text)
        written.append(path)
    return written


def _indices(table: Table) -> range:
    return range(len(table.columns))


def _fields(table: Table) -> Iterator[str]:
    for column in table.columns:
        yield column.key
        if column.interval:
            yield from (f"{column.key}_low", f"{column.key}_high")


def _numeric(table: Table, index: int) -> bool:
    cells = [row[index] for row in table.rows + table.quoted if row[index] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def _align(table: Table, index: int) -> Markup:
    return Markup(' class="number"') if _numeric(table, index) else Markup("")


def _html_row(table: Table, row: Row, links: Mapping[str, str]) -> Markup:
    name: str = shown(row[0])
    if isinstance(row[0], str) and row[0] in links:
        name = Markup('<a href="#{}">{}</a>').format(links[row[0]], name)
    kind = Markup(' class="short"') if len(shown(row[0])) <= _SHORT else Markup("")
    first = Markup('<th scope="row"{} dir="auto">{}</th>').format(kind, name)
    cells = (_html_cell(table, index, cell) for index, cell in enumerate(row) if index)
    return Markup("<tr>{}{}</tr>").format(first, Markup("").join(cells))


def _html_cell(table: Table, index: int, cell: Cell) -> Markup:
    text: str = shown(cell)
    if isinstance(cell, Estimate) and cell.low is not None and cell.high is not None:
        value, interval = text.split(" ", 1)
        text = Markup('{} <span class="interval">{}</span>').format(value, interval)
    if _numeric(table, index):
        return Markup('<td class="number">{}</td>').format(text)
    if len(text) <= _SHORT:
        return Markup('<td class="short" dir="auto">{}</td>').format(text)
    return Markup('<td dir="auto">{}</td>').format(text)


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    line = one_line(visible(text))
    for sign in "\\`*<>|":
        line = line.replace(sign, f"\\{sign}")
    return line.replace("](", "]\\(")


def _inert(value: str | float | None) -> str | float | None:
    if not isinstance(value, str):
        return value
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\n")) else value
