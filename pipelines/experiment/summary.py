"""From the results in a run folder to an experiment's tables and its place on the page.

An experiment declares a `Page`: its tables, the columns that are its figures, and how an example
is shown. Headline, plots, problems, links and filters are made from these.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from markupsafe import Markup
from pydantic import BaseModel

from pipelines.data.jsonl import Skipped
from pipelines.experiment.metric import Metric
from pipelines.experiment.publish import Publication, Runs
from pipelines.judge.judgement import Judgement, Relation, Truncation
from pipelines.metrics.estimate import Estimate
from pipelines.report import glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import Example, ExperimentView, Facet, Part, address, in_turn
from pipelines.report.glance import Figures, Finding
from pipelines.report.plots import dots
from pipelines.report.table import (
    Column,
    Measure,
    Table,
    brief,
    called,
    estimate_of,
    grouped,
    with_names_joined,
)
from pipelines.report.texts import one_line

if TYPE_CHECKING:
    from pipelines.experiment.experiment import Experiment

LEAST: Final = 5
"""Figures on fewer examples are not shown as scores; the first screen points to the examples."""

PROBLEMS_SHOWN: Final = 1_000
"""Most rows in the table of problems."""


@dataclass(frozen=True)
class Figure:
    """A column of estimates: plots show a dot for each row, and the headline is made from it.

    Attributes:
        table: Name of the table.
        value: Key of the column.
        method: Key of the column that names the rows of a plot.
        said: Its name in the headline: "Questions answered exactly"; "" leaves it to the plots.
        group: Keys of columns; each of their values gets a plot.
        ours: Rows that the headline is about; by default those neither trivial nor aside.
        trivial: Rows that need no model, or a weaker one; the headline names the strongest.
        aside: Rows that the headline leaves out.
        whole: The group that stands for all groups; if it is missing, every group is shown.
        also: Keys of other columns to plot.
        better: Whether higher or lower values are better.
    """

    table: str
    value: str
    method: str
    said: str = ""
    group: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    trivial: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    whole: str = ""
    also: tuple[str, ...] = ()
    better: Literal["higher", "lower"] = "higher"


class Problem(NamedTuple):
    """Something without a value ("failed", "unreadable label"), why, and the model's reply."""

    what: str
    reason: str = ""
    reply: str | None = None


def problems(result: Any) -> Iterator[Problem]:
    """Problems that any result may have: it failed, labels were unreadable, texts were cut."""
    if result.status == "failed":
        yield Problem("failed", result.error or "")
    yield from unread_labels(getattr(result, "judgements", ()))
    yield from truncations(getattr(result, "truncations", ()))


def unread_labels(judgements: Iterable[Judgement]) -> Iterator[Problem]:
    """Judgements without a label, with their reason or reply."""
    for judgement in judgements:
        if judgement.relation is Relation.INVALID:
            where = f"document {judgement.document} on: {judgement.claim}"
            why = f"{judgement.refusal} ({where})" if judgement.refusal else where
            yield Problem("invalid judgement", why, judgement.raw)


def truncations(cuts: Iterable[Truncation]) -> Iterator[Problem]:
    """Texts of which a model saw only the beginning."""
    for cut in cuts:
        seen = f"{cut.text}: the first {cut.kept:,} of {cut.tokens:,} tokens were seen"
        yield Problem("truncation", seen)


@dataclass(frozen=True)
class Section:
    """A part of the page: a title, tables by name, an introduction, and extra plots.

    Tables without rows are left out, and so are sections without tables. Plots are made from the
    runs and all tables by name.
    """

    title: str
    tables: tuple[str, ...]
    intro: str = ""
    plots: Callable[[Runs[Any], Mapping[str, Table]], Iterable[Markup]] = lambda *_: ()


