"""Commands that look at one example: the models it needs, and what is printed and written of it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

from rich.console import Console

from pipelines.cli.progress import STDERR, say, waiting
from pipelines.experiment.execute import models_for
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs, refuse_unneeded
from pipelines.experiment.options import ModelOptions, judged_by
from pipelines.files import check_writable, replace_bytes
from pipelines.inspection.found import Inspection, ResultT, Tell
from pipelines.option import Option, Options
from pipelines.report.explorer import ExperimentView, write
from pipelines.report.terminal import plain, plain_json
from pipelines.report.terminal import show as blocks_on
from pipelines.runs.provenance import provenance


class PageOptions(Options):
    """How a result is printed, and the page that shows it."""

    as_json: Annotated[bool, Option("Print the result as JSON.", name="--json")] = False
    html: Annotated[Path | None, Option("Write a page that opens without a network.")] = None


def inspect(
    options: ModelOptions,
    needs: Needs,
    work: Callable[[Models, Tell], Awaitable[Inspection[ResultT]]],
    *,
    as_json: bool,
    html: Path | None = None,
    png: Path | None = None,
    show: Callable[[ResultT, Console], None] | None = None,
) -> ResultT:
    """Do the work with the models that it needs; print what it found, write its page and picture.

    It is printed as JSON, by `show`, or for people as the page has it. Options without effect, and
    files that cannot be written, are refused before.
    """
    refuse_unneeded(options, needs)
    for path in (html, png):
        if path is not None:
            check_writable(path)

    async def opened() -> Inspection[ResultT]:
        with waiting() as tell:
            async with models_for(options, needs, tell) as models:
                say(judged_by(options))
                return await work(models, tell)

    found = asyncio.run(opened())
    try:
        if png is not None and found.picture is not None:
            replace_bytes(png, found.picture())
        if html is not None and found.view is not None:
            write(html, found.title, [found.view()], {**found.about, **provenance()})
    finally:  # what was found is shown though no file can be written
        if as_json:
            print(plain_json(found.result.model_dump_json(indent=2)))
        elif show is not None:
            show(found.result, Console(emoji=False))
        elif found.view is not None:
            printed(found.view())
    if found.cost:
        STDERR.print(f"[dim]{plain(found.cost)}[/dim]", soft_wrap=True)
    if html is not None:
        STDERR.print(f"page: {plain(str(html))}", soft_wrap=True)
    return found.result


def printed(view: ExperimentView) -> None:
    """Print the one example of a view."""
    (example,) = view.examples
    console = Console(emoji=False)
    console.print(f"[italic]{plain(example.title)}[/italic]")
    blocks_on(console, example.blocks())
