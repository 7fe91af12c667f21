"""One example looked at in depth: the models it needs, and what is printed and written of it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape

from pipelines.cli.progress import STDERR, waiting
from pipelines.cli.terminal import plain_json
from pipelines.evidence.nli import TaggerFolder
from pipelines.experiment.execute import models_for
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs, refuse_unneeded
from pipelines.experiment.options import ModelOptions
from pipelines.files import check_writable
from pipelines.option import Option, Options
from pipelines.report.explorer import ExperimentView, write
from pipelines.report.glance import ModelUsed
from pipelines.runs.provenance import provenance
from serving.calls import ServedIdentity

Tell = Callable[[str], None]
"""Told what is being waited for."""


class ResultOptions(Options):
    """How a result is printed."""

    as_json: Annotated[bool, Option("Print the result as JSON.", name="--json")] = False


class PageOptions(ResultOptions):
    """How a result is printed, and the page that shows it."""

    html: Annotated[Path | None, Option("Write a page that opens without a network.")] = None


@dataclass(frozen=True)
class Inspection:
    """What was found of one example.

    Attributes:
        result: Printed as JSON.
        show: Prints it for people.
        cost: What it took, in a line.
        title: Heading of the page.
        view: Makes the page's content, for which it may load numpy.
        about: What was asked, folded at the page's end.
    """

    result: BaseModel
    show: Callable[[Console], None]
    cost: str
    title: str = ""
    view: Callable[[], ExperimentView] | None = None
    about: Mapping[str, str] = field(default_factory=dict)


def inspect(
    options: ModelOptions,
    needs: Needs,
    work: Callable[[Models, Tell], Awaitable[Inspection]],
    *,
    as_json: bool,
    html: Path | None = None,
) -> None:
    """Do the work with the models that it needs; print what it found, and write its page.

    Options without effect, and a page that cannot be written, are refused before.
    """
    refuse_unneeded(options, needs)
    if html is not None:
        check_writable(html)

    async def opened() -> Inspection:
        with waiting() as tell:
            async with models_for(options, needs, tell) as models:
                return await work(models, tell)

    found = asyncio.run(opened())
    try:
        if html is not None and found.view is not None:
            write(html, found.title, [found.view()], {**found.about, **provenance()})
    finally:  # what was found is shown though the page cannot be written
        if as_json:
            print(plain_json(found.result.model_dump_json(indent=2)))
        else:
            found.show(Console(emoji=False))
    if found.cost:
        STDERR.print(f"[dim]{escape(found.cost)}[/dim]", soft_wrap=True)
    if html is not None:
        STDERR.print(f"page: {escape(str(html))}", soft_wrap=True)


def models_used(**roles: ServedIdentity | TaggerFolder | None) -> list[ModelUsed]:
    """Who did what, for the page: role -> model, of those that are there."""
    return [
        ModelUsed(role, model.name, model.digest)
        for role, model in roles.items()
        if model is not None
    ]
