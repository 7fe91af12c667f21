"""`contested compare`: what differs between run folders, and whether it matters."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pipelines import papers
from pipelines.cli.progress import STDERR, show
from pipelines.comparison.folders import SCORES, FolderComparison, compare_folders
from pipelines.errors import InputError
from pipelines.files import check_writable
from pipelines.report.table import write
from pipelines.report.terminal import plain, plain_json
from pipelines.runs.folder import telling_damage

ROWS = 12
"""Rows of a table on the terminal; files have all."""

PAGE = "comparison.html"


def compare(
    first: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    second: Annotated[
        Path, typer.Argument(help="Another, compared with the first.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for `comparison.html` and `tables/`.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Compare two run folders: how they were made, what came of it, and which verdicts changed.

    Runs of one name belong together, or the only ones of an experiment. It reads the folders alone.

    Examples:
        contested compare before after

        contested compare before after --out comparison
    """
    if out is not None:
        _refuse(out)
    known = {name: partial(papers.experiment, name) for name in papers.EXPERIMENTS}
    with telling_damage(first, second):
        found = compare_folders(first, second, known)
        if out is not None:
            _write(found, out)
        if as_json:
            text = json.dumps(found.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
            print(plain_json(text))
        else:
            _show(found)
    if out is not None:
        page, tables = plain(str(out / PAGE)), plain(str(out / "tables"))
        STDERR.print(f"comparison: {page}   tables: {tables}", soft_wrap=True)


def _refuse(out: Path) -> None:
    """Refuse a folder for what is made that has something else in it, or cannot be written."""
    if (out / "run.json").exists():
        raise InputError(f"--out {out} is a run folder; name another, or its tables would be lost")
    check_writable(out / PAGE)


def _write(found: FolderComparison, out: Path) -> None:
    from pipelines.comparison import page

    for table in found.tables():
        write(table, out / "tables")
    page.write(out / PAGE, found)


def _show(found: FolderComparison) -> None:
    console, tables = Console(emoji=False), found.tables()
    for letter, path in (("A", found.first), ("B", found.second)):
        console.print(f"[bold]{letter}[/bold]  {plain(str(path))}", soft_wrap=True)
    for line in found.alone:
        console.print(f"[dim]not compared: {plain(line)}[/dim]", soft_wrap=True)
    if not found.changes:
        console.print("no difference in how they were made")
    for table in tables:
        if not table.rows:
            continue
        show(replace(table, rows=table.rows[:ROWS]), console)
        if (more := len(table.rows) - ROWS) > 0:
            console.print(f"{more:,} more rows; --out has all", soft_wrap=True)
        if table.name == SCORES:
            for note in table.notes:
                console.print(f"[dim]{plain(note)}[/dim]", soft_wrap=True)
