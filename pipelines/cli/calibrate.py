"""`contested lab calibrate`: calibrates a tagger or a language model on labelled pairs."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from rich.console import Console

from nli.folder import CALIBRATION
from nli.labels import LABELS, Label
from nli.pairs import LabelledPair, read_pairs
from pipelines.cli.flat import flat
from pipelines.data.released import sample
from pipelines.errors import InputError
from pipelines.experiment.options import LlmOptions
from pipelines.judge.tagger import RELATION_OF, SHIPPED
from pipelines.metrics.calibration import brier, ece
from pipelines.metrics.estimate import Estimate, mean
from pipelines.metrics.rates import accuracy, macro_f1
from pipelines.option import Only, Option, Seed, refuse_given
from pipelines.report.progress import progress, say, show
from pipelines.report.table import Column, Measure, Table, write
from pipelines.report.terminal import plain

if TYPE_CHECKING:
    from pipelines.judge.judgement import Relation
    from pipelines.judge.model import ModelJudge

TAGGER = Only(lambda options: options.judge == "tagger", "--judge model")
FITTED = Only(
    lambda options: options.judge == "tagger" and not options.dry_run,
    lambda options: "--dry-run" if options.judge == "tagger" else "--judge model",
)


class CalibrateOptions(LlmOptions):
    """What is calibrated, and on which pairs."""

    pairs: Annotated[Path, Option("File of labelled pairs that the judge was not trained on.")]
    judge: Annotated[
        Literal["tagger", "model"],
        Option("Judge to calibrate: the tagger, or a language model."),
    ] = "tagger"
    tagger: Annotated[
        Path | None,
        Option(
            "Folder of the tagger; calibration.json is written into it.",
            shown="with --dry-run, the bundled one",
            only=TAGGER,
        ),
    ] = None
    dry_run: Annotated[
        bool,
        Option(
            "Only measure, write nothing. A language model is still asked.",
            name="--dry-run",
        ),
    ] = False
    method: Annotated[
        Literal["best", "temperature", "isotonic"],
        Option(
            "How to calibrate a tagger; `best` picks the better one on unseen pairs.", only=FITTED
        ),
    ] = "best"
    report: Annotated[Path | None, Option("Folder for the tables.")] = None
    limit: Annotated[int | None, Field(ge=1), Option("Use N random pairs.")] = None
    seed: Seed = 42


@flat
def calibrate(options: CalibrateOptions) -> None:
    """Make a judge's probabilities mean what they say, from pairs with known labels.

    Examples:
        contested lab calibrate --tagger tagger --pairs held-out.jsonl --report calibration

        contested lab calibrate --dry-run --pairs dev.jsonl

        contested lab calibrate --judge model --pairs held-out.jsonl

    A tagger gets `calibration.json` in its folder: a temperature or isotonic regression, and the
    points that set the threshold of a cascade. A language model asked by `choice` gets a correction
    of its label probabilities in `corrections/` in CONTESTED_HOME, for all runs with the same model
    and prompt. See docs/nli.md and docs/judges.md.
    """
    if options.judge == "tagger":
        names = tuple(LlmOptions.model_fields)
        refuse_given(options, names, "--judge tagger, which asks no language model")
        if not options.dry_run and options.tagger is None:
            raise InputError(
                "the bundled tagger is already calibrated; name another with --tagger FOLDER, or "
                "measure this one with --dry-run"
            )
    rows = sample(read_pairs(options.pairs), options.limit, options.seed)
    if options.judge == "model":
        _correct_model(options, rows)
    elif options.dry_run or options.tagger is None:
        _measure_tagger(options, rows)
    else:
        _calibrate_tagger(options, options.tagger, rows)


def _calibrate_tagger(
    options: CalibrateOptions, folder: Path, rows: Sequence[LabelledPair]
) -> None:
    from pipelines.supervision import calibrating

    with progress("pairs", len(rows)) as bar:
        made = calibrating.calibrate_folder(
            folder,
            rows,
            methods=calibrating.METHODS[1:] if options.method == "best" else (options.method,),
            data=options.pairs.name,
            on_progress=lambda share: bar.add(share * len(rows)),
        )
    kept = made.calibration
    series = [
        (name, Predictions(made.check, shares.tolist()))
        for name, shares in made.probabilities.items()
    ]
    summary = (
        f"kept: {kept.method}, temperature {kept.temperature:.3f}, windows joined by "
        f"{kept.aggregation}; fitted on {made.fitted:,} pairs, checked on {len(made.check):,}"
    )
    about = f"Calibration of {folder.resolve().name}"
    _show(options, calibration_table(series, options.pairs.name), summary, about)
    say(f"calibration: {folder / CALIBRATION}")


def _measure_tagger(options: CalibrateOptions, rows: Sequence[LabelledPair]) -> None:
    """Show accuracy, macro-F1 and calibration of a tagger, also by source."""
    from nli.tagger import Tagger, shipped

    tagger = Tagger.load(options.tagger or shipped())
    name = SHIPPED if options.tagger is None else options.tagger.resolve().name
    with progress("pairs", len(rows)) as bar:
        start = time.perf_counter()
        tags = tagger.tag([row.pair for row in rows], bar.add)
        seconds = time.perf_counter() - start
    scored = Predictions(rows, [tag.probabilities for tag in tags])
    table = scores_table(scored, name, options.pairs.name)
    summary = (
        f"{len(rows):,} pairs in {seconds:.1f} s, {len(rows) / max(seconds, 1e-9):,.0f} a second, "
        f"in {tagger.encoder.precision} on {tagger.device}"
    )
    _show(options, table, summary, f"{name} on {options.pairs.name}, digest {tagger.digest}")


def _correct_model(options: CalibrateOptions, rows: Sequence[LabelledPair]) -> None:
    """Fit a correction on all pairs, measured by cross-validation, and store it."""
    from pipelines.files import file_digest, replace_text
    from pipelines.judge import correction as corrections

    judge, answers = asyncio.run(_ask(options, rows))
    model, prompt = judge.client.model, judge.prompt.digest
    known = [(row, shares) for row, shares in zip(rows, answers, strict=True) if shares]
    pairs, raw = [row for row, _ in known], [shares for _, shares in known]
    gold = [RELATION_OF[row.label] for row in pairs]
    groups = [row.group or row.hypothesis for row in pairs]
    made = corrections.cross_corrected(raw, gold, groups, seed=options.seed)
    correction = corrections.fitted(raw, gold).model_copy(
        update={
            "digest": file_digest(options.pairs),
            "judge": judge.identity,
        }
    )
    series = [
        (name, Predictions(pairs, [[row[RELATION_OF[label]] for label in LABELS] for row in some]))
        for name, some in (("none", raw), (correction.method, made))
    ]
    held_out = tuple(
        corrections.HeldOut(
            method=name, log_likelihood=predictions.log_likelihood, accuracy=predictions.accuracy
        )
        for name, predictions in series
        if predictions.log_likelihood and predictions.accuracy
    )
    before, after = (row.log_likelihood.value for row in held_out)
    if after <= before and not options.dry_run:
        raise InputError(
            "the correction does not raise the likelihood of held-out pairs, so it is not kept; "
            "--dry-run shows the figures, and more pairs may help"
        )
    file = corrections.correction_file(model.digest, prompt)
    if not options.dry_run:
        kept = corrections.StoredCorrection(
            correction=correction,
            held_out=held_out,
            name=model.name,
            model=model.digest,
            prompt=prompt,
            pairs=options.pairs.name,
        )
        replace_text(file, kept.model_dump_json(indent=2) + "\n")
    summary = (
        f"{len(known):,} of {len(rows):,} pairs could be judged; correction by "
        f"{correction.in_words()}"
    )
    about = f"Correction of {model.name}, prompt {prompt}"
    _show(options, calibration_table(series, options.pairs.name), summary, about)
    if not options.dry_run:
        say(f"correction: {file}")


async def _ask(
    options: CalibrateOptions, rows: Sequence[LabelledPair]
) -> "tuple[ModelJudge, list[Mapping[Relation, float] | None]]":
    """A language model's uncorrected probabilities; None where it failed or is unreadable."""
    from pipelines.experiment.execute import models_for
    from pipelines.experiment.needs import Needs, refuse_missing
    from pipelines.judge.correction import shares_of
    from pipelines.judge.model import model_judge
    from pipelines.judge.store import stored

    needs = Needs(role="judge")
    refuse_missing(options, needs)
    with progress("pairs", len(rows)) as bar:
        async with models_for(options, needs, bar.status) as models:
            judge = model_judge(models.asked, "choice", overrides=models.prompts)
            raw = stored(judge, models.store)
            return judge, await shares_of(raw, rows, lambda: bar.advance(models.asked.usage))


