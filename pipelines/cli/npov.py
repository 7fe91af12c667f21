"""`contested check-npov`: is a neutral response faithful to the arguments it was given?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines.cli import heatmaps, options, salience_options
from pipelines.cli.progress import STDERR
from pipelines.cli.tagging import counted
from pipelines.cli.terminal import plain
from pipelines.errors import InputError
from pipelines.npov.example import NpovExample, example, read_example

if TYPE_CHECKING:
    from pipelines.npov.check import Checked

EXAMPLE_PANEL = "Example"

SAMPLE = Path(__file__).parents[1] / "npov" / "samples" / "uniforms.json"


def check_npov(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="JSON with question, pro, con and response; instead of it, the options below.",
            show_default=False,
        ),
    ] = None,
    question: Annotated[
        str | None, typer.Option(help="The user's question.", rich_help_panel=EXAMPLE_PANEL)
    ] = None,
    pro: Annotated[
        list[str] | None,
        typer.Option(
            help="An argument for it; give it once for each.", rich_help_panel=EXAMPLE_PANEL
        ),
    ] = None,
    con: Annotated[
        list[str] | None,
        typer.Option(help="An argument against it; likewise.", rich_help_panel=EXAMPLE_PANEL),
    ] = None,
    response: Annotated[
        str | None, typer.Option(help="What was answered.", rich_help_panel=EXAMPLE_PANEL)
    ] = None,
    html: salience_options.Html = None,
    png: salience_options.Png = None,
    level: salience_options.LevelOf = "words",
    as_json: salience_options.AsJson = False,
    engine: salience_options.EngineOf = "batched",
    target: salience_options.TargetOf = "logit",
    measure: salience_options.MeasureOf = "input_x_gradient",
    aggregation: Annotated[
        Literal["max", "sum", "negative_entropy"],
        typer.Option(
            help="How a word's row of the map becomes its score.",
            rich_help_panel=salience_options.SALIENCE_PANEL,
        ),
    ] = "max",
    average: salience_options.AverageOf = "geometric",
    precision: salience_options.PrecisionOf = "auto",
    device: salience_options.DeviceOf = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
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
    from pipelines.npov.check import SalienceSettings, argument_map, check  # noqa: PLC0415  (numpy)
    from pipelines.npov.page import by_token, marked, section  # noqa: PLC0415  (likewise)

    chosen = _example(file, question, pro, con, response)
    heatmaps.refuse(html=html, png=png, level=level)
    settings = SalienceSettings(
        engine=engine, target=target, measure=measure, aggregation=aggregation, average=average
    )
    decoder, known = salience_options.decoder(
        profile=profile, model=model, models_dir=models_dir, precision=precision, device=device
    )
    with counted("gradients") as moved:
        found = argument_map(
            chosen,
            decoder,
            settings,
            lambda done, total: moved(done, total, "tokens"),
            every_token=level == "tokens",
        )
    checked = check(chosen, found, settings)
    shown = by_token(chosen, found) if level == "tokens" else found
    try:
        heatmaps.save(
            shown,
            lambda picture: section(checked, chosen, shown, settings, picture),
            html=html,
            png=png,
            title="Is the response faithful?",
            question=chosen.question,
            settings={"salience": settings.model_dump(), "precision": decoder.precision},
            model=known,
        )
    finally:  # what was found is shown though no file can be written
        if as_json:
            print(checked.model_dump_json(indent=2))
        else:
            show(checked, Console(emoji=False), marks=marked(settings))
    STDERR.print(
        f"[dim]gradients of {escape(known.name)}, {decoder.precision}[/dim]", soft_wrap=True
    )


def show(checked: "Checked", console: Console, *, marks: bool) -> None:
    """Print scores, and the arguments and sentences, those with too low a score marked."""
    from pipelines.npov.page import THRESHOLD  # noqa: PLC0415  (matplotlib)

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
        if part.error is None:
            share = "–"
        else:
            share = f"{1 - part.error:.2%}"
            if marks and part.error >= THRESHOLD:
                share += " [yellow]left out?[/yellow]" if part.side else " [yellow]added?[/yellow]"
        table.add_row(part.side or "response", share, plain(part.text))
    console.print(table)
    console.print(
        "[dim]score: what the words of an argument give to the response, or the words of a "
        "sentence take from the arguments[/dim]"
    )


def _example(
    file: Path | None,
    question: str | None,
    pro: list[str] | None,
    con: list[str] | None,
    response: str | None,
) -> NpovExample:
    given = {"question": question, "pro": pro, "con": con, "response": response}
    named = {name: value for name, value in given.items() if value is not None}
    if file is not None and named:
        raise InputError(f"--{next(iter(named))} has no effect beside {file}; leave one away")
    if not named:
        return read_example(file or SAMPLE)
    missing = [name for name in given if name not in named]
    if missing:
        raise InputError(f"--{missing[0]} is missing; an example has question, pro, con, response")
    return example(named, "the example")
