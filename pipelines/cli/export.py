"""`contested export`: a run, or one example of it, in a form that others read."""

import json
from pathlib import Path
from typing import Annotated

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.option import Option, Options
from pipelines.report.progress import say


class ExportOptions(Options):
    """What is written, and where."""

    run: Annotated[Path, Option("A run folder.", argument=True)]
    out: Annotated[
        Path | None,
        Option(
            "The folder to write, a new one; with --example a file.",
            shown="of an example: standard output",
        ),
    ] = None
    example: Annotated[
        str | None,
        Option("Write all that the run knows of this example, as one JSON.", metavar="ID"),
    ] = None


@flat
def export(options: ExportOptions) -> None:
    """Write a run as a dataset folder: Parquet files and a card that says what is in them.

    `datasets.load_dataset` and every reader of Parquet open it. It has a row per example, failures
    too, the run's tables and its `run.json`.

    With --example it is one JSON, to look into or to send: the record of each run of the folder
    (texts, replies as they came, judgements, scores), and what made it (settings, prompts, models
    and machine).

    Examples:
        contested export results --out results-dataset

        contested export results --example bridge/sure --out example.json
    """
    from pipelines import papers
    from pipelines.export import known_of, parts_of, write_dataset
    from pipelines.files import replace_text
    from pipelines.report.terminal import plain_json
    from pipelines.report.texts import visible
    from pipelines.runs.folder import RunFolder, telling_damage

    run, out = options.run, options.out
    with telling_damage(run):
        found = papers.runs_in(RunFolder(run))
        if options.example is not None:
            known = known_of(options.example, [runs for _, runs in found])
            text = json.dumps(known, indent=1, ensure_ascii=False)
            if out is None:
                print(plain_json(text))
                return
            replace_text(out, text + "\n")
            say(f"example: {out}")
            return
        if out is None:
            raise InputError("name the folder to write with --out, or one example with --example")
        parts = [part for experiment, runs in found for part in parts_of(experiment, runs)]
        write_dataset(run, parts, out)
    for part in parts:
        print(f"{part.rows.num_rows:,} rows of {visible(part.name)}")
    say(f"dataset: {out}")