def _show(options: CalibrateOptions, table: Table, said: str, about: str) -> None:
    """Print the table and a summary; with `--report`, also write the table."""
    show(table)
    Console(emoji=False).print(plain(said), soft_wrap=True)
    if options.report is not None:
        folder = options.report / "tables"
        write(replace(table, notes=(*table.notes, f"{about}. {said}.")), folder)
        say(f"tables: {folder}")


BINS = 15
"""Bins of the ECE, as in Guo et al. 2017."""

ALL = "all"
"""Name of the row over all sources."""


@dataclass(frozen=True)
class Predictions:
    """Labelled pairs with a tagger's probabilities.

    Attributes:
        pairs: With their true labels.
        probabilities: (n, 3) in the order of `LABELS`; each row sums to 1.
    """

    pairs: Sequence[LabelledPair]
    probabilities: Sequence[Sequence[float]]

    @property
    def gold(self) -> list[Label]:
        """The true labels."""
        return [pair.label for pair in self.pairs]

    @property
    def given(self) -> list[Label]:
        """The most probable labels; in a tie, the first in the order of `LABELS`."""
        return [LABELS[max(range(3), key=row.__getitem__)] for row in self.probabilities]

    @property
    def confidences(self) -> list[float]:
        """The probability of each given label."""
        return [max(row) for row in self.probabilities]

    @property
    def correct(self) -> list[bool]:
        """Whether each given label is the true one."""
        return [one == other for one, other in zip(self.gold, self.given, strict=True)]

    @property
    def accuracy(self) -> Estimate | None:
        """Share of right labels."""
        return accuracy(self.gold, self.given)

    @property
    def log_likelihood(self) -> Estimate | None:
        """Mean log-probability of the true label, in nats, clustered by premise."""
        rows = zip(self.probabilities, self.gold, strict=True)
        values = [log(max(row[LABELS.index(label)], 1e-12)) for row, label in rows]
        return mean(values, [pair.premise for pair in self.pairs])

    @property
    def ece(self) -> float | None:
        """Expected calibration error."""
        return ece(self.confidences, self.correct, bins=BINS)

    @property
    def brier(self) -> Estimate | None:
        """Brier score over the three labels, clustered by premise."""
        gold = [LABELS.index(label) for label in self.gold]
        return brier(self.probabilities, gold, [pair.premise for pair in self.pairs])

    def by_source(self) -> dict[str, "Predictions"]:
        """Source -> its pairs, in order of name."""
        rows = list(zip(self.pairs, self.probabilities, strict=True))
        return {
            source: Predictions(
                [pair for pair in self.pairs if pair.source == source],
                [row for pair, row in rows if pair.source == source],
            )
            for source in sorted({pair.source for pair in self.pairs})
        }


