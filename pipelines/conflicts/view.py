"""What CONFLICTS puts on the page: figures, tables, and every query to read."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from pipelines.conflicts.blocks import GUESSES, VERDICTS, content, guess, verdict
from pipelines.conflicts.metrics import (
    BASELINES,
    BY_FORM,
    JOINT,
    MAJORITY,
    Results,
    predictions,
)
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.tables import lost
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY, ConflictType
from pipelines.metrics.estimate import Estimate
from pipelines.report import glance
from pipelines.report.explorer import Example, ExperimentView, Facet, Part
from pipelines.report.plots import confusion
from pipelines.report.table import MISSING, Cell, Table, estimate_of, grouped, own_rows
from pipelines.report.texts import Chip
from pipelines.report.views import (
    dot_plots,
    failures_part,
    links,
    listed,
    named,
    picked,
    values,
    words,
)

NAME = "conflicts"
TITLE = "CONFLICTS"

_PLAIN: Final = {
    CLASSIFIERS["yes-no"]: "opinions if asked for yes or no",
    CLASSIFIERS["json"]: "the language model, giving reasons",
    CLASSIFIERS["choice"]: "the language model, by number alone",
    JOINT: "the language model, along with its answer",
    MAJORITY: "always the most frequent type",
    BY_FORM: "the most frequent type, yes/no or not",
    STRATEGIES["vanilla"]: "asked plainly",
    STRATEGIES["pipeline"]: "told the predicted type",
    STRATEGIES["taxonomy-aware"]: "asked to name the type itself",
    STRATEGIES["oracle"]: "told the true type",
}
"""Classifiers and strategies in the words of the first screen."""

_SHOWN_FIRST: Final = 2
"""Figures of a kind on the first screen."""


def view(
    results: Results, made: Sequence[Table], entries: Mapping[str, Mapping[str, Any]]
) -> ExperimentView:
    """Conflict types and answers in figures and tables, and the queries of the runs in a folder.

    Results and entries of `run.json` are by the name of a run; `made` is of `tables.all_tables`.
    """
    configs = {run: entry["config"] for run, entry in entries.items()}
    every = [each for own in results.values() for each in own]
    classifiers = dict.fromkeys(name for each in every for name in predictions(each))
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, made, configs),
        parts=_parts(results, made),
        facets=(
            Facet("Gold type", (*(each.short for each in TAXONOMY), "not known")),
            Facet("Predicted type", words(GUESSES), tuple(classifiers)),
            Facet("Answers", words(VERDICTS), tuple(STRATEGIES.values())),
        ),
        runs={run: run for run in results},
        noun=("query", "queries"),
        models=glance.models_used(
            configs.values(), {"model": "types and answers", "judge": "judge", "tagger": "tagger"}
        ),
        **listed(results, _example),
    )


def query_view(result: QueryResult, models: Sequence[glance.ModelUsed] = ()) -> ExperimentView:
    """The page of one query."""
    return ExperimentView(NAME, "The query", examples=(_example("", result),), models=tuple(models))


def finding(
    results: Results, made: Sequence[Table], configs: Mapping[str, Mapping[str, Any]]
) -> glance.Finding:
    """What the page's first screen says: types beside the most frequent one, and answers."""
    tables = named(made, "conflicts_")
    several = len(results) > 1
    types = _figures(tables.get("types"), "classifier", "accuracy", several)
    told = [each for each in types if each[0] not in BASELINES]
    behaving = _figures(tables.get("answers"), "strategy", "behaviour", several)
    said = {
        "Type of conflict named rightly": told,
        "Answers that deal with the conflict as its type asks": behaving,
    }
    found = []
    for what, own in said.items():
        named_figures = [(name, each) for _, name, each in own]
        if own:
            found.append(f"{what}: {glance.with_figures(named_figures, limit=_SHOWN_FIRST)}.")
    trivial = [(name, each) for method, name, each in types if method in BASELINES]
    every = [each for own in results.values() for each in own]
    gone = sum(each.status == "failed" for each in every)
    unread = sum(len([*lost(each)]) for each in every if each.status != "failed")
    return glance.Finding(
        question="Can a model name the type of conflict between sources, and answer accordingly?",
        data=glance.data_of(results, configs, "query", "queries"),
        models="; ".join(dict.fromkeys(map(_made_by, configs.values()))),
        found=" ".join(found) or MISSING,
        beside=f"Without reading the sources: {glance.with_figures(trivial)}." if trivial else "",
        failed=glance.failed(
            (gone, f"{{}} of {glance.count(len(every), 'query', 'queries')} failed"),
            (unread, "types, answers and verdicts that could not be read or made: {}"),
        ),
        examples=glance.fewest(each for _, _, each in (*told, *behaving)),
        figures=tuple(
            (f"{what}: {name}", each)
            for what, own in (("type", told), ("answer", behaving))
            for _, name, each in own[:_SHOWN_FIRST]
        ),
        baselines=tuple(trivial),
    )


def _figures(
    table: Table | None, method: str, key: str, several: bool
) -> list[tuple[str, str, Estimate | None]]:
    """Each row's method, the same in plain words and with its run if need be, and its figure."""
    figures = []
    for row in own_rows(table) if table else ():
        name = str(row[method])
        where = f" ({row['run']})" if several else ""
        figures.append((name, f"{_PLAIN.get(name, name)}{where}", estimate_of(row[key])))
    return figures


def _made_by(config: Mapping[str, Any]) -> str:
    """Which model named types, answered and judged, from a run's configuration."""
    tagger = config.get("tagger")
    steps = []
    if config.get("model") not in (None, tagger):
        steps.append(f"types and answers by {config['model']['name']}")
    if tagger is not None:
        steps.append(f"sources read by {glance.model_name(tagger)}")
    if "judge" in config:
        steps.append(f"answers judged by {config['judge']['name']}")
    return "; ".join(steps)


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


def _parts(results: Results, made: Sequence[Table]) -> tuple[Part, ...]:
    tables = named(made, "conflicts_")
    types, failures = tables.get("types"), tables.get("failures")
    first = "types confusion type_differences"
    answers = [name for name in tables if name not in f"{first} statistics failures".split()]
    accuracy = {"accuracy": "Accuracy of the predicted type, {}"}
    measures = {
        "behaviour": "Expected behaviour, {}",
        "recall": "Answer recall, {}",
        "grounding": "Factual grounding, {}",
    }
    parts = (
        Part(
            "Conflict types",
            picked(tables, first),
            (
                *dot_plots(types, "run", "classifier", accuracy),
                *(heat_maps(tables["confusion"]) if "confusion" in tables else ()),
            ),
            "The search results of a query stand to each other in one of five ways, and each way "
            "asks for another kind of answer. These figures say whether the way is named rightly. "
            "In the maps, rows are gold types and columns predictions: the stronger a cell's "
            "colour, the larger its share of the row; cells with a frame are right.",
        ),
        Part(
            "Answers",
            picked(tables, " ".join(answers)),
            dot_plots(tables.get("answers"), "run", "strategy", measures),
            "Do answers behave as their type asks, include the gold answer, and say what their "
            "sources say?",
        ),
        Part("Data", picked(tables, "statistics")),
    )
    whole = "every query was answered, and everything could be read"
    at = ("run", "query")
    return (
        *(part for part in parts if part.tables),
        failures_part(failures, whole, links(NAME, results), at, "Failures"),
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
