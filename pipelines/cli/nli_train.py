"""`contested nli train`."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from nli.pairs import LabelledPair, SourcedPair, read_pairs, read_unlabelled
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.tagging import Seed, drawn, load
from pipelines.errors import InputError
from pipelines.option import Option, Options
from pipelines.report.terminal import plain

if TYPE_CHECKING:
    from nli.passes import TrainingSettings

UNASKED = (1 / 3, 1 / 3, 1 / 3)
"""Stands for what a teacher would say of a pair that is never passed."""


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
        Option("Train low-rank adapters of this rank alone; `merge` joins them with the base."),
    ] = None
    epochs: Annotated[float, Field(ge=0.001), Option("Passes over the pairs.")] = 2.0
    learning_rate: Annotated[
        float | None, Field(ge=1e-9), Option("Its peak.", shown="1e-4; of adapters 4e-4")
    ] = None
    batch_tokens: Annotated[
        int, Field(ge=64), Option("Most tokens of a batch, padding included.")
    ] = 2048
    max_tokens: Annotated[
        int, Field(ge=16), Option("Longest pair; of a longer one the longer text is cut.")
    ] = 320
    repeat: Annotated[
        list[str] | None,
        Option(
            "Take a source's pairs N times in every pass; 0.5 takes half of them. Repeatable.",
            metavar="SOURCE=N",
        ),
    ] = None
    dropout: Annotated[
        float, Field(ge=0, le=0.9), Option("Of hidden states; 0.1 where pairs are passed often.")
    ] = 0.0
    teacher: Annotated[
        Path | None, Option("Folder of a better tagger whose probabilities are learned as well.")
    ] = None
    teacher_weight: Annotated[
        float,
        Field(ge=0, le=1),
        Option("Share of the teacher in what is learned of pairs with a label."),
    ] = 0.5
    unlabelled: Annotated[
        list[Path] | None,
        Option("File of pairs that only the teacher says something of. Repeatable."),
    ] = None
    teachings: Annotated[
        Path | None,
        Option(
            "File to keep the teacher's probabilities in; several trainings may share it.",
            shown="teachings.jsonl in --out",
        ),
    ] = None
    evaluations: Annotated[
        int, Field(ge=1), Option("How often the pairs of --dev are scored on the way.")
    ] = 10
    watched: Annotated[
        int | None, Field(ge=1), Option("Score N of the pairs of --dev, drawn at random.")
    ] = None
    checkpoints: Annotated[
        int, Field(ge=1), Option("How often the training is kept, to be resumed there.")
    ] = 20
    seed: Seed = 42
    limit: Annotated[
        int | None, Field(ge=1), Option("Train on N of the pairs, drawn at random, and watch by N.")
    ] = None
    dry_run: Annotated[bool, Option("Say what there is to train on; train nothing.")] = False


@flat
def train(options: TrainOptions) -> None:
    """Train a tagger. Killed anywhere, the same command resumes at the last checkpoint.

    Example:
        contested nli train --pairs pairs.jsonl --dev dev.jsonl --base encoder --out tagger

    Leaves in the folder: weights as safetensors, tokenizer, config with the labels' order, the
    settings, and the validation curve as `curve.jsonl`.
    """
    from nli import training
    from nli.passes import TrainingSettings

    rows: list[SourcedPair] = [pair for path in options.pairs for pair in read_pairs(path)]
    rows += [pair for path in options.unlabelled or () for pair in read_unlabelled(path)]
    if options.unlabelled and options.teacher is None:
        raise InputError("--unlabelled needs --teacher, which says what to learn of such pairs")
    sources = {pair.source for pair in rows}
    caps = [cap for cap in (options.limit, options.watched) if cap is not None]
    watched = drawn(read_pairs(options.dev), min(caps, default=None), options.seed)
    rows = drawn(rows, options.limit, options.seed)
    settings = TrainingSettings(
        repeats=_repeats(options.repeat or [], sources),
        **options.model_dump(include=set(TrainingSettings.model_fields), exclude_none=True),
    )
    if not (options.base / "config.json").is_file():
        raise InputError(
            f"{options.base} is no model folder (it has no config.json); name an encoder's"
        )
    if options.dry_run:
        _announce(rows, watched, settings.repeats, options.epochs)
        return
    known = None if options.teacher is None else _taught(options, settings, rows)
    with progress("training pairs") as bar:
        training.train(
            settings,
            rows,
            watched,
            options.out,
            teacher=known,
            on_progress=lambda at: bar.reached(
                at.pairs, at.total, "" if at.loss is None else f"loss {at.loss:.3f}"
            ),
            on_evaluation=lambda point: STDERR.print(
                f"after {point.pairs:,} pairs: accuracy {point.accuracy:.3f}, "
                f"loss {point.loss:.3f} on {plain(options.dev.name)}",
                soft_wrap=True,
            ),
        )
    out = options.out
    made = "tagger" if options.adapter is None else "adapter"
    STDERR.print(f"{made}: {plain(str(out))}   curve: {plain(str(out / 'curve.jsonl'))}")


def _taught(
    options: TrainOptions, settings: "TrainingSettings", rows: Sequence[SourcedPair]
) -> list[tuple[float, float, float]]:
    """What the teacher says of each pair; of those that no pass takes it is not asked."""
    from nli.passes import passed
    from nli.teacher import teachings

    asked = passed(settings, [pair.source for pair in rows])
    file = options.teachings or options.out / "teachings.jsonl"
    with progress("pairs, by the teacher", len(asked)) as bar:
        teacher = load(options.teacher, "auto")
        said = teachings(teacher, [rows[place].pair for place in asked], file, bar.add)
    known = dict(zip(asked, said, strict=True))
    return [known.get(place, UNASKED) for place in range(len(rows))]


def _repeats(given: Sequence[str], sources: set[str]) -> dict[str, float]:
    found = {}
    for text in given:
        source, _, number = text.rpartition("=")
        if not re.fullmatch(r"\d+(\.\d+)?", number) or not source:
            raise InputError(f"--repeat {text}: write SOURCE=N with a number: wice=3")
        if source not in sources:
            raise InputError(
                f"--repeat {text}: no pair has that source; there are {', '.join(sorted(sources))}"
            )
        found[source] = float(number)
    return found


def _announce(
    rows: Sequence[SourcedPair],
    watched: Sequence[LabelledPair],
    repeats: dict[str, float],
    epochs: float,
) -> None:
    passed = sum(repeats.get(pair.source, 1) for pair in rows)
    words = sum(
        len((pair.premise + " " + pair.hypothesis).split()) * repeats.get(pair.source, 1)
        for pair in rows
    )
    print(
        f"{len(rows):,} pairs from {len({pair.source for pair in rows})} sources, "
        f"{passed:,.0f} a pass, {epochs:g} passes: {round(passed * epochs):,} pairs, "
        f"{round(words * epochs):,} words. Watched by {len(watched):,} pairs."
    )