Named = tuple[str, Predictions]

PAIRS = Column[Named]("pairs", "Pairs", lambda row: len(row[1].pairs))
ACCURACY = Measure[Named]("accuracy", "Accuracy", lambda row: row[1].accuracy)
MACRO_F1 = Measure[Named](
    "macro_f1", "Macro-F1", lambda row: macro_f1(row[1].gold, row[1].given, LABELS)
)
ECE = Column[Named]("ece", "ECE", lambda row: row[1].ece)
BRIER = Measure[Named]("brier", "Brier", lambda row: row[1].brier)


def _name(key: str, title: str) -> Column[Named]:
    return Column(key, title, lambda row: row[0])


def scores_table(predictions: Predictions, model: str, data: str) -> Table:
    """A row per source, and one over all of them."""
    groups = predictions.by_source()
    return Table.of(
        [(ALL, predictions), *(groups.items() if len(groups) > 1 else ())],
        name="tagger",
        title="Tagger by source",
        columns=[
            _name("source", "Source"),
            PAIRS,
            ACCURACY,
            MACRO_F1,
            ECE,
            BRIER,
        ],
        caption=f"{model} on {data}.",
        notes=(
            "Intervals (95 %): Wilson for accuracy, bootstrap over pairs for macro-F1, clustered "
            "by premise for Brier. Pairs with the same premise are not independent, so the first "
            "two are a little too narrow.",
            "Macro-F1 is the mean over the labels that occur in the source; ECE has "
            f"{BINS} bins; Brier is the sum over the three labels, from 0 to 2 (lower is better).",
        ),
    )


def calibration_table(series: Sequence[Named], data: str) -> Table:
    """ECE, Brier, log-likelihood and accuracy of the same pairs under several calibrations."""
    return Table.of(
        series,
        name="calibration",
        title="Calibration on pairs that it was not fitted on",
        columns=[
            _name("calibration", "Calibration"),
            PAIRS,
            ECE,
            BRIER,
            Measure("log_likelihood", "Log-likelihood", lambda row: row[1].log_likelihood),
            ACCURACY,
        ],
        caption=f"Pairs of {data}; each is measured only with what was fitted on other pairs.",
    )
