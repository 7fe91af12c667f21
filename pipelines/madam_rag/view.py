"""What MADAM-RAG puts on the page: tables, figures, and every debate to read."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from pipelines.madam_rag.blocks import NOT_RIGHT, VERDICTS, content
from pipelines.madam_rag.methods import CONCATENATED, MADAM, NO_RAG, QuestionResult
from pipelines.madam_rag.metrics import (
    ANSWERS,
    EXACT,
    Answers,
    Part,
    Results,
    parts,
    shown_methods,
    verdict,
)
from pipelines.metrics.estimate import Estimate
from pipelines.report import explorer, glance
from pipelines.report.explorer import Example, ExperimentView, Facet, address
from pipelines.report.plots import curve, histogram
from pipelines.report.table import MISSING, Cell, Table, called, estimate_of, grouped, own_rows
from pipelines.report.views import (
    FAILED,
    RIGHT,
    dot_plots,
    failures_part,
    listed,
    named,
    picked,
    values,
    words,
)

NAME = "madam-rag"
TITLE = "MADAM-RAG"

_EXPERIMENTS: Final = {
    "support": ("Imbalance", "documents for the other answer"),
    "misinformation": ("Misinformation", "documents with misinformation"),
}
_REPLIES: Final = {
    "json": "JSON",
    "text": "free text",
    "released": "free text, asked for and cut as the released code does",
}
_ALONE, _MISSED = "right, where another is not", "not right, where another is"


def view(
    results: Results, made: Sequence[Table], configs: Mapping[str, Mapping[str, Any]]
) -> ExperimentView:
    """Table 1, Figures 3 and 4, and the debates of the runs in a folder.

    Results and configurations of `run.json` are by the name of a run: a data set, with its
    experiment where there is one. `made` is of `tables.all_tables`.
    """
    methods = tuple(shown_methods([each for own in results.values() for each in own]))
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, configs),
        parts=_parts(results, made),
        facets=(
            Facet("Verdict", (*words(VERDICTS.values()), _ALONE, _MISSED), methods),
            Facet("Right answers", ("several", "one", "not known")),
            Facet("Level", tuple(map(str, range(20)))),
        ),
        runs={run: _title(run, own) for run, own in results.items()},
        noun=("question", "questions"),
        models=glance.models_used(configs.values(), {"model": "agents and baselines"}),
        facts=tuple(
            (_title(run, results[run]), f"{config['data']['name']} ({_held(config, results[run])})")
            for run, config in configs.items()
        ),
        **listed(results, partial(_example, methods)),
    )


def question_view(
    result: QuestionResult, models: Sequence[glance.ModelUsed] = ()
) -> ExperimentView:
    """The page of one question that was debated."""
    example = _example([*result.outcomes], "", result)
    return ExperimentView(NAME, "The debate", examples=(example,), models=tuple(models))


def finding(results: Results, configs: Mapping[str, Mapping[str, Any]]) -> glance.Finding:
    """What the page's first screen says: exact match of MADAM-RAG beside simpler methods.

    Runs that vary something are left to their section where there is one of all methods.
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
    return glance.Finding(
        question="Do agents that debate their documents find every right answer and no wrong one?",
        data=glance.data_of(results, configs, "question"),
        models=glance.joined(_made_by(config) for config in configs.values()),
        found=f"Questions that MADAM-RAG answers with every right answer and no wrong one: "
        f"{glance.with_figures(figures_of) or MISSING}.",
        beside=f"{glance.with_figures(simpler)}." if simpler else "",
        failed=glance.failed(
            (gone, "questions that failed: {}"),
            (lost, f"replies of all methods that could not be read: {{}} of {len(outcomes):,}"),
        ),
        examples=glance.fewest(each for _, each in ours),
        figures=tuple((MADAM if len(ours) == 1 else name, each) for name, each in ours),
        baselines=tuple(simpler),
    )


def _example(methods: Sequence[str], run: str, result: QuestionResult) -> Example:
    asked = result.asked
    judged = {method: VERDICTS[worth] for method in methods if (worth := verdict(result, method))}
    told = values(judged)
    if {RIGHT, NOT_RIGHT} <= {*judged.values()}:
        apart = {RIGHT: _ALONE, NOT_RIGHT: _MISSED}
        told += [f"{name}: {apart[worth]}" for name, worth in judged.items() if worth in apart]
    known = {0: "not known", 1: "one"}
    names = (name for names in asked.gold for name in names)
    return Example(
        id=result.id,
        run=run,
        title=asked.question,
        status=result.status,
        blocks=partial(content, result),
        about=(glance.count(len(asked.documents), "document"),),
        chips=tuple(worth.on(method) for method, worth in judged.items()) or (FAILED,),
        facets={
            "Verdict": told,
            "Right answers": [known.get(len(asked.gold), "several")],
            "Level": [] if asked.level is None else [str(asked.level)],
        },
        words="\n".join((*names, *asked.wrong, result.error or "")),
    )


