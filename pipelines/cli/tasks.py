"""The commands that inspect one example, made from task declarations, and their output."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.experiment.options import judged_by
from pipelines.inspection.task import AskedT, Inspection, OptionsT, Task
from pipelines.option import Option, Options


class PageOptions(Options):
    """How a result is printed, and the page that shows it."""

    as_json: Annotated[bool, Option("Print the result as JSON.", name="--json")] = False
    html: Annotated[Path | None, Option("Write an HTML page that opens offline.")] = None


class MapPageOptions(PageOptions):
    """As `PageOptions`, and a picture of the heat map."""

    png: Annotated[Path | None, Option("Write the heat map as a picture.")] = None


def command_of(task: Task[Any, Any, Any]) -> Callable[..., None]:
    """The command of a task, for typer."""

    def command(asked: Any, options: Any, page: PageOptions) -> None:
        inspect(task, asked, options, page)

    command.__doc__ = task.help
    page = MapPageOptions if task.maps else PageOptions
    command.__annotations__.update(asked=task.asked, options=task.options, page=page)
    return flat(command)


def inspect(
    task: Task[AskedT, OptionsT, Any], asked: AskedT, options: OptionsT, page: PageOptions
) -> None:
    """Run a task; print its result, write its page and picture.

    Files that cannot be written, and options without effect, are refused first.
    """
    import asyncio

    from rich.console import Console

    from pipelines.experiment.execute import models_for
    from pipelines.experiment.needs import refuse_unneeded
    from pipelines.files import check_writable
    from pipelines.report.progress import say, waiting
    from pipelines.report.terminal import plain, plain_json, show

    html, png = page.html, page.png if isinstance(page, MapPageOptions) else None
    for path in (html, png):
        if path is not None:
            check_writable(path)
    needs = task.needs(options)
    refuse_unneeded(options, needs)

    async def inspected() -> Inspection[Any]:
        with waiting() as tell:
            async with models_for(options, needs, tell) as models:
                say(judged_by(options))
                return await task.inspect(asked, options, models, tell)

    inspection = asyncio.run(inspected())
    try:
        _write(inspection, html, png)
    finally:  # show the result even if a file cannot be written
        if page.as_json:
            print(plain_json(inspection.result.model_dump_json(indent=2)))
        else:
            (example,) = inspection.view(None).examples
            console = Console(emoji=False)
            console.print(f"[italic]{plain(example.title)}[/italic]")
            show(console, example.blocks())
    say(inspection.cost, "dim")
    if html is not None:
        say(f"page: {html}")
    if inspection.problem:
        raise InputError(inspection.problem)
    if inspection.exit_code:
        raise typer.Exit(inspection.exit_code)


def _write(found: Inspection[Any], html: Path | None, png: Path | None) -> None:
    from pipelines.files import replace_bytes

    drawn = found.picture() if found.picture is not None and (html or png) else None
    if png is not None:
        if drawn is None:
            raise InputError(f"--png {png}: there are no words to draw")
        replace_bytes(png, drawn)
    if html is not None:
        from pipelines.report.explorer import write
        from pipelines.runs.provenance import provenance

        write(html, found.title, [found.view(drawn)], {**found.about, **provenance()})
