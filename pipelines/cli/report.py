"""`contested report`: tables and page of a run, made again from its results."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from pipelines import papers
from pipelines.cli.progress import STDERR
from pipelines.errors import InputError
from pipelines.experiment.publish import write
from pipelines.runs.folder import RunFolder


def report(run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)]) -> None:
    """Make the tables and the page of a run again, from its results alone.

    Example:
        contested report results
    """
    folder = RunFolder(run)
    folder.refuse_missing()  # before a lock makes a folder of it
    with folder.locked():
        publish(folder)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


def publish(folder: RunFolder) -> None:
    """Write `tables/` and `report.html` from what the run folder holds."""
    from pipelines.annotation.view import parts

    found = papers.runs_in(folder)
    if not found:
        *most, last = papers.EXPERIMENTS
        raise InputError(
            f"{folder.path} holds no run of {', '.join(most)} or {last}; name one that does"
        )
    made = []
    for each, runs in found:
        own = each.publish(runs)
        view = replace(own.view, parts=(*own.view.parts, *parts(folder, each, runs)))
        made.append((replace(own, view=view), runs))
    write(folder, made)