def plain(run: str, result: Any) -> Example:
    """An example that shows the fields of a result."""

    def blocks() -> list[Facts]:
        data = result.model_dump(mode="json").items()
        return [
            Facts(tuple(fact(name, json.dumps(value, ensure_ascii=False)) for name, value in data))
        ]

    return Example(result.id, run, result.id, result.status, blocks)


@dataclass(frozen=True, kw_only=True)
class Page:
    """Content of an experiment's page.

    Attributes:
        question: The question that it answers, in plain English.
        tables: Tables of a folder's runs, in reading order.
        figures: The first that has a value is the headline; all are drawn.
        example: Draws a result of a run for the list of examples.
        problems: Parts of a result that failed, could not be read, or were cut.
        failures: Name of the table of problems.
        sections: By default one with all tables.
        facets: Filters for examples whose values have an order; others are made from the examples.
        roles: What the models of a configuration do; see `glance.models_used`.
        notes: What a reader must know before believing the figures.
        skipped: Lines of the data that were not records.
        examples: The list's examples, by run; by default the results.
        brief: Keys of the first table's columns that the terminal shows; if empty it shows no
            table.
        told: Lines that the terminal shows below it.
    """

    question: str
    tables: Callable[[Runs[Any]], Iterable[Table]]
    figures: Sequence[Figure]
    example: Callable[[str, Any], Example] = plain
    problems: Callable[[Any], Iterable[Problem]] = problems
    failures: str
    sections: Sequence[Section] = ()
    facets: Sequence[Facet] = ()
    roles: Mapping[str, str] | None = None
    notes: Callable[[Runs[Any]], Iterable[str]] = lambda _: ()
    skipped: Callable[[Runs[Any]], Iterable[Skipped]] = lambda _: ()
    examples: Callable[[Runs[Any]], Mapping[str, Sequence[Any]]] = lambda runs: runs.results
    brief: tuple[str, ...] = ()
    told: Callable[[Runs[Any]], Iterable[str]] = lambda _: ()


def publication(experiment: "Experiment[Any, Any]", runs: Runs[Any]) -> Publication:
    """Tables and page of an experiment's runs in a folder."""
    page = experiment.page or by_metrics(experiment)
    noun = singular(experiment.counted), experiment.counted
    several = [*runs.results] != [""]
    made = [*page.tables(runs)]
    tables = {table.name: table for table in made}
    lost = [*_lost(page, runs)]
    failures = problem_table(lost, page.failures, noun[0], several=several)
    listed = page.examples(runs)
    shown = in_turn(listed)
    examples = tuple(page.example(run, result) for run, result in shown)
    addresses = {
        (example.run, example.id): address(experiment.name, example.run, example.id)
        for example in examples
    }
    links = {
        called(run, name) if several else name: addresses[place]
        for run, name, _ in lost
        if (place := (run if run in listed else "", name)) in addresses
    }
    joined = with_names_joined(failures, "run", noun[0]) if several else failures
    models = glance.models_used(runs.configs.values(), page.roles)
    complete = "was done, every reply could be read, and no text was cut"
    intro = "" if lost else f"None: every {noun[0]} {complete}."
    view = ExperimentView(
        experiment.name,
        experiment.title,
        Finding(
            question=page.question,
            data=glance.data_of(runs.results, runs.configs, *noun),
            models="; ".join(f"{model.role}: {model.name}" for model in models),
            failed=glance.failed(Counter(item.problem.what for item in lost)),
            **headline(page.figures, tables, noun),
        ),
        (*_parts(page, runs, tables), Part("Failures", (joined,), intro=intro, links=links)),
        examples,
        _facets(page.facets, examples),
        {run: run or next(iter(runs.configs.values()))["data"]["name"] for run in listed},
        noun,
        models,
        left_out=sum(map(len, listed.values())) - len(shown),
    )
    glanced = brief(made[0], *page.brief) if page.brief else None
    return Publication(view, [*made, failures], glanced, [*page.told(runs)])


