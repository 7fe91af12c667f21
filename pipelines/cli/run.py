"""`contested run`: the experiments, each as its paper's module declares it.

The options of `contested run NAME` are made from the fields of the experiment's settings.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from pipelines import papers
from pipelines.cli.flat import flat
from pipelines.errors import LowLabelMassError
from pipelines.option import told

if TYPE_CHECKING:  # experiments are imported only to run them, which keeps help fast
    from pipelines.experiment.experiment import Experiment, Plan
    from pipelines.experiment.forecast import Forecast
    from pipelines.experiment.options import RunOptions
    from pipelines.experiment.publish import Publication
    from pipelines.runs.folder import RunFolder


def command_of(name: str) -> Callable[..., Any]:
    """The command of an experiment, for typer."""

    def command(options: "RunOptions") -> object:
        return run(papers.experiment(name), options)

    options, paper = papers.options(name), papers.PAPERS.get(name)
    command.__doc__ = f"{getdoc(options)}" + (f"\n\nPaper: {paper}." if paper else "")
    command.__annotations__["options"] = options
    return flat(command, options.ITEMS)


def run(experiment: "Experiment[Any, Any]", options: "RunOptions") -> "Forecast | None":
    """Run an experiment and write its tables and page; or only say what it would take."""
    import uvloop

    from pipelines.cluster.workers import announced, workers
    from pipelines.experiment.execute import execute
    from pipelines.experiment.needs import refuse_missing, refuse_unneeded
    from pipelines.experiment.options import anyway, judged_by
    from pipelines.metrics.calibration import is_low
    from pipelines.report.progress import progress, say, show
    from pipelines.runs.folder import RunFolder

    plan = experiment.plan(options)
    refuse_unneeded(options, plan.needs)
    refuse_missing(options, plan.needs)
    say(told(options))
    if options.dry_run:
        if options.ray is not None:
            print(announced(options))
        say(judged_by(options))
        return _dry(experiment, plan, options)
    folder = RunFolder(options.out)
    with folder.locked():
        with workers(experiment, options) as placing:
            tell = partial(say, judged_by(options))
            done = uvloop.run(execute(experiment, plan, options, progress, placing, on_begun=tell))
        for cost in done.costs:
            say(cost, "dim")
        made = publish(folder)[experiment.name]
    for remark in plan.remarks:
        say(remark)
    if made.glance is not None:
        show(made.glance)
    for line in made.told:
        print(line)
    say(f"report: {folder.report}   tables: {folder.tables}")
    if is_low(done.label_mass) and not anyway(options):
        raise LowLabelMassError(
            f"on average {done.label_mass:.0%} of the judge's probability fell on the labels: "
            f"the model would have written something else. Results are kept in {folder.path}; use "
            "--judge tagger or a larger model with another --out, or add --anyway"
        )
    return None


def publish(folder: "RunFolder") -> "dict[str, Publication]":
    """Write `tables/` and `report.html` from the results in a locked run folder.

    Returns:
        Name of an experiment -> its publication.
    """
    from pipelines.annotation.agreement import parts
    from pipelines.experiment.publish import write
    from pipelines.runs.folder import telling_damage

    with telling_damage(folder.path):
        made = []
        for experiment, runs in papers.runs_in(folder):
            name, publication = experiment.name, experiment.publication(runs)
            paper = [("paper", papers.PAPERS[name])] if name in papers.PAPERS else []
            view = replace(
                publication.view,
                parts=(*publication.view.parts, *parts(folder, experiment, runs)),
                facts=(*publication.view.facts, *paper),
            )
            made.append((replace(publication, view=view), runs))
        write(folder, made)
    return {runs.experiment: publication for publication, runs in made}


def _dry(
    experiment: "Experiment[Any, Any]", plan: "Plan[Any, Any]", options: "RunOptions"
) -> "Forecast":
    """Say what a run would take, after a probe if one is requested."""
    import asyncio

    from pipelines.experiment.forecast import forecast, probe
    from pipelines.report.progress import progress
    from pipelines.runs.folder import RunFolder

    pace = None
    if options.probe:
        with RunFolder(options.out).locked():
            pace = asyncio.run(probe(experiment, plan, options, progress))
    if plan.summary:
        print(plan.summary)
    estimate = asyncio.run(forecast(experiment, plan, options, pace))
    print("\n".join(estimate.lines(experiment.counted)))
    return estimate
