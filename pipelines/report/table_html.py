"""A table of results as HTML; `templates/plots.html.j2` has its elements."""

from collections.abc import Mapping

from markupsafe import Markup

from pipelines.report.table import Table, as_shown, numeric
from pipelines.report.template import macro

_SHORT = 28
"""Characters of a text cell that are kept on one line in HTML."""


def html(table: Table, *, limit: int = 500, links: Mapping[str, str] | None = None) -> Markup:
    """The table as an HTML `<table>` with real headers; everything in it is escaped.

    Where there are more than `limit` rows, a line says how many and that the CSV has them all.
    Links lead from the first cell of a row to an id on the page.
    """
    numbers = [numeric(table, place) for place in range(len(table.columns))]
    bodies = [
        (kind, [as_shown(table, row) for row in rows[:limit]])
        for kind, rows in (("", table.rows), ("quoted", table.quoted))
    ]
    return macro("table", table, numbers, bodies, len(table.rows) - limit, links or {}, _SHORT)
