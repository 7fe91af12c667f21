"""From a table, its plots and what failed to the place of an experiment on the page."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pipelines.conflictscore.settings import SPLIT
from pipelines.experiment.publish import Publication, Runs
from pipelines.report import glance
from pipelines.report.explorer import Example, ExperimentView, Facet, Part, address
from pipelines.report.glance import Figures
from pipelines.report.table import MISSING, Table, called, own_rows
from pipelines.report.views import failures_part, listed


@dataclass(frozen=True)
class Headline:
    """What the first screen says.

    Attributes:
        title: Of the experiment, for people.
        noun: What an example is: ("question", "questions").
        question: That the experiment answers, in plain English.
        metric: The one that counts, with what is better: "CS-C (lower is better)".
        figures: Its values by name.
        baselines: Those of what needs no model, likewise.
    """

    title: str
    noun: tuple[str, str]
    question: str
    metric: str
    figures: Figures
    baselines: Figures = ()


def publication(
    runs: Runs[Any],
    headline: Headline,
    tables: Sequence[Table],
    example: Callable[[str, Any], Example],
    *,
    plots: Sequence[Markup] = (),
    facets: Sequence[Facet] = (),
    remarks: Sequence[str] = (),
    models: Sequence[glance.ModelUsed] = (),
    shown: Mapping[str, Sequence[Any]] | None = None,
    brief: Table | None = None,
) -> Publication:
    """What an experiment comes to: its tables, and its place on the page.

    Args:
        runs: What the folder has of it.
        headline: Of the first screen.
        tables: In the order of reading; the last says what failed. Where a folder has several runs,
            its first two columns are run and example.
        example: Draws one for the list.
        plots: Above the tables.
        facets: What examples are narrowed down by.
        remarks: What a reader must know before believing the figures.
        models: Which model did what; those of a judge of claims unless given.
        shown: The examples by run; the results of the runs unless given.
        brief: For the terminal.
    """
    *made, failures = tables
    examples = runs.results if shown is None else shown
    configs = list(runs.configs.values())
    keys = [column.key for column in failures.columns[:2]]
    several = keys[0] == "run"
    lost = Counter(str(row["what"]) for row in own_rows(failures))
    figures = glance.with_figures(headline.figures, glance.figure) or MISSING
    finding = glance.Finding(
        question=headline.question,
        data=glance.data_of(runs.results, runs.configs, *headline.noun),
        models=glance.joined(map(_made_by, configs)),
        found=f"{headline.metric}: {figures}.",
        beside=glance.with_figures(headline.baselines, glance.figure),
        failed=glance.failed(*((number, f"{what}: {{}}") for what, number in lost.items())),
        examples=glance.fewest(estimate for _, estimate in headline.figures),
        figures=headline.figures,
        baselines=headline.baselines,
    )
    drawn = listed(examples, example)
    addresses = {
        called(one.run, one.id) if several else one.id: address(runs.experiment, one.run, one.id)
        for one in drawn["examples"]
    }
    part = failures_part(
        failures,
        f"all {headline.noun[1]} were done, and everything could be read and was seen whole",
        addresses,
        (keys[0], keys[1]) if several else None,
    )
    view = ExperimentView(
        runs.experiment,
        headline.title,
        finding,
        (Part("Results", tuple(made), tuple(plots), remarks=tuple(remarks)), part),
        facets=tuple(facets),
        runs={run: run or configs[0]["data"]["name"] for run in examples},
        noun=headline.noun,
        models=tuple(models) or glance.judge_models(*configs),
        **drawn,
    )
    return Publication(view, tables, glance=brief)


def _made_by(config: Mapping[str, Any]) -> str:
    """Which model wrote, split and judged, from a run's configuration."""
    steps = [f"written by {config['writer']['name']}"] if "writer" in config else []
    settings = config["settings"]
    asked = settings["judge"] != "tagger" and settings.get("claims") in SPLIT
    if splitter := config.get("splitter") or (config["model"] if asked else None):
        steps.append(f"claims, where the data bring none, split by {splitter['name']}")
    return "; ".join([*steps, f"claims judged by {glance.judges(config)}"])