def singular(counted: str) -> str:
    """The singular of a plural noun: "query" of "queries"."""
    return f"{counted[:-3]}y" if counted.endswith("ies") else counted.removesuffix("s")


# Figures.


class Group(NamedTuple):
    """The rows of a figure in one group, and the strongest of the trivial rows."""

    figure: Figure
    name: str
    ours: Figures
    strongest: Figures

    @property
    def fewest(self) -> int:
        """Examples behind our row with the fewest."""
        return min(value.n for _, value in self.ours if value)

    @property
    def sentence(self) -> str:
        """The headline."""
        better = " (lower is better)" if self.figure.better == "lower" else ""
        said = f"{self.figure.said}{better}: {glance.with_figures(self.ours, limit=2)}"
        baseline = glance.with_figures(self.strongest)
        return f"{said}; strongest baseline, {baseline}." if baseline else f"{said}."


def groups(figure: Figure, table: Table) -> list[Group]:
    """A figure by group; groups without any value are left out."""
    made = []
    for names, rows in grouped(table, *figure.group):
        values = [(str(row[figure.method]), estimate_of(row[figure.value])) for row in rows]
        trivial = [(name, value) for name, value in values if name in figure.trivial and value]
        excluded = {*figure.trivial, *figure.aside}
        ours = [
            (name, value)
            for name, value in values
            if (name in figure.ours if figure.ours else name not in excluded)
        ]
        if not any(value for _, value in ours):
            ours, trivial = [*trivial], []
        if ours:
            best = max if figure.better == "higher" else min
            strongest = [best(trivial, key=lambda pair: pair[1].value)] if trivial else []
            made.append(Group(figure, ", ".join(names), ours, strongest))
    return [group for group in made if group.name == figure.whole] or made


def headline(
    figures: Sequence[Figure], tables: Mapping[str, Table], noun: tuple[str, str]
) -> dict[str, Any]:
    """The fields of a `Finding` that figures make: sentence, plotted values, number of examples."""
    with_values = [
        group
        for figure in figures
        if figure.said and figure.table in tables
        for group in groups(figure, tables[figure.table])
    ]
    if not with_values:
        return {"found": "No headline figure; see the tables and plots.", "examples": 0}
    enough = [group for group in with_values if group.fewest >= LEAST]
    if not enough:
        most = max(group.fewest for group in with_values)
        # The data can hold more: other variants, or examples without a value.
        rests = f"Figures rest on {glance.count(most, *noun)}"
        few = f"{rests}: too few for a score; read the examples."
        return {"found": few, "examples": most}
    return {
        "found": enough[0].sentence,
        "examples": min(group.fewest for group in enough),
        "figures": [pair for group in enough for pair in _named(group, group.ours, enough)],
        "baselines": [pair for group in enough for pair in _named(group, group.strongest, enough)],
    }


def _named(group: Group, values: Figures, known: Sequence[Group]) -> Iterator[Any]:
    """Values by method, with their figure and group if there are several."""
    said = f"{group.figure.said}: " if len({other.figure for other in known}) > 1 else ""
    where = f" ({group.name})" if len({other.name for other in known}) > 1 else ""
    for name, value in values:
        yield f"{said}{name}{where}", value


def _plots(figure: Figure, table: Table) -> Iterator[Markup]:
    """A dot plot for each group and column of a figure that has a value."""
    titles = {column.key: column.title for column in table.columns}
    for names, rows in grouped(table, *figure.group):
        for key in (figure.value, *figure.also):
            values = [(str(row[figure.method]), estimate_of(row[key])) for row in rows]
            if any(value for _, value in values):
                yield dots(values, ", ".join((titles[key], *names)))


def _parts(page: Page, runs: Runs[Any], tables: Mapping[str, Table]) -> Iterator[Part]:
    remarks = tuple(page.notes(runs))
    for section in page.sections or [Section("Results", tuple(tables))]:
        shown = [tables[name] for name in section.tables if name in tables and tables[name].rows]
        plots = [
            *(
                plot
                for figure in page.figures
                for table in shown
                if table.name == figure.table
                for plot in _plots(figure, table)
            ),
            *(section.plots(runs, tables) if shown else ()),
        ]
        if shown:
            yield Part(section.title, tuple(shown), tuple(plots), section.intro, remarks=remarks)
            remarks = ()


