"""A table of results as HTML."""

from collections.abc import Mapping

from markupsafe import Markup

from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Cell, Row, Table, numeric, shown
from pipelines.report.text import visible

_SHORT = 28
"""Characters of a text cell that are kept on one line in HTML."""


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


def _align(table: Table, index: int) -> Markup:
    return Markup(' class="number"') if numeric(table, index) else Markup("")


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
    if numeric(table, index):
        return Markup('<td class="number">{}</td>').format(text)
    if len(text) <= _SHORT:
        return Markup('<td class="short" dir="auto">{}</td>').format(text)
    return Markup('<td dir="auto">{}</td>').format(text)
