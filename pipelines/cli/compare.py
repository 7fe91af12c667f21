"""`contested compare`: what differs between run folders, and whether it matters."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.files import check_writable
from pipelines.option import Option, Options
from pipelines.report.progress import say, show
from pipelines.report.table import with_columns
from pipelines.report.terminal import plain, plain_json
from pipelines.runs.folder import telling_damage

if TYPE_CHECKING:
    from pipelines.comparison.folders import FolderComparison

ROWS = 12
"""Rows of a table on the terminal; files have all."""

PAGE = "comparison.html"


class CompareOptions(Options):
    """What is compared, and where the comparison goes."""

    first: Annotated[Path, Option("A run folder.", argument=True)]
    second: Annotated[Path, Option("Another, compared with the first.", argument=True)]
    out: Annotated[Path | None, Option("Folder for `comparison.html` and `tables/`.")] = None
    as_json: Annotated[bool, Option("Print everything as JSON.", name="--json")] = False


@flat
def compare(options: CompareOptions) -> None:
    """Compare two run folders: their settings, their scores, and the verdicts that changed.

    Runs match if they have the same name, or are the only runs of an experiment in both folders.
    The folders are not changed.

    Examples:
        contested compare before after

        contested compare before after --out comparison
    """
    from pipelines.comparison import page
    from pipelines.comparison.folders import compare_folders
    from pipelines.report.table import write

    out = options.out
    if out is not None:
        _refuse(out)
    with telling_damage(options.first, options.second):
        comparison = compare_folders(options.first, options.second)
        if out is not None:
            for table in comparison.tables():
                write(table, out / "tables")
            page.write(out / PAGE, comparison)
        if options.as_json:
            text = json.dumps(comparison.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
            print(plain_json(text))
        else:
            _show(comparison)
    if out is not None:
        say(f"comparison: {out / PAGE}   tables: {out / 'tables'}")


def _refuse(out: Path) -> None:
    """Raise InputError if this is a run folder, or cannot be written."""
    if (out / "run.json").exists():
        raise InputError(f"--out {out} is a run folder; name another, or its tables would be lost")
    check_writable(out / PAGE)


def _show(found: "FolderComparison") -> None:
    from pipelines.comparison.folders import SCORES

    console, tables = Console(emoji=False), found.tables()
    for letter, path in (("A", found.first), ("B", found.second)):
        console.print(f"[bold]{letter}[/bold]  {plain(str(path))}", soft_wrap=True)
    for line in found.alone:
        console.print(f"[dim]not compared: {plain(line)}[/dim]", soft_wrap=True)
    if len(found.matches) == 1:
        console.print(f"[bold]run[/bold]  {plain(found.matches[0].title)}", soft_wrap=True)
    if not found.changes:
        console.print("both were made in the same way")
    for made in tables:
        if not made.rows:
            continue
        table = made
        if table.name == SCORES:  # titles wrap between words
            scores = [pair.score for pair in found.scores]
            titles = [f"{score.metric.title} {score.method}".rstrip() for score in scores]
            titled = zip(table.rows, titles, strict=True)
            table = replace(table, rows=tuple((row[0], said, *row[2:]) for row, said in titled))
        if len(found.matches) == 1:  # named above, which leaves room
            table = with_columns(table, range(1, len(table.columns)))
        show(replace(table, rows=table.rows[:ROWS]))
        if (more := len(table.rows) - ROWS) > 0:
            console.print(f"{more:,} more rows; --out has all", soft_wrap=True)
        if table.name == SCORES:
            for note in table.notes:
                console.print(f"[dim]{plain(note)}[/dim]", soft_wrap=True)