def _facets(declared: Sequence[Facet], examples: Iterable[Example]) -> tuple[Facet, ...]:
    """Declared facets, then facets of the examples, with the values that occur."""
    known = {facet.name for facet in declared}
    others: dict[str, dict[str, None]] = {}
    for example in examples:
        for name, values in example.facets.items():
            if name not in known:
                others.setdefault(name, {}).update(dict.fromkeys(values))
    return (*declared, *(Facet(name, tuple(values)) for name, values in others.items()))


# Problems.


class Lost(NamedTuple):
    """A problem, with its run and example."""

    run: str
    example: str
    problem: Problem


def _lost(page: Page, runs: Runs[Any]) -> Iterator[Lost]:
    for bad in page.skipped(runs):
        yield Lost("", f"line {bad.line}", Problem("bad record", bad.error))
    for run, results in runs.results.items():
        for result in results:
            for problem in page.problems(result):
                yield Lost(run, result.id, problem)


def problem_table(lost: Sequence[Lost], name: str, noun: str, *, several: bool) -> Table:
    """Items that failed, could not be read, or were cut; the first `PROBLEMS_SHOWN`."""
    more = len(lost) - PROBLEMS_SHOWN
    return Table.of(
        lost[:PROBLEMS_SHOWN],
        name=name,
        title="Failures and truncations",
        caption="Items without a score, unreadable replies, and texts that were cut.",
        columns=[
            *([Column[Lost]("run", "Run")] if several else []),
            Column(noun, noun.capitalize(), lambda item: item.example),
            Column("what", "What", lambda item: item.problem.what),
            Column("reason", "Reason", lambda item: one_line(item.problem.reason, 400)),
            Column(
                "reply",
                "Beginning of the reply",
                lambda item: one_line(item.problem.reply or "", 200) or None,
            ),
        ],
        notes=[f"{more:,} more are in the results."] if more > 0 else [],
    )


# Without a declared page.


class Row(NamedTuple):
    """A method in a run."""

    run: str
    method: str
    results: list[Any]


def by_metrics(experiment: "Experiment[Any, Any]") -> Page:
    """The page of an experiment that declares only metrics: one table, by run and method."""
    name = experiment.name.replace("-", "_")
    metrics = experiment.metrics
    methods = [*dict.fromkeys(method for metric in metrics for method in metric.methods)]

    def value(metric: Metric[BaseModel], row: Row) -> Estimate | None:
        return metric.of(row) if row.method in metric.methods else None

    def tables(runs: Runs[Any]) -> list[Table]:
        results = runs.results.items()
        return [
            Table.of(
                [Row(run, method, [*of_run]) for run, of_run in results for method in methods],
                name=name,
                title=experiment.title,
                columns=[
                    Column("run", "Run"),
                    Column("method", "Method"),
                    Column("n", experiment.counted.capitalize(), lambda row: len(row.results)),
                    Column("failed", "Failed", _failed),
                    *(
                        Measure(metric.key, metric.title, partial(value, metric))
                        for metric in metrics
                    ),
                ],
                notes=("Brackets: 95 % intervals, Wilson for shares and t otherwise.",),
            )
        ]

    rows = ("run", ()) if methods == [""] else ("method", ("run",))
    return Page(
        question=experiment.title,
        tables=tables,
        figures=[
            Figure(name, metric.key, rows[0], metric.title, rows[1], better=metric.better)
            for metric in metrics
            if metric.bounds == (0, 1)
        ],
        failures=f"{name}_failures",
    )


def _failed(row: Row) -> int:
    return sum(result.status == "failed" for result in row.results)
