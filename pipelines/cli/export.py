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
            "New folder to write; with --example, a file.",
            shown="standard output, for an example",
        ),
    ] = None
    example: Annotated[
        str | None,
        Option("Write all data of this example as one JSON.", metavar="ID"),
    ] = None


@flat
def export(options: ExportOptions) -> None:
    """Write a run as a dataset folder: Parquet files and a card that describes them.

    `datasets.load_dataset` and any Parquet reader open it. It has a row per example, including
    failures, the run's tables and its `run.json`.

    With --example, it is one JSON to read or to send: the example's record in every run of the
    folder (texts, raw replies, judgements, scores), with settings, prompts, models and machine.

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
