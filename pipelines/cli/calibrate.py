"""`contested calibrate`: one correction of a tagger or a language model, from labelled pairs."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from rich.console import Console

from nli.errors import TaggerError
from nli.folder import CALIBRATION
from nli.labels import LABELS
from nli.pairs import LabelledPair, read_pairs
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.tagging import (
    Precision,
    Seed,
    drawn,
    load,
    name_of,
    probabilities_of,
    show,
)
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import Needs, refuse_missing
from pipelines.experiment.options import LlmOptions
from pipelines.files import read_bytes, replace_text
from pipelines.judge.correction import HeldOut, StoredCorrection, correction_file
from pipelines.judge.judgement import Relation
from pipelines.judge.model import ModelJudge, model_judge
from pipelines.judge.store import stored
from pipelines.judge.tagger import RELATION_OF
from pipelines.option import Only, Option, refuse_given
from pipelines.report.terminal import plain
from serving.errors import RequestError

if TYPE_CHECKING:
    from pipelines.report.table import Table

TAGGER = Only(lambda own: own.judge == "tagger", "--judge model")
FITTED = Only(
    lambda own: own.judge == "tagger" and not own.dry_run,
    lambda own: "--dry-run" if own.judge == "tagger" else "--judge model",
)


class CalibrateOptions(LlmOptions):
    """What is calibrated by which pairs."""

    pairs: Annotated[Path, Option("File of labelled pairs that it was not trained on.")]
    judge: Annotated[
        Literal["tagger", "model"],
        Option("What is calibrated: the tagger, or a language model."),
    ] = "tagger"
    tagger: Annotated[
        Path | None,
        Option(
            "Folder of the tagger; calibration.json is written into it.",
            shown="with --dry-run the one that comes with contested",
            only=TAGGER,
        ),
    ] = None
    dry_run: Annotated[
        bool,
        Option(
            "Measure, and write no calibration; a language model is asked all the same.",
            name="--dry-run",
        ),
    ] = False
    method: Annotated[
        Literal["best", "temperature", "isotonic"],
        Option("What to keep of a tagger; `best` is what suits unseen pairs best.", only=FITTED),
    ] = "best"
    precision: Annotated[
        Precision, Option("Number format of the tagger's computation.", only=TAGGER)
    ] = "auto"
    report: Annotated[Path | None, Option("Folder for the tables.")] = None
    limit: Annotated[int | None, Field(ge=1), Option("Take N of the pairs, drawn at random.")] = (
        None
    )
    seed: Seed = 42


@flat
def calibrate(options: CalibrateOptions) -> None:
    """Make a judge's probabilities mean what they say, by pairs with known labels.

    Examples:
        contested calibrate --tagger tagger --pairs held-out.jsonl --report calibration

        contested calibrate --dry-run --pairs dev.jsonl

        contested calibrate --judge model --pairs held-out.jsonl

    A tagger gets `calibration.json` in its folder: a temperature or isotonic regression, and the
    points from which a cascade takes its threshold. For a language model that is asked by `choice`,
    a correction of its label probabilities is kept in `corrections/` in CONTESTED_HOME, and taken
    by every run with the same model and prompt. See docs/nli.md and docs/judges.md.
    """
    if options.judge == "tagger":
        names = tuple(LlmOptions.model_fields)
        refuse_given(options, names, "--judge tagger, which asks no language model")
        if not options.dry_run and options.tagger is None:
            raise InputError(
                "the tagger that comes with the program is calibrated; name the folder of another: "
                "--tagger FOLDER, or measure it: --dry-run"
            )
    rows = drawn(read_pairs(options.pairs), options.limit, options.seed)
    if options.judge == "model":
        _correct_model(options, rows)
    elif options.dry_run or options.tagger is None:
        _measure_tagger(options, rows)
    else:
        _calibrate_tagger(options, options.tagger, rows)


def _calibrate_tagger(
    options: CalibrateOptions, folder: Path, rows: Sequence[LabelledPair]
) -> None:
    """Cut the pairs in two by group or premise: one part is fitted on, the other measured with."""
    from nli import calibration as calibrations
    from nli.model import Encoder
    from nli.tagger import Tagger
    from pipelines.report.tagger import Predictions, calibration_table
    from pipelines.supervision import calibrating

    base = calibrations.Calibration()
    if (folder / CALIBRATION).exists():
        with suppress(TaggerError):  # damaged, or of other weights: it is about to be replaced
            base = calibrations.read(folder) or base
    tagger = Tagger(Encoder.load(folder, precision=options.precision), base)
    with progress("pairs", len(rows)) as bar:
        pairs = [row.pair for row in rows]
        readings = tagger.read(pairs, lambda share: bar.add(share * len(rows)))
    made = calibrating.calibrate(
        calibrating.Readings(tuple(rows), tuple(readings)),
        base,
        methods=calibrating.METHODS[1:] if options.method == "best" else (options.method,),
        data=options.pairs.name,
    )
    kept = made.calibration
    scored = {
        name: Predictions(made.check, each.tolist()) for name, each in made.probabilities.items()
    }
    table = calibration_table(list(scored.items()), options.pairs.name)
    calibrations.write(folder, kept)
    said = (
        f"kept: {kept.method}, temperature {kept.temperature:.3f}, windows joined by "
        f"{kept.aggregation}; fitted on {made.fitted:,} pairs, checked on {len(made.check):,}"
    )
    about = {
        "fitted": made.fitted,
        "checked": len(made.check),
        "precision": tagger.encoder.precision,
        "device": tagger.device,
        "calibration": kept.model_dump(mode="json", exclude={"risk"}),
    }
    _show(options, f"Calibration of {name_of(folder)}", [table], said, about)
    STDERR.print(f"calibration: {plain(str(folder / CALIBRATION))}", soft_wrap=True)


def _measure_tagger(options: CalibrateOptions, rows: Sequence[LabelledPair]) -> None:
    """Accuracy, macro-F1, confusion and calibration of a tagger, each source by itself."""
    from pipelines.report import tagger as report

    tagger = load(options.tagger, options.precision)
    probabilities, seconds = probabilities_of(tagger, rows, "pairs")
    scored = report.Predictions(rows, probabilities)
    model = (name_of(options.tagger), tagger.digest)
    tables = [
        report.scores_table(scored, model[0], options.pairs.name),
        report.labels_table(scored),
        report.confusion_table(scored),
    ]
    speed = (
        f"{len(rows):,} pairs in {seconds:.1f} s, {len(rows) / max(seconds, 1e-9):,.0f} a second, "
        f"in {tagger.encoder.precision} on {tagger.device}"
    )
    about = {
        "n": len(rows),
        "digest": tagger.digest,
        "precision": tagger.encoder.precision,
        "device": tagger.device,
        "seconds": round(seconds, 2),
    }
    title = f"{model[0]} on {options.pairs.name}"
    _show(options, title, tables, speed, about)


def _correct_model(options: CalibrateOptions, rows: Sequence[LabelledPair]) -> None:
    """Fit a correction on all pairs, measured by cross-validation, and store it."""
    from pipelines.judge.calibrating import cross_corrected, fitted
    from pipelines.report.tagger import Predictions, calibration_table

    asked, answers = asyncio.run(_ask(options, rows))
    model, prompt = asked.client.model, asked.prompt.digest
    known = [(row, shares) for row, shares in zip(rows, answers, strict=True) if shares]
    pairs, raw = [row for row, _ in known], [shares for _, shares in known]
    gold = [RELATION_OF[row.label] for row in pairs]
    groups = [row.group or row.hypothesis for row in pairs]
    made = cross_corrected(raw, gold, groups, seed=options.seed)
    before, after = (
        Predictions(pairs, [[shares[RELATION_OF[label]] for label in LABELS] for shares in every])
        for every in (raw, made)
    )
    assert before.log_likelihood and before.accuracy  # noqa: S101  there are pairs
    assert after.log_likelihood and after.accuracy  # noqa: S101
    if after.log_likelihood.value <= before.log_likelihood.value and not options.dry_run:
        raise InputError(
            "held-out pairs are no likelier corrected, so no correction is kept; --dry-run shows "
            "the figures, and more pairs may help"
        )
    correction = fitted(raw, gold).model_copy(
        update={
            "digest": hashlib.sha256(read_bytes(options.pairs)).hexdigest(),
            "judge": asked.identity,
        }
    )
    series = [("none", before), (correction.method, after)]
    table = calibration_table(series, options.pairs.name)
    said = (
        f"{len(known):,} of {len(rows):,} pairs could be judged; correction by "
        f"{correction.in_words()}"
    )
    about = {"prompt": prompt, "correction": correction.model_dump(mode="json")}
    title = f"Correction of {model.name}"
    if options.dry_run:
        _show(options, title, [table], said, about)
        return
    kept = StoredCorrection(
        correction=correction,
        held_out=tuple(
            HeldOut(method=name, log_likelihood=each.log_likelihood, accuracy=each.accuracy)
            for name, each in series
        ),
        name=model.name,
        model=model.digest,
        prompt=prompt,
        pairs=options.pairs.name,
    )
    file = correction_file(model.digest, prompt)
    replace_text(file, kept.model_dump_json(indent=2) + "\n")
    _show(options, title, [table], said, about)
    STDERR.print(f"correction: {plain(str(file))}", soft_wrap=True)


async def _ask(
    options: CalibrateOptions, rows: Sequence[LabelledPair]
) -> tuple[ModelJudge, list[Mapping[Relation, float] | None]]:
    """What a language model says of the pairs, uncorrected; None of one that does not fit."""
    needs = Needs(role="judge")
    refuse_missing(options, needs)
    with progress("pairs", len(rows)) as bar:
        async with models_for(options, needs, bar.status) as models:
            asked = model_judge(models.asked, "choice", overrides=models.prompts)
            judge = stored(asked, models.store)

            async def shares(row: LabelledPair) -> Mapping[Relation, float] | None:
                document = Document(id="premise", text=row.premise)
                try:
                    found = await judge([row.hypothesis], [document])
                except RequestError:
                    return None
                finally:
                    bar.advance(models.asked.usage)
                return found.judgements[0].probabilities

            return asked, await asyncio.gather(*map(shares, rows))


def _show(
    options: CalibrateOptions,
    title: str,
    tables: "Sequence[Table]",
    said: str,
    about: dict[str, Any],
) -> None:
    """Print tables, and what was said of them; with `--report` also write them."""
    for one in tables:
        show(one, Console())
    Console().print(plain(said), soft_wrap=True)
    if options.report is None:
        return
    from pipelines.report.table import write

    notes = (f"{title}. {said}.", *(f"{name}: {value}" for name, value in about.items()))
    for one in tables:
        write(replace(one, notes=(*one.notes, *notes)), options.report / "tables")
    STDERR.print(f"tables: {plain(str(options.report / 'tables'))}", soft_wrap=True)
