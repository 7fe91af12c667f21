"""`contested export`: a run, or one example of it, in a form that others read."""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines import papers
from pipelines.cli.progress import STDERR
from pipelines.errors import InputError
from pipelines.experiment.publish import Runs
from pipelines.files import replace_text
from pipelines.report.terminal import plain, plain_json
from pipelines.report.texts import visible
from pipelines.runs.folder import RunFolder, telling_damage


def export(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder to write, a new one; with --example a file.",
            show_default="of an example: standard output",
        ),
    ] = None,
    example: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Write all that the run knows of this example, as one JSON."
        ),
    ] = None,
) -> None:
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
    with telling_damage(run):
        found = papers.runs_in(RunFolder(run))
        if example is not None:
            _write_example(known_of(example, [runs for _, runs in found]), out)
            return
        if out is None:
            raise InputError("name the folder to write with --out, or one example with --example")
        from pipelines.export import parts_of, write_dataset

        parts = [part for each, runs in found for part in parts_of(each, runs)]
        write_dataset(run, parts, out)
        for part in parts:
            print(f"{part.rows.num_rows:,} rows of {visible(part.name)}")
        STDERR.print(f"dataset: {plain(str(out))}", soft_wrap=True)


def known_of(example: str, found: Iterable[Runs[Any]]) -> dict[str, Any]:
    """What each run of a folder has of an example.

    Returns:
        `example`, and `runs`: the entry of `run.json` -> `made`, that entry with its settings,
        prompts, models and machine, and `result`, the record as it stands in the results.

    Raises:
        InputError: No run has an example of that id.
    """
    runs: dict[str, Mapping[str, Any]] = {}
    ids: set[str] = set()
    for each in found:
        for name, results in each.results.items():
            ids.update(str(result.id) for result in results)
            runs |= {
                each.entry_name(name): {
                    "made": each.entries[name],
                    "result": result.model_dump(mode="json"),
                }
                for result in results
                if str(result.id) == example
            }
    if not runs:
        near = get_close_matches(example, sorted(ids), n=3) or sorted(ids)[:3]
        some = f"; some that it has: {', '.join(near)}" if near else ""
        raise InputError(f"no example '{example}' in this run{some}")
    return {"example": example, "runs": runs}


def _write_example(known: Mapping[str, Any], out: Path | None) -> None:
    text = json.dumps(known, indent=1, ensure_ascii=False)
    if out is None:
        print(plain_json(text))
        return
    replace_text(out, text + "\n")
    STDERR.print(f"example: {plain(str(out))}", soft_wrap=True)
