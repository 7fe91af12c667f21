"""`contested tune-npov`: a soft prompt that makes a model write responses, or find their errors."""

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import ValidationError
from rich.markup import escape

from pipelines.cli import options, salience_options
from pipelines.cli.progress import STDERR
from pipelines.cli.tagging import Seed, counted
from pipelines.errors import InputError

if TYPE_CHECKING:
    from pipelines.npov.likelihood import Pair
    from pipelines.npov.soft_prompt import TuningSettings

TUNING_PANEL = "Tuning"
WARMUP, EVALUATE_EVERY = 500, 250


def tune_npov(
    task: Annotated[
        Literal["response", "hallucination", "coverage"],
        typer.Option(
            help="What is learned: to write neutral responses, or to tell whether a response "
            "adds an argument (`hallucination`) or leaves one out (`coverage`).",
            show_default=False,
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            help="Topics with arguments for and against, as ProCon.org has them, or lines with "
            "topic, question, pro and con.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="File of the soft prompt (safetensors).", show_default=False)
    ],
    split: Annotated[
        Literal["train", "train+dev", "all"],
        typer.Option(
            help="Topics to learn from: the paper's `train`, watched by its development topics; "
            "`train+dev`, or `all` whatever their names, a fifth of them held back to watch by."
        ),
    ] = "train",
    paraphrases: Annotated[
        Path | None,
        typer.Option(help="Arguments in other words; as many examples use them as do not."),
    ] = None,
    per_topic: Annotated[
        int, typer.Option(min=1, help="Examples without error of each topic.")
    ] = 8,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Learn from N of the examples, drawn at random; watch by N."),
    ] = None,
    steps: Annotated[
        int, typer.Option(min=1, help="Most updates.", rich_help_panel=TUNING_PANEL)
    ] = 20_000,
    warmup: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Updates in which the learning rate rises.",
            show_default="500, or a tenth of fewer steps",
            rich_help_panel=TUNING_PANEL,
        ),
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, help="Examples of an update.", rich_help_panel=TUNING_PANEL)
    ] = 16,
    learning_rate: Annotated[
        float, typer.Option(min=1e-9, help="Its peak.", rich_help_panel=TUNING_PANEL)
    ] = 0.1,
    evaluate_every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Updates between two looks at the dev loss.",
            show_default="250, or a tenth of fewer steps",
            rich_help_panel=TUNING_PANEL,
        ),
    ] = None,
    patience: Annotated[
        int,
        typer.Option(
            min=1,
            help="Looks without a lower dev loss, after which it ends.",
            rich_help_panel=TUNING_PANEL,
        ),
    ] = 8,
    seed: Seed = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what there is to learn from; tune nothing.")
    ] = False,
    precision: salience_options.PrecisionOf = "auto",
    device: salience_options.DeviceOf = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
) -> None:
    """Tune a soft prompt. Killed anywhere, the same command goes on from the last look.

    A few vectors before the input are learned, on examples that are made from the topics; the model
    stays as it is. The prompt of the lowest dev loss is kept.

    Example:
        contested tune-npov --task coverage --data topics.jsonl --split all --out p.st --dry-run
    """
    from pipelines.data.procon import read  # noqa: PLC0415  (only here)
    from pipelines.npov import paraphrases as reworded  # noqa: PLC0415  (likewise)
    from pipelines.npov.synthesis import Reword, verbatim  # noqa: PLC0415  (likewise)
    from pipelines.npov.tuning import tune  # noqa: PLC0415  (numpy)
    from pipelines.npov.tuning_data import divided, pairs_of  # noqa: PLC0415  (likewise)
    from pipelines.npov.tuning_state import refuse_finished  # noqa: PLC0415  (likewise)

    settings = _settings(
        learning_rate=learning_rate,
        warmup=min(WARMUP, steps // 10) if warmup is None else warmup,
        steps=steps,
        batch=batch,
        evaluate_every=evaluate_every or min(EVALUATE_EVERY, max(1, steps // 10)),
        patience=patience,
        seed=seed,
    )
    rewords: list[Reword] = [verbatim]
    if paraphrases is not None:
        rewords.append(reworded.rewording(reworded.read(paraphrases)))
    learned, watched = (
        _drawn(pairs_of(topics, task, per_topic=per_topic, seed=seed, rewords=rewords), limit, seed)
        for topics in divided(read(data), split, seed)
    )
    if dry_run:
        _announce(learned, watched, settings)
        return
    refuse_finished(out)  # said before a model is loaded
    decoder, known = salience_options.decoder(
        profile=profile, model=model, models_dir=models_dir, precision=precision, device=device
    )
    with counted("updates") as moved:
        prompt = tune(
            decoder,
            learned,
            watched,
            out,
            task=task,
            model=known.digest,
            settings=settings,
            on_progress=lambda step, most, loss: moved(step, most, f"loss {loss:.3f}"),
            on_evaluation=lambda step, loss: STDERR.print(
                f"dev loss after {step:,} updates: {loss:.4f}", soft_wrap=True
            ),
        )
    print(
        f"dev loss {prompt.curve[0][1]:.4f} before, {prompt.loss:.4f} after {prompt.step:,} of "
        f"{prompt.curve[-1][0]:,} updates"
    )
    STDERR.print(
        f"soft prompt of {escape(known.name)}, {decoder.precision}: {escape(str(out))}",
        soft_wrap=True,
    )


def _settings(**given: Any) -> "TuningSettings":
    from pipelines.npov.soft_prompt import TuningSettings  # noqa: PLC0415  (numpy)

    try:
        return TuningSettings(**given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = f"--{str(first['loc'][0]).replace('_', '-')}: " if first["loc"] else ""
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{option}{message}; choose other numbers") from error


def _drawn(pairs: "list[Pair]", limit: int | None, seed: int) -> "list[Pair]":
    if limit is None or limit >= len(pairs):
        return pairs
    return Random(seed).sample(pairs, limit)  # noqa: S311  (a sample, not a secret)


def _announce(learned: "list[Pair]", watched: "list[Pair]", settings: "TuningSettings") -> None:
    words = sum(len((given + target).split()) for given, target in learned)
    wrong = sum(target == "NO}" for _, target in learned)
    print(
        f"{len(learned):,} examples to learn from ({wrong:,} with an error, about "
        f"{words // max(1, len(learned)):,} words each) and {len(watched):,} to watch by; at most "
        f"{settings.steps:,} updates of {settings.batch:,} examples, "
        f"{settings.steps * settings.batch / max(1, len(learned)):,.1f} passes"
    )
