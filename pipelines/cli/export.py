"""`contested export` and `contested trace`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from pipelines import papers
from pipelines.cli.progress import STDERR
from pipelines.cli.terminal import plain_json
from pipelines.files import replace_text
from pipelines.runs.folder import RunFolder

Run = Annotated[Path, typer.Argument(help="A run folder.", show_default=False)]


def export(
    run: Run,
    out: Annotated[Path, typer.Option(help="The folder to write; a new one.")],
) -> None:
    """Write a run as a dataset folder: Parquet files and a card that says what is in them.

    `datasets.load_dataset` and every reader of Parquet open it. It has a row per example, failures
    too, the run's tables and its `run.json`.

    Example:
        contested export results --out results-dataset
    """
    from pipelines.export.dataset import parts_of, write_dataset

    found = papers.runs_in(RunFolder(run))
    parts = [part for each, runs in found for part in parts_of(each, runs)]
    write_dataset(run, parts, out)
    for part in parts:
        print(f"{part.rows.num_rows:,} rows of {part.name}")
    STDERR.print(f"dataset: {escape(str(out))}", soft_wrap=True)


def trace(
    run: Run,
    example: Annotated[str, typer.Argument(help="Id of an example.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="The file to write.", show_default="standard output")
    ] = None,
) -> None:
    """Write all that a run knows of one example as one JSON, to look into or to send.

    It has the record of each run of the folder (texts, replies as they came, judgements, scores),
    and what made it: settings, prompts, models and machine.

    Example:
        contested trace results bridge/sure --out trace.json
    """
    from pipelines.export.trace import trace as of

    found = of(example, [runs for _, runs in papers.runs_in(RunFolder(run))])
    text = json.dumps(found, indent=1, ensure_ascii=False)
    if out is None:
        print(plain_json(text))
        return
    replace_text(out, text + "\n")
    STDERR.print(f"trace: {escape(str(out))}", soft_wrap=True)
