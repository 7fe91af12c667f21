"""`contested nli train`."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from nli.pairs import LabelledPair, read_pairs
from pipelines.cli.progress import STDERR
from pipelines.cli.tagging import Seed, counted, drawn, load, probabilities_of, write_page
from pipelines.errors import InputError


def train(
    pairs: Annotated[
        list[Path], typer.Option(help="File of pairs to train on. Repeatable.", show_default=False)
    ],
    dev: Annotated[
        Path,
        typer.Option(help="File of pairs to watch training by; never trained on."),
    ],
    encoder: Annotated[
        Path,
        typer.Option(help="Folder of the encoder to start from, or of a tagger to go on with."),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the tagger; made, or continued.")],
    epochs: Annotated[float, typer.Option(min=0.001, help="Passes over the pairs.")] = 2.0,
    learning_rate: Annotated[float, typer.Option(min=1e-9, help="Its peak.")] = 1e-4,
    batch_tokens: Annotated[
        int, typer.Option(min=64, help="Most tokens of a batch, padding included.")
    ] = 2048,
    max_tokens: Annotated[
        int, typer.Option(min=16, help="Longest pair; of a longer one the longer text is cut.")
    ] = 320,
    repeat: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE=N",
            help="Take a source's pairs N times in every pass; 0.5 takes half of them. Repeatable.",
        ),
    ] = None,
    dropout: Annotated[
        float,
        typer.Option(min=0, max=0.9, help="Of hidden states; 0.1 where pairs are passed often."),
    ] = 0.0,
    teacher: Annotated[
        Path | None,
        typer.Option(help="Folder of a better tagger whose probabilities are learned as well."),
    ] = None,
    teacher_weight: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the teacher in what is learned.")
    ] = 0.5,
    seed: Seed = 42,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Train on N of the pairs, drawn at random, and watch by N."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what there is to train on; train nothing.")
    ] = False,
) -> None:
    """Train a tagger. Killed anywhere, the same command goes on from the last checkpoint.

    Example:
        contested nli train --pairs pairs.jsonl --dev dev.jsonl --encoder encoder --out tagger

    Leaves in the folder: weights as safetensors, tokenizer, config with the labels' order, the
    settings, and the validation curve as `curve.jsonl` and `report.html`.
    """
    from nli import training  # noqa: PLC0415  (numpy)

    rows = [pair for path in pairs for pair in read_pairs(path)]
    sources = {pair.source for pair in rows}
    watched = drawn(read_pairs(dev), limit, seed)
    rows = drawn(rows, limit, seed)
    settings = training.TrainingSettings(
        encoder=encoder,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_tokens=batch_tokens,
        max_tokens=max_tokens,
        repeats=_repeats(repeat or [], sources),
        dropout=dropout,
        teacher_weight=teacher_weight,
        seed=seed,
    )
    if not (encoder / "config.json").is_file():
        raise InputError(f"{encoder} is no model folder (it has no config.json); name an encoder's")
    if dry_run:
        _announce(rows, watched, settings.repeats, epochs)
        return
    known = None
    if teacher is not None:
        probabilities, _ = probabilities_of(load(teacher, "auto"), rows, "pairs, by the teacher")
        known = probabilities
    with counted("training pairs") as moved:
        points = training.train(
            settings,
            rows,
            watched,
            out,
            teacher=known,
            on_progress=lambda at: moved(
                at.pairs, at.total, "" if at.loss is None else f"loss {at.loss:.3f}"
            ),
            on_evaluation=lambda point: STDERR.print(
                f"after {point.pairs:,} pairs: accuracy {point.accuracy:.3f}, "
                f"loss {point.loss:.3f} on {escape(dev.name)}",
                soft_wrap=True,
            ),
        )
    from pipelines.report.tagger import training_section  # noqa: PLC0415

    described = {"command": "nli train", "settings": settings.model_dump(mode="json")}
    write_page(out, f"Training of {out.name}", training_section(points), described, None)
    STDERR.print(f"tagger: {escape(str(out))}   curve: {escape(str(out / 'report.html'))}")


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
    rows: Sequence[LabelledPair],
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
