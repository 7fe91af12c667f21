"""Export a run folder as a dataset: Parquet files and a card, for `datasets.load_dataset`.

README.md            the card: the run, its models and settings, and the columns
data/ENTRY.parquet   one row per example of an entry of run.json; lists and objects as JSON text
tables/              the run's tables
run.json             everything that determined the results
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.experiment.metric import named
from pipelines.experiment.publish import Runs, models_of
from pipelines.files import check_writable, replace_text
from pipelines.report.texts import visible

MODELS = {"model", "writer", "splitter", "judge", "tagger"}
OTHER = MODELS | {"data", "prompts", "correction", "cascade"}
"""Parts of a configuration that are not settings; `run.json` has them all."""


@dataclass(frozen=True)
class Part:
    """The results of an entry of `run.json`.

    Attributes:
        name: The entry: "conrag.wice".
        entry: Its value in `run.json`.
        rows: One row per example.
        status: Number of examples by status.
    """

    name: str
    entry: Mapping[str, Any]
    rows: pa.Table
    status: Mapping[str, int]


def parts_of(experiment: Experiment[Any, Any], runs: Runs[Any]) -> list[Part]:
    """The non-empty results of an experiment's runs."""
    parts = []
    for name, results in runs.results.items():
        if results:
            status = Counter(str(result.status) for result in results)
            dumped = [result.model_dump(mode="json") for result in results]
            columns = {
                field: [row.get(field) for row in dumped]  # empty fields may be absent from a row
                for field in experiment.result.model_fields
            }
            columns |= come_to(experiment, results)
            rows = pa.table({field: _array(values) for field, values in columns.items()})
            parts.append(Part(runs.entry_name(name), runs.entries[name], rows, status))
    return parts


def _array(values: Sequence[Any]) -> pa.Array:
    """Values of a single plain type unchanged, others as JSON text; None stays None."""
    kinds = {type(value) for value in values if value is not None}
    if kinds in ({str}, {bool}, {int}, {float}):
        return pa.array(values)
    if kinds == {int, float}:
        return pa.array(values, pa.float64())
    texts = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    return pa.array(texts, pa.string())


def come_to(experiment: Experiment[Any, Any], results: Sequence[Any]) -> dict[str, list[Any]]:
    """Columns of scores and verdicts: `score.NAME` for scores that any result has; `verdict`."""
    columns: dict[str, list[Any]] = {}
    for name, score in named(experiment.metrics).items():
        values = score.values(results)
        if values:
            columns[f"score.{name}"] = [values.get(str(result.id)) for result in results]
    if experiment.verdict is not None:
        columns["verdict"] = [experiment.verdict_on(result) for result in results]
    return columns


def write_dataset(run: Path, parts: Sequence[Part], out: Path) -> None:
    """Write a dataset folder of a run's results, completely or not at all.

    Raises:
        InputError: There are no results, `out` exists and is not empty, or it cannot be written.
    """
    if not parts:
        raise InputError(f"{run} has no results yet; run the command that made it again")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} already exists; name a new folder with --out")
    check_writable(out / "README.md")
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)  # fails if a link has that name
    (partial / "data").mkdir()
    try:
        for part in parts:
            pq.write_table(part.rows, partial / "data" / f"{part.name}.parquet")
        if (run / "tables").is_dir():
            shutil.copytree(run / "tables", partial / "tables")
        shutil.copyfile(run / "run.json", partial / "run.json")
        replace_text(partial / "README.md", card(run.resolve().name, parts))
        partial.replace(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def card(name: str, parts: Sequence[Part]) -> str:
    """The card of a dataset folder, in Markdown with the header that `datasets` reads."""
    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "report" / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  Markdown; text from outside goes through `code`
    )
    pages.filters |= {"code": code, "json": json.dumps}
    given = {"name": name, "parts": parts, "models_of": models_of, "settings_of": settings_of}
    return pages.get_template("card.md.j2").render(given)


def settings_of(config: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """The user's settings, flattened: ("asked.seed", 0). Parts in `OTHER` are left out."""
    for name, value in config.items():
        if within or name not in OTHER:
            if isinstance(value, Mapping):
                yield from settings_of(value, f"{within}{name}.")
            else:
                yield f"{within}{name}", value


def code(value: Any) -> str:
    """Text as inline code in a Markdown table: no markup, line breaks or control characters."""
    text = visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return "`" + " ".join(text.split()).replace("`", "'").replace("|", "\\|") + "`"
