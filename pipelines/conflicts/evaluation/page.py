"""What an evaluation contributes to the report: figures, tables, and every query to read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from pipelines.conflicts.evaluation.failures import lost
from pipelines.conflicts.evaluation.methods import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.evaluation.opened import Guess, Verdict, content, guess, verdict
from pipelines.conflicts.evaluation.result import QueryResult, Strategy
from pipelines.conflicts.evaluation.scores import Part, Results, parts
from pipelines.conflicts.evaluation.type_scores import (
    BASELINES,
    BY_FORM,
    JOINT,
    MAJORITY,
    predictions,
)
from pipelines.conflicts.taxonomy import CATEGORY, ConflictType
from pipelines.metrics.estimate import Estimate
from pipelines.report.glance import Finding, count, failed, fewest, model_name, with_figures
from pipelines.report.page import Section, fragment
from pipelines.report.plots import dots
from pipelines.report.table import (
    MISSING,
    Cell,
    Column,
    Table,
    called,
    estimate_of,
    grouped,
    html,
    own_rows,
    with_names_joined,
)

ANCHOR = "conflicts"
TITLE = "CONFLICTS"

QUERIES_SHOWN = 300
"""Queries that the page holds. One with ten sources and four answers takes about 40 KB, so that the
page stays near 10 MB and opens in about a second."""

SHADES = 8
"""Shades of a cell of the heat map that is not empty."""

_HERE = Path(__file__).parent
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
    MAJORITY: "always the most frequent kind",
    BY_FORM: "the most frequent kind among yes/no questions or among others",
    STRATEGIES["vanilla"]: "asked plainly",
    STRATEGIES["pipeline"]: "told the predicted kind",
    STRATEGIES["taxonomy-aware"]: "asked to name the kind itself",
    STRATEGIES["oracle"]: "told the true kind",
}
"""Classifiers and strategies in the words of the first screen."""

_SHOWN_FIRST: Final = 2
"""Figures of a kind on the first screen."""

_PREDICTED: Final = frozenset(ConflictType)
_NOTHING: Final = frozenset({"abstained", "unreadable"})
"""Columns of the confusion table."""


@dataclass(frozen=True)
class Heated:
    """A cell of the heat map.

    Attributes:
        count: Queries of the row's gold type that were predicted as the column says.
        share: Of the row, in [0, 1]; None where the row is empty.
        shade: Of the share: 0 for none, `SHADES` for all.
        right: Whether the column is the gold type.
    """

    count: int
    share: float | None
    shade: int
    right: bool


@dataclass(frozen=True)
class Entry:
    """One query in the page's list.

    Attributes:
        place: Id of its element.
        run: What its run is called.
        result: The query.
        guesses: Classifier -> what its type is worth, and the type, where it gave one.
        verdicts: Strategy -> whether its answer behaves as expected.
    """

    place: str
    run: str
    result: QueryResult
    guesses: Mapping[str, tuple[Guess, ConflictType | None]]
    verdicts: Mapping[Strategy, Verdict]


def section(results: Results, made: Sequence[Table]) -> Section:
    """Conflict types and answers in figures and tables, and the queries of this run.

    What a query shows when it is opened (time line, types, answers, sources) lies in the page as
    JSON and is drawn then.

    Args:
        results: Name of a run -> its results.
        made: The tables of these results, from `tables.all_tables`.
    """
    named = {table.name.removeprefix("conflicts_"): table for table in made if table.rows}
    every = parts(results, {})
    entries = [
        _entry(f"{ANCHOR}-query-{number}", run, result)
        for number, (run, result) in enumerate(listed(every), 1)
    ]
    links = {called(entry.run, entry.result.id): entry.place for entry in entries}
    shown: dict[str, list[Markup]] = {part: [] for part in ("types", "answers", "data", "failures")}
    for name, table in named.items():
        part = _PARTS.get(name, "answers")
        # A table that is all of a part has the part's heading above it.
        title = Markup("<h4>{}</h4>").format(table.title) if part != "failures" else Markup("")
        linked = with_names_joined(table, "run", "query") if name == "failures" else table
        shown[part].append(title + html(linked, links=links))
    body = fragment(
        _HERE,
        "page.html.j2",
        anchor=ANCHOR,
        accuracies=type_plots(named["types"]) if "types" in named else [],
        plots=answer_plots(named["answers"]) if "answers" in named else [],
        heat=heat_maps(named["confusion"]) if "confusion" in named else [],
        tables=shown,
        entries=entries,
        names=list(dict.fromkeys(part.run for part in every)),
        left_out=sum(map(len, results.values())) - len(entries),
        open=False,
        category=CATEGORY,
        strategies=STRATEGIES,
    )
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        body=body,
        contents=tuple(
            (f"{ANCHOR}-{part}", title)
            for part, title in (
                ("types", "Conflict types"),
                ("answers", "Answers"),
                ("data", "Data"),
                ("queries", "Queries"),
                ("failures", "Failures"),
            )
            if part in {"queries", "failures"} or shown[part]
        ),
        data=tuple((f"{entry.place}-data", content(entry.result)) for entry in entries),
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        script=(_HERE / "page.js").read_text(encoding="utf-8"),
    )


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
            ("Kind of conflict named rightly", told),
            ("Answers that deal with the conflict as its kind asks", behaving),
        )
        if own
    ]
    trivial = [(name, each) for by, name, each in types if by in BASELINES]
    every = [each for own in results.values() for each in own]
    gone = sum(each.status == "failed" for each in every)
    unread = sum(len([*lost(each)]) for each in every if each.status != "failed")
    return Finding(
        experiment=TITLE,
        question="Can a model name the kind of conflict between sources, and answer accordingly?",
        ran="; ".join(
            f"{count(len(own), 'query', 'queries')}, {configs[name]['data']['name']}"
            for name, own in results.items()
        ),
        by="; ".join(dict.fromkeys(map(_made_by, configs.values()))),
        found=" ".join(found) or MISSING,
        beside=f"Without reading the sources: {with_figures(trivial)}." if trivial else "",
        failed=failed(
            (gone, f"{{}} of {count(len(every), 'query', 'queries')} failed"),
            (unread, "types, answers and verdicts that could not be read or made: {}"),
        ),
        anchor=ANCHOR,
        examples=fewest(each for _, _, each in (*told, *behaving)),
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


def one_query(result: QueryResult) -> Section:
    """A page's worth of one query, opened.

    Args:
        result: The query.
    """
    entry = _entry(f"{ANCHOR}-query", "", result)
    opened = fragment(
        _HERE, "query.html.j2", entry=entry, open=True, category=CATEGORY, strategies=STRATEGIES
    )
    return Section(
        anchor=ANCHOR,
        title="The query",
        body=Markup(
            '<div class="conflicts"><p class="note scriptless">Reading the answers needs '
            "JavaScript.</p>{}</div>"
        ).format(opened),
        data=((f"{entry.place}-data", content(result)),),
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        script=(_HERE / "page.js").read_text(encoding="utf-8"),
    )


def listed(made: Sequence[Part], limit: int = QUERIES_SHOWN) -> list[tuple[str, QueryResult]]:
    """The queries that the page lists, with the titles of their data, in order.

    All runs give theirs in turn until there are `limit`, so that each is seen.
    """
    turns = sorted(
        (position, place)
        for place, part in enumerate(made)
        for position in range(len(part.results))
    )
    chosen = sorted((place, position) for position, place in turns[:limit])
    return [(made[place].run, made[place].results[position]) for place, position in chosen]


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
    """Gold types against predictions, a small table of counts per data set and classifier.

    A cell is shaded by its share of the row. What was predicted as it is has a frame.
    """
    found = []
    for (run, classifier), own in grouped(own_rows(table), "run", "classifier"):
        # Columns in which nothing stands would hide the others on a narrow screen.
        used = [
            column
            for column in table.columns
            if column.key in _PREDICTED or (column.key in _NOTHING and _total(own, column.key))
        ]
        lines = [(str(row["gold"]), [_heated(row, column, used) for column in used]) for row in own]
        found.append(
            fragment(
                _HERE,
                "heat.html.j2",
                title=f"{classifier}, {run}",
                columns=[column.title for column in used],
                lines=lines,
            )
        )
    return found


def _heated(row: Mapping[str, Cell], column: Column, used: Sequence[Column]) -> Heated:
    counts = {each.key: _count(row[each.key]) for each in used}
    total = sum(counts.values())
    share = counts[column.key] / total if total else None
    return Heated(
        count=counts[column.key],
        share=share,
        shade=ceil(share * SHADES) if share else 0,
        right=column.title == row["gold"],
    )


def _entry(place: str, run: str, result: QueryResult) -> Entry:
    gold = result.asked.conflict_type
    return Entry(
        place,
        run,
        result,
        {name: (guess(each, gold), each.type) for name, each in predictions(result).items()},
        {strategy: verdict(result, strategy) for strategy in STRATEGIES},
    )


def _count(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0


def _total(rows: Sequence[Mapping[str, Cell]], key: str) -> int:
    return sum(_count(row[key]) for row in rows)
