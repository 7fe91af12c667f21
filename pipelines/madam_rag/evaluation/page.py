"""What an evaluation contributes to the report: tables, figures, and every debate to read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pipelines.madam_rag.evaluation.figures import figures
from pipelines.madam_rag.evaluation.methods import CONCATENATED, MADAM, NO_RAG
from pipelines.madam_rag.evaluation.opened import Verdict, content, verdict
from pipelines.madam_rag.evaluation.result import QuestionResult
from pipelines.madam_rag.evaluation.scores import Part, Results, parts, scored, shown_methods
from pipelines.metrics.estimate import Estimate
from pipelines.report.curves import STYLE as CURVE_STYLE
from pipelines.report.curves import curve
from pipelines.report.glance import Finding, count, failed, fewest, joined, model_name, with_figures
from pipelines.report.page import Section, fragment
from pipelines.report.plots import dots
from pipelines.report.table import (
    MISSING,
    Cell,
    Table,
    called,
    estimate_of,
    grouped,
    html,
    own_rows,
    with_names_joined,
)

ANCHOR = "madam-rag"
TITLE = "MADAM-RAG"

DEBATES_SHOWN = 500
"""Debates that the page holds. One of six agents and three rounds takes about 15 KB with its
documents, so that the page stays below 10 MB and opens in about a second."""

_HERE = Path(__file__).parent
_MEASURES = (
    ("exact_match", "Exact match"),
    ("precision", "Precision"),
    ("recall", "Recall"),
    ("f1", "F1"),
)
_EXPERIMENTS = {
    "support": ("Imbalance", "documents for the other answer"),
    "misinformation": ("Misinformation", "documents with misinformation"),
}
_PARTS = {
    "methods": "results",
    "comparisons": "results",
    "rounds": "rounds",
    "levels": "levels",
    "drops": "levels",
    "failures": "failures",
}
"""Table -> the part of the section where it stands; all others are in "data"."""


@dataclass(frozen=True)
class Entry:
    """One question in the page's list.

    Attributes:
        place: Id of its element.
        data: Its data set, with experiment and level where it has them.
        result: The question.
        verdicts: One per method of the list.
    """

    place: str
    data: str
    result: QuestionResult
    verdicts: tuple[Verdict, ...]


def section(results: Results, made: Sequence[Table]) -> Section:
    """Table 1, Figures 3 and 4, and the debates of this run.

    What a question shows when it is opened (answers, debate, documents) lies in the page as JSON
    and is drawn then.

    Args:
        results: Data set, with its experiment where there is one -> its results.
        made: The tables of these results, from `tables.all_tables`.
    """
    named = {table.name.removeprefix("madam_"): table for table in made if table.rows}
    every = parts(results, {})
    methods = shown_methods([each for part in every for each in part.results])
    entries = [
        Entry(
            f"{ANCHOR}-question-{number}",
            name,
            result,
            tuple(verdict(result, method) for method in methods),
        )
        for number, (name, result) in enumerate(listed(every), 1)
    ]
    links = {called(entry.data, entry.result.id): entry.place for entry in entries}
    shown: dict[str, list[Markup]] = {
        part: [] for part in ("results", "rounds", "levels", "data", "failures")
    }
    for name, table in named.items():
        part = _PARTS.get(name, "data")
        # A table that is all of a part has the part's heading above it.
        title = Markup("<h4>{}</h4>").format(table.title) if name != part else Markup("")
        linked = with_names_joined(table, "data", "question") if name == "failures" else table
        shown[part].append(title + html(linked, links=links))
    body = fragment(
        _HERE,
        "page.html.j2",
        anchor=ANCHOR,
        accuracies=accuracy_plots(named["methods"]) if "methods" in named else [],
        rounds=round_plots(named["rounds"]) if "rounds" in named else [],
        levels=level_plots(named["levels"]) if "levels" in named else [],
        tables=shown,
        entries=entries,
        names=[part.title for part in every],
        methods=methods,
        favourite=MADAM,
        debates=sum(_debates(entry.result) for entry in entries),
        left_out=sum(map(len, results.values())) - len(entries),
    )
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        body=body,
        contents=(
            (f"{ANCHOR}-results", "Results"),
            *(
                (f"{ANCHOR}-{part}", title)
                for part, title in (
                    ("rounds", "Rounds and the aggregator"),
                    ("levels", "Imbalance and misinformation"),
                    ("data", "Agents and data"),
                )
                if shown[part]
            ),
            (f"{ANCHOR}-debates", "Debates"),
            (f"{ANCHOR}-failures", "Failures"),
        ),
        data=tuple(
            (f"{entry.place}-data", content(entry.result))
            for entry in entries
            if entry.result.outcomes
        ),
        style=(_HERE / "page.css").read_text(encoding="utf-8") + CURVE_STYLE,
        script=(_HERE / "page.js").read_text(encoding="utf-8"),
    )


def finding(results: Results, configs: Mapping[str, Mapping[str, Any]]) -> Finding:
    """What the page's first screen says: exact match of MADAM-RAG beside simpler methods.

    Runs that vary something are left to their section where there is one of all methods.

    Args:
        results: Name of a run -> its results.
        configs: Name of a run -> its configuration, from `run.json`.
    """
    every = parts(results, {})
    told = [part for part in every if part.experiment is None] or every
    ours = [(part.title, _exact(part, MADAM)) for part in told]
    simpler = [
        (f"{method}{f' ({part.title})' if len(told) > 1 else ''}", found)
        for part in told
        for method in shown_methods(part.results)
        if method in {NO_RAG, CONCATENATED} and (found := _exact(part, method)) is not None
    ]
    asked = [each for own in results.values() for each in own]
    gone = sum(each.status == "failed" for each in asked)
    outcomes = [one for each in asked for one in each.outcomes.values()]
    unread = sum(one.concluded.problem is not None for one in outcomes)
    figures_of = ours if len(ours) > 1 else [("", each) for _, each in ours]
    return Finding(
        experiment=TITLE,
        question="Do agents that debate their documents find every right answer and no wrong one?",
        ran="; ".join(
            f"{count(len(own), 'question')}, {configs[name]['data']['name']}"
            for name, own in results.items()
        ),
        by=joined(_made_by(config) for config in configs.values()),
        found=f"Questions that MADAM-RAG answers with every right answer and no wrong one: "
        f"{with_figures(figures_of) or MISSING}.",
        beside=f"{with_figures(simpler)}." if simpler else "",
        failed=failed(
            (gone, "questions that failed: {}"),
            (unread, f"replies of all methods that could not be read: {{}} of {len(outcomes):,}"),
        ),
        anchor=ANCHOR,
        examples=fewest(each for _, each in ours),
    )


def _exact(part: Part, method: str) -> Estimate | None:
    return estimate_of(figures(scored(part.results, method))[0])


def _made_by(config: Mapping[str, Any]) -> str:
    """Which model wrote, and which tagged where reliability was asked for."""
    written = f"all answers written by {config['model']['name']}"
    if "tagger" not in config:
        return written
    return f"{written}; reliability of documents judged by {model_name(config['tagger'])}"


def one_debate(result: QuestionResult) -> Section:
    """A page's worth of one question, opened.

    Args:
        result: A question with a debate.
    """
    methods = list(result.outcomes)
    entry = Entry(ANCHOR, "", result, tuple(verdict(result, method) for method in methods))
    return Section(
        anchor=f"{ANCHOR}-debate",
        title="The debate",
        body=fragment(_HERE, "debate.html.j2", entry=entry, methods=methods),
        data=((f"{entry.place}-data", content(result)),),
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        script=(_HERE / "page.js").read_text(encoding="utf-8"),
    )


def listed(made: Sequence[Part], limit: int = DEBATES_SHOWN) -> list[tuple[str, QuestionResult]]:
    """The questions that the page lists, with the titles of their parts, in order.

    All parts give theirs in turn until the debates together are `limit`, so that each part is
    seen. A question without a debate counts as one.
    """
    turns = sorted(
        (position, place)
        for place, part in enumerate(made)
        for position in range(len(part.results))
    )
    chosen, debates = [], 0
    for position, place in turns:
        debates += max(1, _debates(made[place].results[position]))
        if debates > limit:
            break
        chosen.append((place, position))
    return [
        (made[place].title, made[place].results[position]) for place, position in sorted(chosen)
    ]


def accuracy_plots(table: Table) -> list[Markup]:
    """Exact match of every method, one plot per data set (Table 1)."""
    return [
        dots(
            [(str(row["method"]), estimate_of(row["exact_match"])) for row in own],
            f"Exact match, {name}",
        )
        for (name,), own in grouped(own_rows(table), "data")
    ]


def round_plots(table: Table) -> list[tuple[str, list[Markup]]]:
    """Each measure by rounds, with and without aggregator (Figure 3): data set -> its plots."""
    return [
        (
            name,
            [
                plot
                for key, title in _MEASURES
                if (plot := _lines(own, "aggregator", "rounds", key, (title, "rounds", "share")))
            ],
        )
        for (name,), own in grouped(own_rows(table), "data")
    ]


def level_plots(table: Table) -> list[Markup]:
    """Exact match of every method by level (Figure 4), one plot per experiment and data set."""
    plots = []
    for (experiment,), every in grouped(own_rows(table), "experiment"):
        title, across = _EXPERIMENTS.get(experiment, (experiment, "level"))
        for (name,), own in grouped(every, "data"):
            titles = (f"{title}, {name}", across, "exact match")
            plots.append(_lines(own, "method", "level", "exact_match", titles))
    return [plot for plot in plots if plot]


def _debates(result: QuestionResult) -> int:
    return sum(outcome.debate is not None for outcome in result.outcomes.values())


def _lines(
    rows: Sequence[dict[str, Cell]],
    series: str,
    across: str,
    up: str,
    titles: tuple[str, str, str],
) -> Markup | None:
    """One line per value of the column `series`, through the values of `up`; None without any."""
    lines: dict[str, list[tuple[float, float]]] = {}
    steps = set()
    for row in rows:
        place, estimate = row[across], estimate_of(row[up])
        if isinstance(place, int) and estimate is not None:
            steps.add(place)
            lines.setdefault(str(row[series]), []).append((place, estimate.value))
    title, *axes = titles
    return curve([*lines.items()], title, *axes, steps=tuple(sorted(steps))) if lines else None
