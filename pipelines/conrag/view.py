"""What ConRAG puts on the page: the paper's tables and figures for this run, and every claim."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from pipelines.conrag import metrics, paper
from pipelines.conrag.answer import Answer
from pipelines.conrag.blocks import STANCES, VERDICTS, answer_blocks, claim_blocks, verdict
from pipelines.conrag.citations import judge_told
from pipelines.conrag.errors import CATEGORIES, category
from pipelines.conrag.methods import METHODS
from pipelines.conrag.metrics import ORACLE, OURS, RECALL, STANCE, Results
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import Line
from pipelines.judge.judgement import Relation
from pipelines.metrics.estimate import Estimate
from pipelines.report import explorer, glance
from pipelines.report.explorer import Example, ExperimentView, Facet, single
from pipelines.report.plots import Place, curve, plane, shares
from pipelines.report.table import MISSING, Cell, Table, estimate_of, grouped, own_rows
from pipelines.report.views import FAILED, dot_plots, failures_part, links, listed, values, words

NAME = "conrag"
TITLE = "ConRAG"

FIFTHS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
"""Bins of the conflict score in the figures."""

SMALLEST_BIN = 5
"""Claims that a point of a figure must have behind it."""


def view(
    results: Results, made: Sequence[Table], configs: Mapping[str, Mapping[str, Any]]
) -> ExperimentView:
    """Tables I and IV to IX of this run, Figures 2 to 6, and every claim.

    Results and configurations of `run.json` are by data set; `made` is of `tables.all_tables`.
    """
    nouns = {_noun(claims) for claims in results.values() if claims}
    noun = nouns.pop() if len(nouns) == 1 else "claim"
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, configs),
        parts=_parts(results, made),
        facets=(
            Facet("Stance", words(VERDICTS), METHODS),
            Facet("Gold stance", (*(chip.text for chip in STANCES.values()), "not known")),
            Facet("Evidence", ("disputed", "not disputed")),
            Facet("Error of ConRAG", CATEGORIES),
        ),
        runs={name: name for name in results},
        noun=(noun, f"{noun}s"),
        models=(*glance.judge_models(*configs.values()), *_citation_judges(configs)),
        facts=tuple((name, _how(config, results[name])) for name, config in configs.items()),
        **listed(results, _example),
    )


def answer_view(answer: Answer, models: Sequence[glance.ModelUsed] = ()) -> ExperimentView:
    """The page of one answer."""
    return single(NAME, answer.query, answer_blocks(answer), models)


def finding(results: Results, configs: Mapping[str, Mapping[str, Any]]) -> glance.Finding:
    """What the page's first screen says: right stances of ConRAG beside the best simpler method.

    Of data sets with questions, which have no stances, what answers say of what is to be said.
    """
    every = [result for claims in results.values() for result in claims]
    done = metrics.answered(results)
    ours: list[tuple[str, Estimate | None]] = []
    simpler: list[tuple[str, Estimate]] = []
    told: list[str] = []
    for name, claims in done.items():
        metric = RECALL if metrics.of_questions(claims) else STANCE
        where = f" ({name})" if len(done) > 1 else ""
        reached = {method: metric.of(Line(name, method, claims)) for method in METHODS}
        ours.append((f"{OURS}{where}", reached[OURS]))
        told.append(f"{metric.title}: {OURS}{where} {glance.percent(reached[OURS])}.")
        others = [
            (f"{method}{where}", value)
            for method, value in reached.items()
            if method not in (OURS, ORACLE) and value is not None
        ]
        if others:
            simpler.append(max(others, key=lambda one: one[1].value))
    return glance.Finding(
        question="Where passages disagree, is a claim rightly taken for supported or refuted?",
        data="; ".join(
            f"{glance.count(len(claims), _noun(claims))}, {configs[name]['data']['name']}"
            for name, claims in results.items()
        ),
        models="; ".join(dict.fromkeys(map(_made_by, configs.values()))),
        found=" ".join(told) or MISSING,
        beside=f"Best simpler method: {glance.with_figures(simpler)}." if simpler else "",
        failed=glance.failed(
            (sum(result.status == "failed" for result in every), "claims that failed: {}"),
            (
                sum(Relation.INVALID in result.tags.values() for result in every),
                "claims with a passage label that could not be read: {}",
            ),
            (
                sum(metrics.unreadable(claims, OURS) for claims in done.values()),
                "answers that could not be read: {}",
            ),
            (
                sum(len(result.truncations) for result in every),
                "passages read only in part: {}",
            ),
        ),
        examples=glance.fewest(value for _, value in ours),
        figures=ours,
        baselines=simpler,
    )


def _made_by(config: Mapping[str, Any]) -> str:
    parts = [f"passages labelled by {glance.judges(config)}"]
    if "writer" in config:
        parts.append(f"answers written by {config['writer']['name']}")
    return "; ".join(filter(None, (*parts, judge_told(config))))


def _citation_judges(configs: Mapping[str, Mapping[str, Any]]) -> tuple[glance.ModelUsed, ...]:
    judges = (config["citations"]["model"] for config in configs.values() if "citations" in config)
    models = (glance.ModelUsed("judges citations", one["name"], one["digest"]) for one in judges)
    return tuple(dict.fromkeys(models))


def _noun(results: Sequence[ClaimResult]) -> str:
    return "question" if metrics.of_questions(results) else "claim"


def _how(config: Mapping[str, Any], results: Sequence[ClaimResult]) -> str:
    """Data and retrieval of an evaluation."""
    half = "" if config["half"] == "all" else f", {config['half']} half"
    searched = config["retrieval"]
    where = {"own": "its own passages", "all": "all passages", "wiki": "all of Wikipedia"}
    data = f"{config['data']['name']} ({glance.count(len(results), _noun(results))}{half})"
    return f"{data}, {searched['method']} in {where[searched['among']]}"


def _example(run: str, result: ClaimResult) -> Example:
    answered = result.status == "answered"
    marks = {
        name: mark for name in metrics.shown_methods([result]) if (mark := verdict(result, name))
    }
    wrong = category(result, OURS) if answered else None
    figures: dict[str, float | None] = {"κ": result.kappa} if answered else {}
    if result.question and answered:
        figures["said"] = result.question.worth[OURS].recall
    return Example(
        id=result.id,
        run=run,
        title=result.claim,
        status=result.status,
        blocks=partial(claim_blocks, result),
        about=(glance.count(len(result.passages), "passage"),),
        chips=tuple(mark.on(name) for name, mark in marks.items()) if answered else (FAILED,),
        facets={
            "Stance": values(marks),
            "Gold stance": [STANCES[result.stance].text if result.stance else "not known"],
            "Evidence": {True: ["disputed"], False: ["not disputed"], None: []}[result.disputed],
            "Error of ConRAG": [wrong] if wrong else [],
        },
        figures=figures,
        words="\n".join(
            (*(one.passage.title or "" for one in result.passages), result.error or "")
        ),
    )


def _parts(results: Results, made: Sequence[Table]) -> tuple[explorer.Part, ...]:
    done = metrics.answered(results)
    named = {table.name.removeprefix("conrag_"): table for table in made}
    leading = links(NAME, results)
    hallucination = {"token_f1": "Token F1, {}", "passage_auc": "Passage AUC, {}"}
    shown = (
        explorer.Part(
            "Stance and evidence",
            (named["stance"], named["paired"]),
            dot_plots(named["stance"], "dataset", "method", {"accuracy": "Stance accuracy, {}"}),
            "Is a claim supported or refuted by what was retrieved for it? ConRAG tags every "
            "passage, shows both sides where they are balanced, and cites what it says; the "
            "others do with less. Oracle knows what every passage says.",
        ),
        explorer.Part(
            "Conflict score",
            (named["conflict_bins"],),
            tuple(conflict_plots(done)),
            "κ is 0 where one side is absent and 1 where both are balanced. Does a method "
            "contradict its evidence more often where the evidence disagrees?",
        ),
        explorer.Part(
            "Citations",
            (named["citations"],),
            tuple(citation_plots(named["citations"])),
            "Do citations bear out what is said (precision), and is what is said borne out "
            "(recall)? Hollow points are the paper's, of ALCE.",
        ),
        explorer.Part(
            "Hallucinations",
            (named["hallucination"],),
            dot_plots(named["hallucination"], "dataset", "method", hallucination),
            "Which sentences of a response does its source not bear out? Each is checked as a "
            "claim, and flagged where it is not found to be supported. Oracle flags what people "
            "marked.",
        ),
        explorer.Part("Ablations", (named["ablations"],), intro="ConRAG with one part removed."),
        explorer.Part("Data", (named["data"],), intro="What was run, beside the paper's data."),
        explorer.Part("Errors", (named["errors"],), intro="Filter the claims by these categories."),
    )
    every = "every claim was judged, every label could be read, and every text was seen whole"
    return (
        *(part for part in shown if any(table.rows for table in part.tables)),
        failures_part(named["failures"], every, leading, ("dataset", "claim")),
    )


def conflict_plots(done: Results) -> Iterator[Markup]:
    """Conflict scores (Figure 2), and contradiction rates by them (Figure 6)."""
    yield shares(
        [(name, score_counts(claims)) for name, claims in done.items()],
        {f"score-{n}": f"{low:g} to {high:g}" for n, (low, high) in enumerate(FIFTHS)},
        "Claims by conflict score",
    )
    for name, claims in done.items():
        if metrics.labelled(claims):
            rates = [
                (method, rate_by_score(claims, method)) for method in ("RelRAG", "NLI-RAG", OURS)
            ]
            title = f"Contradiction rate by conflict score, {name}"
            yield curve(rates, title, "conflict score", "contradiction rate")


def score_counts(results: Sequence[ClaimResult]) -> dict[str, int]:
    """Claims in each fifth of the conflict score (Figure 2)."""
    return {
        f"score-{n}": len(metrics.in_bin(results, low, high))
        for n, (low, high) in enumerate(FIFTHS)
    }


def rate_by_score(results: Sequence[ClaimResult], method: str) -> list[tuple[float, float]]:
    """(middle of a fifth, contradiction rate in it) where enough claims are (Figure 6)."""
    points = []
    for low, high in FIFTHS:
        inside = metrics.in_bin(results, low, high)
        rate = metrics.contradiction_rate(inside, method)
        if rate is not None and len(inside) >= SMALLEST_BIN:
            points.append(((low + high) / 2, rate.value))
    return points


IN_ORDER = ("RelRAG", "NLI-RAG", OURS, "CiteRAG", ORACLE)
"""Of the points, so that a method has the colour that it has in Figure 6."""


def citation_plots(table: Table) -> Iterator[Markup]:
    """Citation precision against recall, a drawing per data set (Figure 4)."""
    for (name,), rows in grouped(own_rows(table), "dataset"):
        methods = {str(row["method"]): row for row in rows}
        points = {
            method: [place] for method in IN_ORDER if (place := _point(method, methods[method]))
        }
        quoted = {
            str(row["method"]): row for row in paper.TABLE_V if str(row["dataset"]).lower() == name
        }
        beside = {
            method: place
            for method in points
            if method in quoted and (place := _point(f"{method}, paper", quoted[method]))
        }
        if points:
            yield plane(
                points, f"Citations, {name}", ("citation recall", "citation precision"), beside
            )


def _point(told: str, row: Mapping[str, Cell]) -> Place | None:
    """A row of Table V as a point of Figure 4."""
    precision, recall = estimate_of(row["precision"]), estimate_of(row["recall"])
    return Place(recall.value, precision.value, told) if precision and recall else None
