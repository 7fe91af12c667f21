"""What CONFLICTS puts on the page: figures, tables, and every query to read."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from markupsafe import Markup

from pipelines.conflicts.blocks import GUESSES, VERDICTS, content, guess, verdict
from pipelines.conflicts.data import Statistic
from pipelines.conflicts.metrics import BASELINES, JOINT, part_of, predictions
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.tables import all_tables, problems
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY, ConflictType
from pipelines.experiment.publish import Runs
from pipelines.experiment.summary import Figure, Page, Section
from pipelines.report import glance
from pipelines.report.explorer import Example, ExperimentView, Facet
from pipelines.report.plots import confusion
from pipelines.report.table import Cell, Table, grouped, own_rows
from pipelines.report.texts import Chip, values, words


def query_view(result: QueryResult, models: Sequence[glance.ModelUsed] = ()) -> ExperimentView:
    """The page of one query."""
    example = _example("", result)
    return ExperimentView("conflicts", "The query", examples=(example,), models=tuple(models))


def _example(run: str, result: QueryResult) -> Example:
    asked = result.asked
    gold = asked.conflict_type
    predicted = predictions(result)
    guesses = {name: guess(each, gold) for name, each in predicted.items()}
    verdicts = {
        name: worth for strategy, name in STRATEGIES.items() if (worth := verdict(result, strategy))
    }
    kind = CATEGORY[gold].short if gold else "not known"
    chips = [Chip(kind, "outline", said="gold type") if gold else Chip("gold type not known")]
    for name, each in predicted.items():
        tone, sign, word = guesses[name]
        said = f"{name}: {CATEGORY[each.type].short if each.type else word}"
        chips.append(Chip(said, tone, sign, word if each.type else ""))
    chips += [mark.on(name) for name, mark in verdicts.items()]
    if result.status != "answered":
        chips.append(Chip(result.status, "invalid", "!"))
    origin = [asked.origin] if asked.origin else []
    return Example(
        id=result.id,
        run=run,
        title=asked.query,
        status=result.status,
        blocks=partial(content, result),
        about=(*origin, glance.count(len(asked.sources), "source")),
        chips=tuple(chips),
        facets={
            "Gold type": [kind],
            "Predicted type": values(guesses),
            "Answers": values(verdicts),
        },
        words="\n".join((asked.gold_answer or "", result.error or "")),
    )


def heat_maps(table: Table) -> list[Markup]:
    """Gold types against predictions, per run and classifier."""
    columns = [column for column in table.columns if column.key in {*ConflictType, "unreadable"}]
    titles = [column.title for column in columns]
    maps = []
    for (run, classifier), rows in grouped(own_rows(table), "run", "classifier"):
        counts = [(str(row["gold"]), [_count(row[each.key]) for each in columns]) for row in rows]
        maps.append(confusion(counts, titles, f"{classifier}, {run}"))
    return maps


def _count(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0


def _tables(runs: Runs[QueryResult]) -> list[Table]:
    parts = [part_of(run, own, runs.configs[run]) for run, own in runs.results.items()]
    return all_tables(parts, runs.noted("statistics", tuple[Statistic, ...]))


PAGE: Final = Page(
    question="Can a model name the type of conflict between sources, and answer accordingly?",
    tables=_tables,
    figures=(
        Figure(
            *("conflicts_types", "accuracy", "classifier"),
            said="Types of conflict named rightly",
            group=("run",),
            trivial=(*BASELINES, CLASSIFIERS["yes-no"]),
        ),
        Figure(
            *("conflicts_answers", "behaviour", "strategy"),
            said="Answers that behave as their type asks",
            group=("run",),
            also=("recall", "grounding"),
        ),
    ),
    example=_example,
    problems=problems,
    failures="conflicts_failures",
    sections=(
        Section(
            "Conflict types",
            ("conflicts_types", "conflicts_confusion", "conflicts_type_differences"),
            "The search results of a query stand to each other in one of five ways, and each way "
            "asks for another kind of answer. These figures say whether the way is named rightly. "
            "In the maps, rows are gold types and columns predictions: the stronger a cell's "
            "colour, the larger its share of the row; cells with a frame are right.",
            lambda _, tables: heat_maps(tables["conflicts_confusion"]),
        ),
        Section(
            "Answers",
            ("conflicts_answers", "conflicts_behaviour", "conflicts_differences"),
            "Do answers behave as their type asks, include the gold answer, and say what their "
            "sources say?",
        ),
        Section("Data", ("conflicts_statistics",)),
    ),
    facets=(
        Facet("Gold type", (*(category.short for category in TAXONOMY), "not known")),
        Facet("Predicted type", words(GUESSES), (*CLASSIFIERS.values(), JOINT)),
        Facet("Answers", words(VERDICTS), tuple(STRATEGIES.values())),
    ),
    roles={"model": "types and answers", "judge": "judge", "tagger": "tagger"},
)
