"""`contested lab train`: a tagger, trained on pairs."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from nli.pairs import SourcedPair, read_pairs, read_unlabelled
from pipelines.cli.flat import flat
from pipelines.cli.progress import progress, say
from pipelines.data.released import sample
from pipelines.errors import InputError
from pipelines.option import Only, Option, Options, Seed, named

TRAINING, TEACHING, WATCHING = "How it learns", "A teacher", "How it is watched and kept"

TAUGHT = Only(lambda own: own.teacher is not None, "no --teacher")


class TrainOptions(Options):
    """What is trained, on what, and how."""

    pairs: Annotated[list[Path], Option("File of pairs to train on. Repeatable.")]
    dev: Annotated[Path, Option("File of pairs to watch training by; never trained on.")]
    base: Annotated[
        Path, Option("Folder of the encoder to start from, or of a tagger to train further.")
    ]
    out: Annotated[Path, Option("Folder of the tagger; made, or continued.")]
    adapter: Annotated[
        int | None,
        Field(ge=1),
        Option("Train low-rank adapters of this rank alone, which are joined with the base."),
    ] = None
    epochs: Annotated[float, Field(ge=0.001), Option("Passes over the pairs.")] = 2.0
    repeat: Annotated[
        list[str] | None,
        Option(
            "Take a source's pairs N times in every pass; 0.5 takes half of them. Repeatable.",
            metavar="SOURCE=N",
        ),
    ] = None
    limit: Annotated[
        int | None, Field(ge=1), Option("Train on N of the pairs, drawn at random, and watch by N.")
    ] = None
    dry_run: Annotated[bool, Option("Say what there is to train on; train nothing.")] = False
    learning_rate: Annotated[
        float | None,
        Field(ge=1e-9),
        Option("Its peak.", shown="1e-4; of adapters 4e-4", panel=TRAINING),
    ] = None
    batch_tokens: Annotated[
        int, Field(ge=64), Option("Most tokens of a batch, padding included.", panel=TRAINING)
    ] = 2048
    max_tokens: Annotated[
        int,
        Field(ge=16),
        Option("Longest pair; of a longer one the longer text is cut.", panel=TRAINING),
    ] = 320
    dropout: Annotated[
        float,
        Field(ge=0, le=0.9),
        Option("Of hidden states; 0.1 where pairs are passed often.", panel=TRAINING),
    ] = 0.0
    seed: Seed = 42
    teacher: Annotated[
        Path | None,
        Option(
            "Folder of a better tagger whose probabilities are learned as well.", panel=TEACHING
        ),
    ] = None
    teacher_weight: Annotated[
        float,
        Field(ge=0, le=1),
        Option(
            "Share of the teacher in what is learned of pairs with a label.",
            panel=TEACHING,
            only=TAUGHT,
        ),
    ] = 0.5
    unlabelled: Annotated[
        list[Path] | None,
        Option(
            "File of pairs that only the teacher says something of. Repeatable.",
            panel=TEACHING,
            only=TAUGHT,
        ),
    ] = None
    teachings: Annotated[
        Path | None,
        Option(
            "File to keep the teacher's probabilities in; several trainings may share it.",
            shown="teachings.jsonl in --out",
            panel=TEACHING,
            only=TAUGHT,
        ),
    ] = None
    evaluations: Annotated[
        int,
        Field(ge=1),
        Option("How often the pairs of --dev are scored on the way.", panel=WATCHING),
    ] = 10
    watched: Annotated[
        int | None,
        Field(ge=1),
        Option("Score N of the pairs of --dev, drawn at random.", panel=WATCHING),
    ] = None
    checkpoints: Annotated[
        int,
        Field(ge=1),
        Option("How often the training is kept, to be resumed there.", panel=WATCHING),
    ] = 20


@flat
def train(options: TrainOptions) -> None:
    """Train a tagger. Killed anywhere, the same command resumes at the last checkpoint.

    Example:
        contested lab train --pairs pairs.jsonl --dev dev.jsonl --base encoder --out tagger

    Leaves in the folder: weights as safetensors, tokenizer, config with the labels' order, the
    settings, and the validation curve as `curve.jsonl`. With --adapter these are the adapter's, and
    the tagger that it makes of its base is in the folder `tagger` inside.
    """
    from nli import adapter, passes, teacher, training
    from nli.tagger import Tagger

    rows: list[SourcedPair] = [pair for path in options.pairs for pair in read_pairs(path)]
    rows += [pair for path in options.unlabelled or () for pair in read_unlabelled(path)]
    most = min(filter(None, (options.limit, options.watched)), default=None)
    watched = sample(read_pairs(options.dev), most, options.seed)
    repeats = _repeats(options.repeat or (), rows)
    rows = sample(rows, options.limit, options.seed)
    settings = passes.TrainingSettings(
        repeats=repeats,
        **options.model_dump(include=set(passes.TrainingSettings.model_fields), exclude_none=True),
    )
    if not (options.base / "config.json").is_file():
        raise InputError(
            f"{options.base} is no model folder (it has no config.json); name an encoder's"
        )
    if options.dry_run:
        print(passes.told(settings, rows, watched))
        return
    out, known = options.out, None
    if options.teacher is not None:
        with progress("pairs, by the teacher") as bar:
            file = options.teachings or out / "teachings.jsonl"
            said = Tagger.load(options.teacher)
            known = teacher.taught(said, settings, rows, file, bar.reached)
    with progress("training pairs") as bar:
        training.train(
            settings,
            rows,
            watched,
            out,
            teacher=known,
            on_progress=lambda at: bar.reached(
                at.pairs, at.total, "" if at.loss is None else f"loss {at.loss:.3f}"
            ),
            on_evaluation=lambda point: say(
                f"after {point.pairs:,} pairs: accuracy {point.accuracy:.3f}, "
                f"loss {point.loss:.3f} on {options.dev.name}"
            ),
        )
    made = out
    if options.adapter is not None:
        made = out / "tagger"
        if not made.exists():
            adapter.merge(options.base, out, made)
    say(f"tagger: {made}   curve: {out / 'curve.jsonl'}")


def _repeats(given: Sequence[str], rows: Sequence[SourcedPair]) -> dict[str, float]:
    sources = sorted({pair.source for pair in rows}) if given else ()
    found = {}
    for source, number in named(given, "--repeat", sources, "SOURCE=N"):
        if not re.fullmatch(r"\d+(\.\d+)?", number):
            raise InputError(f"--repeat {source}={number}: write SOURCE=N with a number: wice=3")
        found[source] = float(number)
    return found
