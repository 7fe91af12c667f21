"""What CONFLICTS puts on the page: figures, tables, and every query to read."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from pipelines.conflicts.opened import GUESSES, VERDICTS, content, guess, verdict
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.tables.failures import lost
from pipelines.conflicts.tables.scores import Results
from pipelines.conflicts.tables.type_scores import (
    BASELINES,
    BY_FORM,
    JOINT,
    MAJORITY,
    predictions,
)
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY, ConflictType
from pipelines.metrics.estimate import Estimate
from pipelines.report.explorer import Example, ExperimentView, Facet, Part, address, in_turn
from pipelines.report.glance import (
    Finding,
    ModelUsed,
    count,
    failed,
    fewest,
    model_name,
    sizes,
    with_figures,
)
from pipelines.report.plots import confusion, dots
from pipelines.report.table import (
    MISSING,
    Cell,
    Table,
    called,
    estimate_of,
    grouped,
    own_rows,
    with_names_joined,
)
from pipelines.report.texts import Chip

NAME = "conflicts"
TITLE = "CONFLICTS"

_MEASURES: Final = (
    ("behaviour", "Expected behaviour"),
    ("recall", "Answer recall"),
    ("grounding", "Factual grounding"),
)
_PARTS: Final = {
    "statistics": "data",
    "types": "types",
    "confusion": "types",
    "type_differences": "types",
    "coverage": "types",
    "failures": "failures",
}
"""Table -> the part of the section where it stands; all others are in "answers"."""

_PLAIN: Final = {
    CLASSIFIERS["nli"]: "a trained classifier",
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

_PREDICTED: Final = frozenset(ConflictType)
_NOTHING: Final = frozenset({"abstained", "unreadable"})
"""Columns of the confusion table."""


_ALL, _SOME = "All", "Some"
"""Groups of a facet beside those of each classifier or strategy."""


def view(
    results: Results,
    made: Sequence[Table],
    entries: Mapping[str, Mapping[str, Any]],
) -> ExperimentView:
    """Conflict types and answers in figures and tables, and the queries of the runs in a folder.

    Args:
        results: Name of a run -> its results.
        made: The tables of these results, from `tables.all_tables`.
        entries: Name of a run -> its entry in `run.json`.
    """
    configs = {run: entry["config"] for run, entry in entries.items()}
    every = [each for own in results.values() for each in own]
    shown = in_turn(results)
    classifiers = dict.fromkeys(name for each in every for name in predictions(each))
    origins = dict.fromkeys(each.asked.origin for each in every if each.asked.origin)
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, made, configs),
        parts=_parts(results, made),
        examples=tuple(_example(run, result) for run, result in shown),
        facets=(
            Facet("Gold type", (*(each.short for each in TAXONOMY), "not known")),
            Facet("Predicted type", _words(GUESSES), (_ALL, _SOME, *classifiers)),
            Facet("Answers", _words(VERDICTS), (_ALL, _SOME, *STRATEGIES.values())),
            Facet("Origin", tuple(origins)),
        ),
        runs={run: run for run in results},
        noun=("query", "queries"),
        models=_models(configs.values()),
        facts=tuple((run, _data(entry, results[run])) for run, entry in entries.items()),
        left_out=len(every) - len(shown),
    )


def query_view(result: QueryResult, models: Sequence[ModelUsed] = ()) -> ExperimentView:
    """The page of one query."""
    return ExperimentView(NAME, "The query", examples=(_example("", result),), models=tuple(models))


def finding(
    results: Results, made: Sequence[Table], configs: Mapping[str, Mapping[str, Any]]
) -> Finding:
    """What the page's first screen says: types beside the most frequent one, and answers.

    Args:
        results: Name of a run -> its results.
        made: The tables of these results, from `tables.all_tables`.
        configs: Name of a run -> its configuration, from `run.json`.
    """
    named = {table.name.removeprefix("conflicts_"): own_rows(table) for table in made}
    several = len(results) > 1
    types = _figures(named.get("types", []), "classifier", "accuracy", several)
    told = [each for each in types if each[0] not in BASELINES]
    behaving = _figures(named.get("answers", []), "strategy", "behaviour", several)
    found = [
        f"{what}: {with_figures([(name, each) for _, name, each in own], limit=_SHOWN_FIRST)}."
        for what, own in (
            ("Type of conflict named rightly", told),
            ("Answers that deal with the conflict as its type asks", behaving),
        )
        if own
    ]
    trivial = [(name, each) for by, name, each in types if by in BASELINES]
    every = [each for own in results.values() for each in own]
    gone = sum(each.status == "failed" for each in every)
    unread = sum(len([*lost(each)]) for each in every if each.status != "failed")
    return Finding(
        experiment=TITLE,
        question="Can a model name the type of conflict between sources, and answer accordingly?",
        ran=sizes(
            ((len(own), configs[name]["data"]["name"]) for name, own in results.items()),
            "query",
            "queries",
        ),
        by="; ".join(dict.fromkeys(map(_made_by, configs.values()))),
        found=" ".join(found) or MISSING,
        beside=f"Without reading the sources: {with_figures(trivial)}." if trivial else "",
        failed=failed(
            (gone, f"{{}} of {count(len(every), 'query', 'queries')} failed"),
            (unread, "types, answers and verdicts that could not be read or made: {}"),
        ),
        anchor=NAME,
        examples=fewest(each for _, _, each in (*told, *behaving)),
        figures=tuple(
            (f"{what}: {name}", each)
            for what, own in (("type", told), ("answer", behaving))
            for _, name, each in own[:_SHOWN_FIRST]
        ),
        baselines=tuple(trivial),
    )


def _figures(
    rows: Sequence[Mapping[str, Cell]], by: str, key: str, several: bool
) -> list[tuple[str, str, Estimate | None]]:
    """What each row is by, the same in plain words and with its run if need be, and its figure."""
    return [
        (
            str(row[by]),
            _PLAIN.get(str(row[by]), str(row[by])) + (f" ({row['run']})" if several else ""),
            estimate_of(row[key]),
        )
        for row in rows
    ]


def _made_by(config: Mapping[str, Any]) -> str:
    """Which model named types, answered and judged, from a run's configuration."""
    tagger = config.get("tagger")
    steps = []
    if config["model"] != tagger:
        steps.append(f"types and answers by {config['model']['name']}")
    if tagger is not None:
        steps.append(f"sources read by {model_name(tagger)}")
    if "judge" in config:
        steps.append(f"answers judged by {config['judge']['name']}")
    return "; ".join(steps)


