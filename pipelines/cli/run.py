"""`contested run`: the experiments, each as its paper's module declares it, and all of them.

The options of `contested run NAME` are made from the fields of the experiment's settings.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import typer

from pipelines import papers
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.run_all import run_all
from pipelines.cli.terminal import plain
from pipelines.cluster.workers import announced, workers
from pipelines.experiment.execute import execute
from pipelines.experiment.experiment import Experiment, Plan
from pipelines.experiment.forecast import Forecast, forecast, probe
from pipelines.experiment.needs import refuse_missing, refuse_unneeded
from pipelines.experiment.options import RunOptions
from pipelines.experiment.publish import write
from pipelines.preset import told
from pipelines.runs.folder import RunFolder, telling_damage

app = typer.Typer(
    no_args_is_help=True,
    help="Run an experiment over a file. Killed anywhere, the same command resumes it.",
)


def command_of(experiment: Experiment[Any, Any]) -> Callable[..., Any]:
    """The command of an experiment, for typer."""

    def command(options: RunOptions) -> Forecast | None:
        return run(experiment, options)

    command.__doc__ = experiment.help
    command.__annotations__["options"] = experiment.options
    return flat(command, experiment.counted)


def run(experiment: Experiment[Any, Any], options: RunOptions) -> Forecast | None:
    """Run an experiment into its folder, and make tables and page; or say what it would take."""
    plan = experiment.plan(options)
    refuse_unneeded(options, plan.needs)
    refuse_missing(options, plan.needs)
    if decided := told(options):
        STDERR.print(plain(decided), soft_wrap=True)
    if options.dry_run:
        if options.ray is not None:
            print(announced(options))
        return _dry(experiment, plan, options)
    folder = RunFolder(options.out)
    with folder.locked():
        with workers(experiment, options) as placing:
            costs = asyncio.run(execute(experiment, plan, options, progress, placing))
        for cost in costs:
            STDERR.print(f"[dim]{plain(cost)}[/dim]", soft_wrap=True)
        publish(folder)
    for remark in plan.remarks:
        STDERR.print(plain(remark), soft_wrap=True)
    STDERR.print(f"report: {plain(str(folder.report))}   tables: {plain(str(folder.tables))}")
    return None


def publish(folder: RunFolder) -> None:
    """Write `tables/` and `report.html` from what a locked run folder holds."""
    from pipelines.annotation.view import parts

    with telling_damage(folder.path):
        made = []
        for each, runs in papers.runs_in(folder):
            own = each.publish(runs)
            view = replace(own.view, parts=(*own.view.parts, *parts(folder, each, runs)))
            made.append((replace(own, view=view), runs))
        write(folder, made)


def _dry(experiment: Experiment[Any, Any], plan: Plan[Any, Any], options: RunOptions) -> Forecast:
    """Say what a run would take, after a probe if one is wanted."""
    pace = None
    if options.probe:
        with RunFolder(options.out).locked():
            pace = asyncio.run(probe(experiment, plan, options, progress))
    if plan.summary:
        print(plan.summary)
    found = asyncio.run(forecast(experiment, plan, options, pace))
    print("\n".join(found.lines(experiment.counted)))
    return found


for name in papers.EXPERIMENTS:
    app.command(name)(command_of(papers.experiment(name)))
app.command("all", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    run_all
)
