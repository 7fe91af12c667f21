"""`contested check-npov`: is a neutral response faithful to the arguments it was given?"""

from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.flat import flat
from pipelines.cli.heatmaps import HeatMapOptions, save
from pipelines.cli.inspection import inspect, printed
from pipelines.cli.progress import STDERR, progress
from pipelines.errors import InputError
from pipelines.experiment.options import ServedOptions
from pipelines.files import read_bytes
from pipelines.inspection.npov import ABLATION_NEEDS, Detector, by_ablation, by_salience
from pipelines.npov.decoder import DecoderOptions, decoder_folder
from pipelines.npov.example import NpovExample, example, read_example
from pipelines.npov.settings import SALIENCE_PANEL, SalienceSettings
from pipelines.option import Option, refuse_given
from pipelines.report.glance import ModelUsed
from pipelines.report.terminal import plain, plain_json
from salience.variants import Aggregation

if TYPE_CHECKING:
    pass

_example_option = partial(Option, panel="Example")

SAMPLE = Path(__file__).parents[1] / "npov" / "samples" / "uniforms.json"


class CheckOptions(HeatMapOptions, DecoderOptions, ServedOptions):
    """An example, how it is checked, and what shows it."""

    detector: Annotated[
        Detector,
        Option(
            "Gradients, as in the paper, in this process; or what the response loses where an "
            "argument is left out of its prompt, by a server. That finds far more errors: see "
            "docs/results.md."
        ),
    ] = "salience"

    question: Annotated[str | None, _example_option("The user's question.")] = None
    pro: Annotated[
        list[str] | None, _example_option("An argument for it; give it once for each.")
    ] = None
    con: Annotated[list[str] | None, _example_option("An argument against it; likewise.")] = None
    response: Annotated[str | None, _example_option("What was answered.")] = None
    soft_prompt: Annotated[
        Path | None,
        Option(
            "The soft prompt of the generator that wrote the response, from `contested tune-npov "
            "--task response`: gradients are those of the model with it.",
            panel=SALIENCE_PANEL,
        ),
    ] = None
    aggregation: Annotated[
        Aggregation, Option("How a word's row of the map becomes its score.", panel=SALIENCE_PANEL)
    ] = "max"
    salience: SalienceSettings = SalienceSettings()


@flat
def check_npov(
    options: CheckOptions,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="JSON with question, pro, con and response; instead of it, the options below.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Find arguments that a neutral response leaves out, and what it adds to them.

    By default both are read off a model's gradients, as in the paper, without a server: a word of
    an argument that no word of the response rests on was probably left out, a word of the response
    that rests on no argument was probably added. `--detector ablation` asks a server how much less
    likely the response is without each argument, which finds far more errors. Without an example a
    bundled one is checked.

    Examples:
        contested check-npov --html uniforms.html

        contested check-npov --detector ablation --html ablated.html

        contested check-npov example.json --html checked.html --png checked.png

        contested check-npov --html tokens.html --level tokens
    """
    chosen = _example(file, options)
    _refuse_unused(options)
    options.refuse_unwritable()
    if options.detector == "salience":
        _check_by_salience(chosen, options)
        return
    inspect(
        options,
        ABLATION_NEEDS,
        lambda models, tell: by_ablation(chosen, models, tell),
        as_json=options.as_json,
        html=options.html,
        png=options.png,
    )


def _refuse_unused(options: CheckOptions) -> None:
    """Refuse options that the detector has no use for, with an InputError."""
    named = f"--detector {options.detector}"
    if options.detector == "salience":
        refuse_given(options, ("endpoint", "strict", "cache", "concurrency"), named)
    else:
        of_gradients = ("soft_prompt", "aggregation", "precision", "device", "level")
        refuse_given(options, of_gradients, named)
        refuse_given(options.salience, tuple(SalienceSettings.model_fields), named)


def _check_by_salience(chosen: NpovExample, options: CheckOptions) -> None:
    from pipelines.npov.soft_prompt import SoftPrompt

    settings = options.salience.model_copy(update={"aggregation": options.aggregation})
    soft = SoftPrompt.load(options.soft_prompt) if options.soft_prompt else None
    folder = decoder_folder(options)
    known = folder.model
    if soft is not None:  # said before the model is loaded
        soft.check("response", model=known.digest)
    decoder = folder.load()
    with progress("gradients") as bar:
        checked, shown, view = by_salience(
            chosen,
            decoder,
            settings,
            by_tokens=options.level == "tokens",
            soft_prompt=soft,
            model=known.digest,
            on_progress=lambda done, total: bar.reached(done, total, "tokens"),
        )
    tuned = []
    if options.soft_prompt is not None:
        digest = sha256(read_bytes(options.soft_prompt)).hexdigest()
        tuned.append(ModelUsed("soft prompt", options.soft_prompt.name, digest))
    try:
        save(
            shown,
            view,
            options,
            question=chosen.question,
            settings={"salience": settings.model_dump(), "precision": decoder.precision},
            model=known,
            beside=tuned,
        )
    finally:  # what was found is shown though no file can be written
        if options.as_json:
            print(plain_json(checked.model_dump_json(indent=2)))
        else:
            printed(view(None))
    STDERR.print(
        f"[dim]gradients of {plain(known.name)}{' with a soft prompt' if tuned else ''}, "
        f"{decoder.precision} on {decoder.device}; --detector ablation finds more errors[/dim]",
        soft_wrap=True,
    )


def _example(file: Path | None, options: CheckOptions) -> NpovExample:
    given = options.model_dump(include={"question", "pro", "con", "response"})
    named = {name: value for name, value in given.items() if value is not None}
    if file is not None and named:
        raise InputError(f"--{next(iter(named))} has no effect beside {file}; leave one out")
    if not named:
        return read_example(file or SAMPLE)
    missing = [name for name in given if name not in named]
    if missing:
        raise InputError(f"--{missing[0]} is missing; an example has question, pro, con, response")
    return example(named, "the example")
