"""Does a task with its models, and keeps what it found as the page draws it."""

from dataclasses import replace

from pipelines.experiment.execute import models_for
from pipelines.experiment.options import ServerOptions
from pipelines.inspection.found import Tell
from pipelines.report.blocks import encoded
from pipelines.report.explorer import render
from pipelines.report.template import made_visible
from pipelines.runs.provenance import provenance
from pipelines.web.jobs import Found, ModelNamed
from pipelines.web.tasks import Task
from pipelines.web.warm import warm


async def perform(server: ServerOptions, asked: Task, tell: Tell) -> tuple[Found, str]:
    """Do a task: what was found, and the page of it.

    Raises:
        InputError, ServingError, TaggerError, SalienceError: As the command.
    """
    async with models_for(server, asked.needs(server), tell) as models:
        found = await asked.inspect(server, warm(models), tell)
    if found.view is None:
        raise ValueError(f"{asked.task} has no page")
    view = found.view()
    (example,) = view.examples
    blocks = list(example.blocks())
    drawn = replace(view, examples=(replace(example, blocks=lambda: blocks),))
    return (
        Found(
            title=found.title,
            cost=found.cost,
            models=tuple(
                ModelNamed(role=each.role, name=each.name, digest=each.digest)
                for each in view.models
            ),
            blocks=made_visible(encoded(blocks)),
            result=found.result.model_dump(mode="json"),
        ),
        render(found.title, [drawn], {**found.about, **provenance()}),
    )