def _models(configs: Iterable[Mapping[str, Any]]) -> tuple[ModelUsed, ...]:
    return tuple(
        dict.fromkeys(
            ModelUsed(role, config[key]["name"], config[key]["digest"])
            for config in configs
            for key, role in (
                ("model", "types and answers"),
                ("judge", "judge"),
                ("tagger", "tagger"),
            )
            if key in config and not (key == "model" and config["model"] == config.get("tagger"))
        )
    )


def _data(entry: Mapping[str, Any], own: Sequence[QueryResult]) -> str:
    """How many queries, and how many of them the classifier knows from training."""
    known = entry.get("seen_in_training", 0)
    seen = f"; {known:,} of the file trained the classifier, which judges each by a fold without it"
    return f"{entry['config']['data']['name']} ({len(own):,} queries{seen if known else ''})"


def _example(run: str, result: QueryResult) -> Example:
    asked = result.asked
    gold = asked.conflict_type
    guesses = {name: guess(each, gold) for name, each in predictions(result).items()}
    verdicts = {
        name: worth
        for strategy, name in STRATEGIES.items()
        if (worth := verdict(result, strategy)) in VERDICTS
    }
    kind = CATEGORY[gold].short if gold else "not known"
    chips = [Chip(kind, "outline", said="gold type") if gold else Chip("gold type not known")]
    for name, each in predictions(result).items():
        tone, sign, word = GUESSES[guesses[name]]
        said = f"{name}: {CATEGORY[each.type].short if each.type else word}"
        chips.append(Chip(said, tone, sign, word if each.type else ""))
    chips += [Chip(name, *VERDICTS[each]) for name, each in verdicts.items()]
    if result.status != "answered":
        chips.append(Chip(result.status, "invalid", "!"))
    return Example(
        id=result.id,
        run=run,
        title=asked.query,
        status=result.status,
        blocks=partial(content, result),
        about=(
            *([asked.origin] if asked.origin else []),
            count(len(asked.sources), "source"),
        ),
        chips=tuple(chips),
        facets={
            "Gold type": [kind],
            "Predicted type": _told({name: GUESSES[each][2] for name, each in guesses.items()}),
            "Answers": _told({name: VERDICTS[each][2] for name, each in verdicts.items()}),
            "Origin": [asked.origin] if asked.origin else [],
        },
        words="\n".join((asked.gold_answer or "", result.error or "")),
    )


