"""What MADAM-RAG puts on the page: tables, figures, and every debate to read."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from pipelines.madam_rag.figures import figures
from pipelines.madam_rag.methods import CONCATENATED, MADAM, NO_RAG
from pipelines.madam_rag.opened import VERDICTS, Verdict, content, verdict
from pipelines.madam_rag.result import QuestionResult
from pipelines.madam_rag.scores import Part, Results, parts, scored, shown_methods
from pipelines.metrics.estimate import Estimate
from pipelines.report import explorer
from pipelines.report.curves import curve
from pipelines.report.explorer import Example, ExperimentView, Facet, address, in_turn
from pipelines.report.glance import (
    Finding,
    ModelUsed,
    count,
    failed,
    fewest,
    joined,
    model_name,
    sizes,
    with_figures,
)
from pipelines.report.plots import dots
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

NAME = "madam-rag"
TITLE = "MADAM-RAG"

_MEASURES: Final = (
    ("exact_match", "Exact match"),
    ("precision", "Precision"),
    ("recall", "Recall"),
    ("f1", "F1"),
)
_EXPERIMENTS: Final = {
    "support": ("Imbalance", "documents for the other answer"),
    "misinformation": ("Misinformation", "documents with misinformation"),
}
_PARTS: Final = {
    "methods": "results",
    "comparisons": "results",
    "rounds": "rounds",
    "levels": "levels",
    "drops": "levels",
    "failures": "failures",
}
"""Table -> the part where it stands; all others are in "data"."""

_ALONE, _MISSED = "right, where another is not", "not right, where another is"


def view(
    results: Results,
    made: Sequence[Table],
    configs: Mapping[str, Mapping[str, Any]],
) -> ExperimentView:
    """Table 1, Figures 3 and 4, and the debates of the runs in a folder.

    Args:
        results: Data set, with its experiment where there is one -> its results.
        made: The tables of these results, from `tables.all_tables`.
        configs: Name of a run -> its configuration, from `run.json`.
    """
    methods = shown_methods([each for own in results.values() for each in own])
    shown = in_turn(results)
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, configs),
        parts=_parts(results, made),
        examples=tuple(_example(run, result, methods) for run, result in shown),
        facets=(
            Facet(
                "Verdict",
                (*(word for _, _, word in VERDICTS.values()), _ALONE, _MISSED),
                tuple(methods),
            ),
            Facet("Right answers", ("several", "one", "not known")),
            Facet("Level", tuple(map(str, range(20)))),
        ),
        runs={run: _title(run, own) for run, own in results.items()},
        noun=("question", "questions"),
        models=models_used(configs.values()),
        facts=tuple(
            (_title(run, results[run]), f"{config['data']['name']} ({_held(config, results[run])})")
            for run, config in configs.items()
        ),
        left_out=sum(map(len, results.values())) - len(shown),
    )


def question_view(result: QuestionResult, models: Sequence[ModelUsed] = ()) -> ExperimentView:
    """The page of one question that was debated."""
    return ExperimentView(
        name=NAME,
        title="The debate",
        examples=(_example("", result, list(result.outcomes)),),
        models=tuple(models),
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
        (f"{method}{f' ({part.title})' if len(told) > 1 else ''}", value)
        for part in told
        for method in shown_methods(part.results)
        if method in {NO_RAG, CONCATENATED} and (value := _exact(part, method)) is not None
    ]
    asked = [each for own in results.values() for each in own]
    gone = sum(each.status == "failed" for each in asked)
    outcomes = [one for each in asked for one in each.outcomes.values()]
    lost = sum(one.concluded.problem is not None for one in outcomes)
    figures_of = ours if len(ours) > 1 else [("", each) for _, each in ours]
    return Finding(
        experiment=TITLE,
        question="Do agents that debate their documents find every right answer and no wrong one?",
        ran=sizes(
            ((len(own), configs[name]["data"]["name"]) for name, own in results.items()), "question"
        ),
        by=joined(_made_by(config) for config in configs.values()),
        found=f"Questions that MADAM-RAG answers with every right answer and no wrong one: "
        f"{with_figures(figures_of) or MISSING}.",
        beside=f"{with_figures(simpler)}." if simpler else "",
        failed=failed(
            (gone, "questions that failed: {}"),
            (lost, f"replies of all methods that could not be read: {{}} of {len(outcomes):,}"),
        ),
        anchor=NAME,
        examples=fewest(each for _, each in ours),
        figures=tuple((MADAM if len(ours) == 1 else name, each) for name, each in ours),
        baselines=tuple(simpler),
    )


def models_used(configs: Iterable[Mapping[str, Any]]) -> tuple[ModelUsed, ...]:
    """The models of runs, each once, from their configurations in `run.json`."""
    return tuple(
        dict.fromkeys(
            ModelUsed(role, config[key]["name"], config[key]["digest"])
            for config in configs
            for key, role in (("model", "agents and baselines"), ("tagger", "reliability"))
            if key in config
        )
    )


def _example(run: str, result: QuestionResult, methods: Sequence[str]) -> Example:
    asked = result.asked
    worth = {method: verdict(result, method) for method in methods}
    judged = {method: each for method, each in worth.items() if each in VERDICTS}
    chips = [Chip(method, *VERDICTS[each]) for method, each in judged.items()] or [
        Chip("failed", "invalid", "!")
    ]
    known = {0: "not known", 1: "one"}
    return Example(
        id=result.id,
        run=run,
        title=asked.question,
        status=result.status,
        blocks=partial(content, result),
        about=(count(len(asked.documents), "document"),),
        chips=tuple(chips),
        facets={
            "Verdict": [f"{method}: {each}" for method in judged for each in _told(method, judged)],
            "Right answers": [known.get(len(asked.gold), "several")],
            "Level": [] if asked.level is None else [str(asked.level)],
        },
        words="\n".join(
            (*(name for names in asked.gold for name in names), *asked.wrong, result.error or "")
        ),
    )


def _told(method: str, judged: Mapping[str, Verdict]) -> list[str]:
    """What a question is found by: the verdict on a method, also beside those on others."""
    own, others = judged[method], judged.values()
    said = [VERDICTS[own][2]]
    if own == "right" and "not" in others:
        said.append(_ALONE)
    if own == "not" and "right" in others:
        said.append(_MISSED)
    return said


def _title(run: str, own: Sequence[QuestionResult]) -> str:
    """A run as people call it: "RAMDocs", "RAMDocs, support"."""
    part = next(iter(parts({run: own[:1]}, {})), None)
    if part is None:
        return run
    return part.data if part.experiment is None else f"{part.data}, {part.experiment}"


def _parts(results: Results, made: Sequence[Table]) -> tuple[explorer.Part, ...]:
    named = {table.name.removeprefix("madam_"): table for table in made if table.rows}
    links = {
        called(part.title, each.id): address(NAME, run, each.id)
        for run, own in results.items()
        for part in parts({run: own}, {})
        for each in part.results
    }
    failures = named.get("failures")

    def tables(where: str) -> tuple[Table, ...]:
        return tuple(each for name, each in named.items() if _PARTS.get(name, "data") == where)

    found = (
        explorer.Part(
            "Results",
            tables("results"),
            tuple(accuracy_plots(named["methods"])) if "methods" in named else (),
            "A question has several right answers, one, or wrong ones that its documents spread. "
            "It is answered exactly where every right answer is given and no wrong one.",
        ),
        explorer.Part(
            "Rounds and the aggregator",
            tables("rounds"),
            tuple(round_plots(named["rounds"])) if "rounds" in named else (),
            "What the same debates had concluded after each round; without an aggregator, what the "
            "agents answer between them. Lines are with the aggregator and without.",
        ),
        explorer.Part(
            "Imbalance and misinformation",
            tables("levels"),
            tuple(level_plots(named["levels"])) if "levels" in named else (),
            "The same questions with more and more documents for one of their answers, or with "
            "more and more misinformation.",
        ),
        explorer.Part("Agents and data", tables("data")),
    )
    return (
        *(part for part in found if part.tables),
        explorer.Part(
            "Failures",
            () if failures is None else (with_names_joined(failures, "data", "question"),),
            intro=""
            if failures
            else "None: every question was answered by every method. How many "
            "replies of agents could not be read stands under “How debates went”.",
            links=links,
        ),
    )


def _exact(part: Part, method: str) -> Estimate | None:
    return estimate_of(figures(scored(part.results, method))[0])


def _made_by(config: Mapping[str, Any]) -> str:
    """Which model wrote, and which tagged where reliability was asked for."""
    written = f"all answers written by {config['model']['name']}"
    if "tagger" not in config:
        return written
    return f"{written}; reliability of documents judged by {model_name(config['tagger'])}"


def accuracy_plots(table: Table) -> list[Markup]:
    """Exact match of every method, one plot per data set (Table 1)."""
    return [
        dots(
            [(str(row["method"]), estimate_of(row["exact_match"])) for row in own],
            f"Exact match, {name}",
        )
        for (name,), own in grouped(own_rows(table), "data")
    ]


def round_plots(table: Table) -> list[Markup]:
    """Each measure by rounds, with and without aggregator (Figure 3)."""
    plots = [
        _lines(own, "aggregator", "rounds", key, (f"{title} by round, {name}", "rounds", "share"))
        for (name,), own in grouped(own_rows(table), "data")
        for key, title in _MEASURES
    ]
    return [plot for plot in plots if plot]


def level_plots(table: Table) -> list[Markup]:
    """Exact match of every method by level (Figure 4), one plot per experiment and data set."""
    plots = []
    for (experiment,), every in grouped(own_rows(table), "experiment"):
        title, across = _EXPERIMENTS.get(experiment, (experiment, "level"))
        for (name,), own in grouped(every, "data"):
            titles = (f"{title}, {name}", across, "exact match")
            plots.append(_lines(own, "method", "level", "exact_match", titles))
    return [plot for plot in plots if plot]


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


def _held(config: Mapping[str, Any], own: Sequence[QuestionResult]) -> str:
    """How many questions, and how they were debated."""
    debate = config["debate"]
    told = "aggregator" if debate["history"] == "aggregate" else "other agents"
    return (
        f"{len(own):,} questions; at most {debate['rounds']} rounds, agents hear the {told}, "
        f"replies in {'JSON' if debate['replies'] == 'json' else 'free text'}"
    )
