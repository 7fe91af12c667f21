"""The outcome of an experiment without tables of its own: its metrics, by run and method."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from pydantic import BaseModel

from pipelines.experiment.experiment import Experiment
from pipelines.experiment.metric import Metric
from pipelines.experiment.publish import Publication, Runs, models_of
from pipelines.metrics.estimate import Estimate
from pipelines.report import glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import Example, ExperimentView, Part
from pipelines.report.failures import REASON, WHAT, failed, failures
from pipelines.report.plots import dots
from pipelines.report.table import Column, Measure, Table
from pipelines.report.views import failures_part, links, listed


class Row(NamedTuple):
    """A method in a run."""

    run: str
    method: str
    results: list[Any]

    @property
    def title(self) -> str:
        """Both, in one cell."""
        return ", ".join(filter(None, (self.run, self.method)))


class Place(NamedTuple):
    """An example of a run."""

    run: str
    example: str


def summary(experiment: Experiment[Any, Any], runs: Runs[Any]) -> Publication:
    """Tables of metrics and failures, the first metric as headline and plot, and every example."""
    rows = list(_rows(experiment, runs))
    name = experiment.name.replace("-", "_")
    made = Table.of(
        rows,
        name=name,
        title=experiment.title,
        columns=[
            Column("run", "Run"),
            Column("method", "Method"),
            Column("n", experiment.counted.capitalize(), lambda row: len(row.results)),
            Column("failed", "Failed", _failed),
            *(
                Measure(metric.key, metric.title, partial(_value, metric))
                for metric in experiment.metrics
            ),
        ],
        notes=("In brackets 95 % intervals: Wilson of shares, else t intervals.",),
    )
    lost = failures(
        (
            failed(Place(run, result.id), "failed", getattr(result, "error", None))
            for run, results in runs.results.items()
            for result in results
            if result.status == "failed"
        ),
        name=f"{name}_failures",
        places=[Column("run", "Run"), Column("example", "Example")],
        said=(WHAT, REASON),
    )
    first = experiment.metrics[0]
    figures = [(row.title, _value(first, row)) for row in rows]
    finding = glance.Finding(
        question=experiment.title,
        data=glance.data_of(runs.results, runs.configs, "example"),
        models=glance.joined(
            glance.model_name(model)
            for config in runs.configs.values()
            for model in models_of(config)
        ),
        found=f"{first.title}: {glance.with_figures(figures, glance.figure)}. "
        f"{'Higher' if first.better == 'higher' else 'Lower'} is better.",
        failed=glance.failed((sum(map(_failed, rows)), "examples that failed: {}")),
        examples=glance.fewest(estimate for _, estimate in figures),
        figures=figures,
    )
    view = ExperimentView(
        experiment.name,
        experiment.title,
        finding,
        (
            Part("Results", (made,), (dots(figures, first.title),)),
            failures_part(lost, "every example was done", links(experiment.name, runs.results)),
        ),
        **listed(runs.results, _example),
    )
    return Publication(view, [made, lost])


def _rows(experiment: Experiment[Any, Any], runs: Runs[Any]) -> Iterator[Row]:
    methods = dict.fromkeys(method for metric in experiment.metrics for method in metric.methods)
    for run, results in runs.results.items():
        for method in methods:
            yield Row(run, method, list(results))


def _value(metric: Metric[Any], row: Row) -> Estimate | None:
    return metric.of(row) if row.method in metric.methods else None


def _failed(row: Row) -> int:
    return sum(result.status == "failed" for result in row.results)


def _example(run: str, result: Any) -> Example:
    return Example(result.id, run, result.id, result.status, partial(_blocks, result))


def _blocks(result: BaseModel) -> list[Facts]:
    told = result.model_dump(mode="json").items()
    return [Facts(tuple(fact(name, json.dumps(value, ensure_ascii=False)) for name, value in told))]
