"""`contested salience`: which words of a prompt each word of a response rests on."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.cli.heatmaps import HeatMapOptions, save
from pipelines.cli.progress import STDERR, progress
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.inspection.salience import as_data
from pipelines.inspection.salience import salience as rests_on
from pipelines.npov.decoder import DecoderOptions, decoder_folder
from pipelines.npov.settings import GradientSettings
from pipelines.report.terminal import plain, plain_json

if TYPE_CHECKING:
    from salience.maps import WordMap

MOST = 3
"""Sources that are named for a word."""


class MapOptions(HeatMapOptions, DecoderOptions):
    """How gradients are taken, and what shows them."""

    gradients: GradientSettings = GradientSettings()


@flat
def salience(
    prompt: Annotated[
        str,
        typer.Option(
            help="What the model read; @FILE reads it from a text file, white space at its ends "
            "included."
        ),
    ],
    response: Annotated[str, typer.Option(help="What was answered; likewise.")],
    options: MapOptions,
) -> None:
    """Show which words of a prompt each word of a response rests on.

    The gradient of every response token's logit is taken with respect to every earlier token, times
    that token's embedding; squared, and divided by their sum, these are shares of its salience. The
    rest of a word's salience is on function words and on earlier words of the response. No server
    is needed.

    Examples:
        contested salience --prompt "The dam at Aldham was built in" --response " 1902."

        contested salience --prompt @guide.txt --response @answer.txt --html salience.html
    """
    prompt, response = _text("prompt", prompt), _text("response", response)
    options.refuse_unwritable()
    folder = decoder_folder(options)
    decoder, known = folder.load(), folder.model
    how = options.gradients.model_dump()
    with progress("gradients") as bar:
        found, shown, view = rests_on(
            prompt,
            response,
            decoder,
            options.gradients,
            by_tokens=options.level == "tokens",
            on_progress=lambda done, total: bar.reached(done, total, "tokens"),
        )

    settings = {"salience": {**how, "precision": decoder.precision}}
    try:
        save(shown, view, options, settings=settings, model=known)
    finally:  # what was found is shown though no file can be written
        if options.as_json:
            print(plain_json(json.dumps(as_data(found), indent=2, ensure_ascii=False)))
        else:
            show(found, Console(emoji=False))
    STDERR.print(
        f"[dim]gradients of {plain(known.name)}, {decoder.precision} on {decoder.device}[/dim]",
        soft_wrap=True,
    )


def show(found: "WordMap", console: Console) -> None:
    """Print the words of the response, each with what it rests on most."""
    data = as_data(found)
    if not data["prompt_words"] or not data["response_words"]:
        which = "response" if data["prompt_words"] else "prompt"
        console.print(f"[yellow]the {which} has no word but function words[/yellow]")
        return
    table = Table()
    table.add_column("word")
    table.add_column("rests on", ratio=1)
    for place, word in enumerate(data["response_words"]):
        shares = [row[place] for row in data["shares"]]
        best = sorted(range(len(shares)), key=lambda n: -shares[n])[:MOST]
        sources = ", ".join(
            f"{plain(data['prompt_words'][n]['text'])} {shares[n]:.1%}" for n in best if shares[n]
        )
        table.add_row(plain(word["text"]), sources or "–")
    console.print(table)


def _text(name: str, value: str) -> str:
    """The text of an option, or of the file that it names."""
    if value.startswith("@"):
        return read_text(Path(value[1:]), strip=False)
    if not value.strip():
        raise InputError(f"--{name} is empty; give it text")
    if value.encode("utf-8", "replace").decode() != value:
        raise InputError(f"--{name} is not UTF-8; set the terminal to UTF-8")
    return value
