"""`contested nli calibrate` and `contested nli evaluate`."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from rich.console import Console
from rich.markup import escape

from nli.errors import TaggerError
from nli.folder import CALIBRATION, folder_digest
from nli.pairs import read_pairs
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.tagging import (
    MeasureOptions,
    PairFile,
    Precision,
    Seed,
    drawn,
    load,
    name_of,
    probabilities_of,
    show,
    write_page,
)
from pipelines.option import Option, Options

if TYPE_CHECKING:
    from pipelines.report.table import Table
    from pipelines.report.tagger import Predictions


class CalibrateOptions(Options):
    """What is fitted to which pairs, and what is kept."""

    model: Annotated[Path, Option("Folder of the tagger; calibration.json is written into it.")]
    pairs: PairFile
    method: Annotated[
        Literal["best", "temperature", "isotonic"],
        Option("What to keep; `best` is what suits unseen pairs best."),
    ] = "best"
    aggregation: Annotated[
        Literal["best", "maximum", "noisy-or", "learned"],
        Option("How the windows of a long premise are joined."),
    ] = "best"
    report: Annotated[Path | None, Option("Folder for tables and a page with the diagram.")] = None
    limit: Annotated[int | None, Field(ge=1), Option("Take N of the pairs, drawn at random.")] = (
        None
    )
    seed: Seed = 42
    precision: Annotated[Precision, Option("Number format of the computation.")] = "auto"


@flat
def calibrate(options: CalibrateOptions) -> None:
    """Make a tagger's probabilities mean what they say, by pairs with known labels.

    Example:
        contested nli calibrate --model tagger --pairs held-out.jsonl --report calibration

    The pairs are cut in two by group, or by premise where they name none: temperature and isotonic
    regression are fitted on one part; the other shows ECE, Brier score and accuracy before and
    after, and gives the points from which a cascade takes its threshold.
    """
    from nli import calibration as calibrations
    from nli.model import Encoder
    from nli.tagger import Tagger
    from pipelines.report.tagger import Predictions, calibration_table
    from pipelines.supervision import calibrating

    model, rows = options.model, drawn(read_pairs(options.pairs), options.limit, options.seed)
    base = calibrations.Calibration()
    if (model / CALIBRATION).exists():
        with suppress(TaggerError):  # damaged, or of other weights: it is about to be replaced
            base = calibrations.read(model) or base
    tagger = Tagger(Encoder.load(model, precision=options.precision), base)
    with progress("pairs", len(rows)) as bar:
        pairs = [row.pair for row in rows]
        readings = tagger.read(pairs, lambda share: bar.add(share * len(rows)))
    method, joined = options.method, options.aggregation
    made = calibrating.calibrate(
        calibrating.Readings(tuple(rows), tuple(readings)),
        base,
        methods=calibrating.METHODS[1:] if method == "best" else (method,),
        aggregations=calibrating.AGGREGATIONS if joined == "best" else (joined,),
        data=options.pairs.name,
    )
    kept = made.calibration
    scored = {
        name: Predictions(made.check, each.tolist()) for name, each in made.probabilities.items()
    }
    table = calibration_table(list(scored.items()), options.pairs.name)
    show(table, Console())
    calibrations.write(model, kept)
    said = (
        f"kept: {kept.method}, temperature {kept.temperature:.3f}, windows joined by "
        f"{kept.aggregation}; fitted on {made.fitted:,} pairs, checked on {len(made.check):,}"
    )
    Console().print(said, soft_wrap=True)
    STDERR.print(f"calibration: {escape(str(model / CALIBRATION))}", soft_wrap=True)
    if options.report is not None:
        name = name_of(model)
        about = {
            "command": "nli calibrate",
            "pairs": str(options.pairs),
            "fitted": made.fitted,
            "checked": len(made.check),
            "model": name,
            "precision": tagger.encoder.precision,
            "device": tagger.device,
            "calibration": kept.model_dump(mode="json", exclude={"risk"}),
        }
        series = [("before", scored["none"]), (kept.method, scored[kept.method])]
        known = (name, folder_digest(model))
        _write_report(options.report, f"Calibration of {name}", series, [table], said, about, known)


def _write_report(
    folder: Path,
    title: str,
    series: "Sequence[tuple[str, Predictions]]",
    tables: "Sequence[Table]",
    said: str,
    about: dict[str, Any],
    model: tuple[str, str],
) -> None:
    """Tables, with the reliability diagrams among them, and a page."""
    from pipelines.report.table import write
    from pipelines.report.tagger import reliability_table, view

    shown = [*tables, reliability_table(series)]
    for one in shown:
        write(one, folder / "tables")
    write_page(folder, title, view(series, shown, f"{said[0].upper()}{said[1:]}."), about, model)
    STDERR.print(f"report: {escape(str(folder / 'report.html'))}", soft_wrap=True)


class EvaluateOptions(MeasureOptions):
    """Which tagger is measured, with which pairs."""

    pairs: PairFile
    out: Annotated[Path | None, Option("Folder for tables and a page with the diagram.")] = None


@flat
def evaluate(options: EvaluateOptions) -> None:
    """Measure a tagger: accuracy, macro-F1, confusion, calibration, each source by itself.

    Examples:
        contested nli evaluate --pairs dev.jsonl

        contested nli evaluate --pairs dev.jsonl --model tagger --out results
    """
    from pipelines.report import tagger as report
    from pipelines.report.contrast import contrast_table

    pairs, out = options.pairs, options.out
    rows = drawn(read_pairs(pairs), options.limit, options.seed)
    tagger = load(options.model, options.precision)
    probabilities, seconds = probabilities_of(tagger, rows, "pairs")
    scored = report.Predictions(rows, probabilities)
    name = name_of(options.model)
    tables = [
        report.scores_table(scored, name, pairs.name),
        report.labels_table(scored),
        report.confusion_table(scored),
    ]
    if (contrast := contrast_table(scored)) is not None:
        tables.append(contrast)
    for table in tables:
        show(table, Console())
    speed = (
        f"{len(rows):,} pairs in {seconds:.1f} s, {len(rows) / max(seconds, 1e-9):,.0f} a second, "
        f"in {tagger.encoder.precision} on {tagger.device}"
    )
    print(speed)
    if out is not None:
        about = {
            "command": "nli evaluate",
            "pairs": str(pairs),
            "n": len(rows),
            "model": name,
            "digest": tagger.digest,
            "precision": tagger.encoder.precision,
            "device": tagger.device,
            "seconds": round(seconds, 2),
        }
        title, known = f"{name} on {pairs.name}", (name, tagger.digest)
        _write_report(out, title, [(name, scored)], tables, speed, about, known)
