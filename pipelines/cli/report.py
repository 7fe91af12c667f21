"""`contested report`: tables and page of a run, made again from its results."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from pipelines.cli.progress import STDERR
from pipelines.conflictscore import run as conflictscore
from pipelines.conflictscore.page import section
from pipelines.conflictscore.tables import all_tables
from pipelines.errors import InputError
from pipelines.report import page, table
from pipelines.runs.folder import RunFolder


def report(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
) -> None:
    """Make the tables and the page of a run again, from its results alone.

    Example:
        contested report results
    """
    folder = RunFolder(run)
    if not (run / "run.json").exists():
        raise InputError(f"{run} is no run folder (it has no run.json); name one made by --out")
    with folder.locked():
        publish(folder)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


def made_with(config: Mapping[str, Any]) -> str:
    """One sentence under every table: which bytes of which model and data it was made from."""
    model, data = config["model"], config["data"]
    return (
        f"Made with {model['name']} (digest {model['digest'][:12]}, {model['engine']}) on "
        f"{data['name']} (sha256 {data['sha256'][:12]}); run.json has the rest."
    )


def publish(folder: RunFolder) -> None:
    """Write `tables/` and `report.html` from what the run folder holds.

    Raises:
        InputError: A result is damaged, or the folder cannot be written.
    """
    about = folder.about()
    entry: dict[str, Any] | None = about["pipelines"].get(conflictscore.NAME)
    if entry is None:
        raise InputError(f"{folder.path} holds no run of {conflictscore.NAME}; name one that does")
    config = entry["config"]
    skipped = conflictscore.skipped(folder)
    results = list(conflictscore.results(folder).values())
    for each in all_tables(results, config["model"]["name"], config["data"]["name"], skipped):
        table.write(replace(each, notes=(*each.notes, made_with(config))), folder.tables)
    page.write(
        folder.report,
        "ConflictScore",
        [section(results, config["model"]["name"], config["data"]["name"], skipped)],
        about,
        models=[page.ModelUsed("judge", config["model"]["name"], config["model"]["digest"])],
        facts=[
            ("data", f"{config['data']['name']} ({len(results):,} responses)"),
            ("bad records skipped", f"{len(skipped):,}"),
            ("profile", entry["profile"]),
            ("engine", config["model"]["engine"]),
            ("claims", config["settings"]["claims"]),
            ("evidence", config["settings"]["evidence"]),
            ("begun", entry["started"]),
        ],
    )
