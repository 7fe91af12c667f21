"""`contested check-npov`: is a neutral response faithful to the arguments it was given?"""

from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.cli.heatmaps import HeatMapOptions, save
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.terminal import plain, plain_json
from pipelines.data.jsonl import read_bytes
from pipelines.errors import InputError
from pipelines.npov.decoder import DecoderOptions, decoder_folder
from pipelines.npov.example import NpovExample, example, read_example
from pipelines.npov.settings import SALIENCE_PANEL, SalienceSettings
from pipelines.option import Option
from pipelines.report.glance import ModelUsed
from salience.variants import Aggregation

if TYPE_CHECKING:
    from pipelines.npov.check import ResponseErrors

_example_option = partial(Option, panel="Example")

SAMPLE = Path(__file__).parents[1] / "npov" / "samples" / "uniforms.json"


class CheckOptions(HeatMapOptions, DecoderOptions):
    """An example, how it is checked, and what shows it."""

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

    Both are read off the model's gradients: a word of an argument that no word of the response
    rests on was probably left out, a word of the response that rests on no argument was probably
    added. No server is needed; without an example a bundled one is checked.

    Examples:
        contested check-npov --html uniforms.html

        contested check-npov example.json --html checked.html --png checked.png

        contested check-npov --html tokens.html --level tokens
    """
    from pipelines.npov.check import argument_map, check
    from pipelines.npov.soft_prompt import SoftPrompt
    from pipelines.npov.view import by_token, marked, response_view

    chosen = _example(file, options)
    options.refuse_unwritable()
    settings = options.salience.model_copy(update={"aggregation": options.aggregation})
    soft = SoftPrompt.load(options.soft_prompt) if options.soft_prompt else None
    folder = decoder_folder(options)
    known = folder.model
    if soft is not None:  # said before the model is loaded
        soft.check("response", model=known.digest)
    decoder = folder.load()
    with progress("gradients") as bar:
        found = argument_map(
            chosen,
            decoder,
            settings,
            lambda done, total: bar.reached(done, total, "tokens"),
            every_token=options.level == "tokens",
            soft_prompt=soft,
            model=known.digest,
        )
    checked = check(chosen, found, settings)
    shown = by_token(chosen, found) if options.level == "tokens" else found
    tuned = []
    if options.soft_prompt is not None:
        digest = sha256(read_bytes(options.soft_prompt)).hexdigest()
        tuned.append(ModelUsed("soft prompt", options.soft_prompt.name, digest))
    try:
        save(
            shown,
            lambda drawn: response_view(checked, chosen, shown, settings, drawn),
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
            show(checked, Console(emoji=False), marks=marked(settings))
    STDERR.print(
        f"[dim]gradients of {escape(known.name)}{' with a soft prompt' if tuned else ''}, "
        f"{decoder.precision} on {decoder.device}[/dim]",
        soft_wrap=True,
    )


def show(checked: "ResponseErrors", console: Console, *, marks: bool) -> None:
    """Print scores, and the arguments and sentences, those with too low a score marked."""
    from pipelines.npov.view import THRESHOLD

    console.print(f"[italic]{plain(checked.question)}[/italic]")
    console.print(
        f"coverage error {checked.coverage_error:.3f}   hallucination error "
        f"{checked.hallucination_error:.3f}\n"
    )
    table = Table(show_lines=True)
    table.add_column("")
    table.add_column("score", justify="right")
    table.add_column("", ratio=1)
    for part in (*checked.arguments, *checked.sentences):
        share = "–" if part.error is None else f"{1 - part.error:.2%}"
        if marks and part.error is not None and part.error >= THRESHOLD:
            share += " [yellow]left out?[/yellow]" if part.side else " [yellow]added?[/yellow]"
        table.add_row(part.side or "response", share, plain(part.text))
    console.print(table)
    console.print(
        "[dim]score: what the words of an argument give to the response, or the words of a "
        "sentence take from the arguments[/dim]"
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
