"""`contested export`: writes a run in a format that other tools read."""

from pathlib import Path
from typing import Annotated

from pipelines.cli.flat import flat
from pipelines.option import Option, Options
from pipelines.report.progress import say
from pipelines.runs.folder import RunFolder, telling_damage


class ExportOptions(Options):
    """What is written, and where."""

    run: Annotated[Path, Option("A run folder.", argument=True)]
    out: Annotated[Path, Option("New folder to write.")]


@flat
def export(options: ExportOptions) -> None:
    """Write a run as a dataset folder: Parquet files and a card that describes them.

    `datasets.load_dataset` and any Parquet reader open it. It has a row per example, even if that
    failed, as well as the run's tables and `run.json`.

    Example:
        contested export results --out results-dataset
    """
    from pipelines import papers
    from pipelines.export import parts_of, write_dataset
    from pipelines.report.texts import visible

    with telling_damage(options.run):
        experiments = papers.runs_in(RunFolder(options.run))
        parts = [part for experiment, runs in experiments for part in parts_of(experiment, runs)]
        write_dataset(options.run, parts, options.out)
    for part in parts:
        print(f"{part.rows.num_rows:,} rows of {visible(part.name)}")
    say(f"dataset: {options.out}")
