"""`contested lab train`: trains a tagger on pairs."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from nli.pairs import LabelledPair, read_pairs
from nli.passes import TrainingSettings, told
from pipelines.cli.flat import flat
from pipelines.data.released import sample
from pipelines.errors import InputError
from pipelines.option import Option, Options, named
from pipelines.report.progress import progress, say


class TrainOptions(Options):
    """Pairs and settings for training."""

    pairs: Annotated[list[Path], Option("File of pairs to train on. Repeatable.")]
    dev: Annotated[Path, Option("File of pairs to validate on; never trained on.")]
    out: Annotated[Path, Option("Folder of the tagger; created, or resumed.")]
    settings: TrainingSettings
    repeat: Annotated[
        list[str] | None,
        Option(
            "Repeat a source's pairs N times per pass; 0.5 takes half. Repeatable.",
            metavar="SOURCE=N",
        ),
    ] = None
    watched: Annotated[int | None, Field(ge=1), Option("Validate on N random pairs of --dev.")] = (
        None
    )
    limit: Annotated[
        int | None, Field(ge=1), Option("Train on N random pairs, and validate on at most N.")
    ] = None
    dry_run: Annotated[bool, Option("Only count the training data.")] = False


@flat
def train(options: TrainOptions) -> None:
    """Train a tagger. If it is killed, the same command resumes at the last checkpoint.

    Example:
        contested lab train --pairs pairs.jsonl --dev dev.jsonl --base encoder --out tagger

    Writes weights (safetensors), tokenizer, config with the order of labels, settings, and the
    validation curve in `curve.jsonl`. With --adapter these are the adapter's, and the merged tagger
    is in the subfolder `tagger`.
    """
    from nli import adapter, training

    base, seed = options.settings.base, options.settings.seed
    rows = [pair for path in options.pairs for pair in read_pairs(path)]
    most = min(filter(None, (options.limit, options.watched)), default=None)
    watched = sample(read_pairs(options.dev), most, seed)
    repeats = _repeats(options.repeat or (), rows)
    settings = options.settings.model_copy(update={"repeats": repeats})
    rows = sample(rows, options.limit, seed)
    if not (base / "config.json").is_file():
        raise InputError(f"{base} is not a model folder (no config.json); name an encoder's")
    if options.dry_run:
        print(told(settings, rows, watched))
        return
    out = options.out
    with progress("training pairs") as bar:
        training.train(
            settings,
            rows,
            watched,
            out,
            on_progress=lambda at: bar.reached(
                at.pairs, at.total, "" if at.loss is None else f"loss {at.loss:.3f}"
            ),
            on_evaluation=lambda point: say(
                f"after {point.pairs:,} pairs: accuracy {point.accuracy:.3f}, "
                f"loss {point.loss:.3f} on {options.dev.name}"
            ),
        )
    tagger = out
    if settings.adapter is not None:
        tagger = out / "tagger"
        if not tagger.exists():
            adapter.merge(base, out, tagger)
    say(f"tagger: {tagger}   curve: {out / 'curve.jsonl'}")


def _repeats(given: Sequence[str], rows: Sequence[LabelledPair]) -> dict[str, float]:
    sources = sorted({pair.source for pair in rows}) if given else ()
    repeats = {}
    for source, number in named(given, "--repeat", sources, "SOURCE=N"):
        if not re.fullmatch(r"\d+(\.\d+)?", number):
            raise InputError(f"--repeat {source}={number}: write SOURCE=N with a number: wice=3")
        repeats[source] = float(number)
    return repeats
