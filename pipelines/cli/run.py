"""`contested run`: the experiments, each as its paper's module declares it, and all of them.

The options of `contested run NAME` are made from the fields of the experiment's settings.
"""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import typer
from rich.markup import escape

from pipelines import papers
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, Display, progress
from pipelines.cli.report import publish
from pipelines.cli.run_all import run_all
from pipelines.cluster.workers import announced, workers
from pipelines.experiment.execute import execute, opened
from pipelines.experiment.experiment import Experiment, Plan
from pipelines.experiment.needs import refuse_missing, refuse_unneeded
from pipelines.experiment.options import RunOptions
from pipelines.runs.folder import RunFolder

app = typer.Typer(
    no_args_is_help=True,
    help="Run an experiment over a file. Killed anywhere, the same command resumes it.",
)


def command_of(experiment: Experiment[Any, Any]) -> Callable[..., None]:
    """The command of an experiment, for typer."""

    def command(options: RunOptions) -> None:
        run(experiment, options)

    command.__doc__ = experiment.help
    command.__annotations__["options"] = experiment.options
    return flat(command, experiment.counted)


def run(experiment: Experiment[Any, Any], options: RunOptions) -> None:
    """Run an experiment into its folder, and make tables and page; or say what it would take."""
    plan = experiment.plan(options)
    refuse_unneeded(options, plan.needs)
    refuse_missing(options, plan.needs)
    if options.dry_run:
        if options.ray is not None:
            print(announced(options))
        if plan.summary:
            print(plan.summary)
        if plan.estimate is not None:
            print(asyncio.run(_estimated(plan, options, RunFolder(options.out))))
        return
    folder = RunFolder(options.out)
    with folder.locked():
        with workers(experiment, options) as placing:
            costs = asyncio.run(execute(experiment, plan, options, progress, placing))
        for cost in costs:
            STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
        publish(folder)
    for remark in plan.remarks:
        STDERR.print(escape(remark), soft_wrap=True)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


async def _estimated(plan: Plan[Any, Any], options: RunOptions, folder: RunFolder) -> str:
    """What a run would cost. Models are named for it; none is asked."""
    assert plan.estimate is not None  # noqa: S101
    async with opened(options, plan.needs, folder, lambda *_: nullcontext(Display(""))) as models:
        return plan.estimate(models)


for name in papers.EXPERIMENTS:
    app.command(name)(command_of(papers.experiment(name)))
app.command("all", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    run_all
)