def _words(of: Mapping[str, tuple[Any, str, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for _, _, word in of.values()))


def _told(named: Mapping[str, str]) -> list[str]:
    """What a query is found by: each thing's word, and what all or some of them are."""
    words = [*dict.fromkeys(named.values())]
    return [
        *([f"{_ALL}: {words[0]}"] if len(words) == 1 else []),
        *(f"{_SOME}: {word}" for word in words),
        *(f"{name}: {word}" for name, word in named.items()),
    ]


def _parts(results: Results, made: Sequence[Table]) -> tuple[Part, ...]:
    named = {table.name.removeprefix("conflicts_"): table for table in made if table.rows}
    failures = named.get("failures")

    def tables(where: str) -> tuple[Table, ...]:
        return tuple(each for name, each in named.items() if _PARTS.get(name, "answers") == where)

    types = type_plots(named["types"]) if "types" in named else []
    heat = heat_maps(named["confusion"]) if "confusion" in named else []
    found = (
        Part(
            "Conflict types",
            tables("types"),
            (*types, *heat),
            "The search results of a query stand to each other in one of five ways, and each way "
            "asks for another kind of answer. These figures say whether the way is named rightly. "
            "In the maps, rows are gold types and columns predictions: the stronger a cell's "
            "colour, the larger its share of the row; cells with a frame are right.",
        ),
        Part(
            "Answers",
            tables("answers"),
            tuple(answer_plots(named["answers"])) if "answers" in named else (),
            "Do answers behave as their type asks, include the gold answer, and say what their "
            "sources say?",
        ),
        Part("Data", tables("data")),
    )
    return (
        *(part for part in found if part.tables),
        Part(
            "Failures",
            () if failures is None else (with_names_joined(failures, "run", "query"),),
            intro=""
            if failures
            else "None: every query was answered, and everything could be read.",
            links={
                called(run, each.id): address(NAME, run, each.id)
                for run, own in results.items()
                for each in own
            },
        ),
    )


def type_plots(table: Table) -> list[Markup]:
    """Accuracy of every classifier (Table 4), one plot per data set."""
    return [
        dots(
            [(str(row["classifier"]), estimate_of(row["accuracy"])) for row in own],
            f"Accuracy of the predicted type, {run}",
        )
        for (run,), own in grouped(own_rows(table), "run")
    ]


def answer_plots(table: Table) -> list[Markup]:
    """Each measure of every strategy (Table 5), one plot per measure and data set."""
    return [
        dots([(str(row["strategy"]), estimate_of(row[key])) for row in own], f"{title}, {run}")
        for (run,), own in grouped(own_rows(table), "run")
        for key, title in _MEASURES
    ]


def heat_maps(table: Table) -> list[Markup]:
    """Gold types against predictions, per run and classifier."""
    found = []
    for (run, classifier), own in grouped(own_rows(table), "run", "classifier"):
        # Columns in which nothing stands would hide the others on a narrow screen.
        used = [
            column
            for column in table.columns
            if column.key in _PREDICTED
            or (column.key in _NOTHING and any(_count(row[column.key]) for row in own))
        ]
        rows = [(str(row["gold"]), [_count(row[each.key]) for each in used]) for row in own]
        found.append(confusion(rows, [each.title for each in used], f"{classifier}, {run}"))
    return found


def _count(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0