def _title(run: str, own: Sequence[QuestionResult]) -> str:
    """A run as people call it: "RAMDocs", "RAMDocs, support"."""
    part = next(iter(parts({run: own[:1]}, {})), None)
    if part is None:
        return run
    return part.data if part.experiment is None else f"{part.data}, {part.experiment}"


def _parts(results: Results, made: Sequence[Table]) -> tuple[explorer.Part, ...]:
    tables = named(made, "madam_")
    links = {
        called(part.title, each.id): address(NAME, run, each.id)
        for run, own in results.items()
        for part in parts({run: own}, {})
        for each in part.results
    }
    found = (
        explorer.Part(
            "Results",
            picked(tables, "methods comparisons"),
            dot_plots(tables.get("methods"), "data", "method", {"exact_match": "Exact match, {}"}),
            "A question has several right answers, one, or wrong ones that its documents spread. "
            "It is answered exactly where every right answer is given and no wrong one.",
        ),
        explorer.Part(
            "Rounds and the aggregator",
            picked(tables, "rounds"),
            tuple(round_plots(tables.get("rounds"))),
            "What the same debates had concluded after each round; without an aggregator, what the "
            "agents answer between them. Lines are with the aggregator and without.",
        ),
        explorer.Part(
            "Imbalance and misinformation",
            picked(tables, "levels drops"),
            tuple(level_plots(tables.get("levels"))),
            "The same questions with more and more documents for one of their answers, or with "
            "more and more misinformation.",
        ),
        explorer.Part("Agents", picked(tables, "debates")),
        explorer.Part(
            "The data",
            picked(tables, "statistics distributions"),
            tuple(number_plots(tables.get("statistics"), tables.get("distributions"))),
            "What questions of the file have, beside the averages of the paper's Figure 5.",
        ),
    )
    whole = (
        "every question was answered by every method. How many replies of agents could not be "
        "read stands under “How debates went”"
    )
    at = ("data", "question")
    return (
        *(part for part in found if part.tables),
        failures_part(tables.get("failures"), whole, links, at, "Failures"),
    )


def _exact(part: Part, method: str) -> Estimate | None:
    return EXACT.of(Answers(part, method))


def _made_by(config: Mapping[str, Any]) -> str:
    """Which model wrote."""
    return f"all answers written by {config['model']['name']}"


def round_plots(table: Table | None) -> Iterator[Markup]:
    """Each measure by rounds, with and without aggregator (Figure 3)."""
    for (name,), own in grouped(own_rows(table), "data") if table else ():
        for metric in ANSWERS:
            titles = (f"{metric.title} by round, {name}", "rounds", "share")
            yield from _lines(own, "aggregator", "rounds", metric.key, titles)


def level_plots(table: Table | None) -> Iterator[Markup]:
    """Exact match of every method by level (Figure 4), one plot per experiment and data set."""
    for (experiment,), every in grouped(own_rows(table), "experiment") if table else ():
        title, across = _EXPERIMENTS.get(experiment, (experiment, "level"))
        for (name,), own in grouped(every, "data"):
            titles = (f"{title}, {name}", across, "exact match")
            yield from _lines(own, "method", "level", "exact_match", titles)


def number_plots(averages: Table | None, distributions: Table | None) -> Iterator[Markup]:
    """How many questions have so many documents and answers (Figure 5), beside the averages."""
    rows = [*own_rows(distributions)] if distributions else []
    for row in own_rows(averages) if averages else ():
        name, mean = str(row["name"]), estimate_of(row["estimate"])
        key = name.replace(" ", "_")
        counts = {
            float(str(each["number"])): n for each in rows if isinstance(n := each.get(key), int)
        }
        if counts and mean is not None:
            marks = [("here", mean.value), ("paper", row["paper"])]
            yield histogram(
                counts,
                name.capitalize(),
                "per question",
                "questions",
                [(f"{place} {at:.2f}", at) for place, at in marks if isinstance(at, float)],
                wide=0.5 if " per " in name else 1.0,
            )


def _lines(
    rows: Sequence[dict[str, Cell]],
    series: str,
    across: str,
    up: str,
    titles: tuple[str, str, str],
) -> Iterator[Markup]:
    """One line per value of the column `series`, through the values of `up`; no plot without any.

    Titles are those of the plot and of its axes.
    """
    lines: dict[str, list[tuple[float, float]]] = {}
    steps = set()
    for row in rows:
        place, estimate = row[across], estimate_of(row[up])
        if isinstance(place, int) and estimate is not None:
            steps.add(place)
            lines.setdefault(str(row[series]), []).append((place, estimate.value))
    if lines:
        yield curve([*lines.items()], *titles, steps=sorted(steps))


def _held(config: Mapping[str, Any], own: Sequence[QuestionResult]) -> str:
    """How many questions, and how they were debated."""
    debate = config["debate"]
    told = "aggregator" if debate["history"] == "aggregate" else "other agents"
    return (
        f"{len(own):,} questions; at most {debate['rounds']} rounds, agents hear the {told}, "
        f"replies in {_REPLIES[debate['replies']]}"
    )
