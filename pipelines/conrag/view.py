"""ConRAG on the page: the paper's tables and figures for this run, and every claim."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from markupsafe import Markup

from pipelines.conrag import metrics, paper
from pipelines.conrag.blocks import STANCES, VERDICTS, claim_blocks, verdict
from pipelines.conrag.methods import METHODS
from pipelines.conrag.metrics import ORACLE, OURS, Results
from pipelines.conrag.mistakes import CATEGORIES, category
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import all_tables
from pipelines.experiment.publish import Runs
from pipelines.experiment.summary import Figure, Page, Problem, Section, truncations
from pipelines.judge.judgement import Relation
from pipelines.report import glance
from pipelines.report.explorer import Example, Facet
from pipelines.report.plots import Place, curve, plane, shares
from pipelines.report.table import Cell, Table, estimate_of, grouped
from pipelines.report.texts import FAILED, values, words

FIFTHS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
"""Bins of the conflict score in the figures."""

SMALLEST_BIN = 5
"""Fewest claims behind a point of a figure."""


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
            (*(passage.passage.title or "" for passage in result.passages), result.error or "")
        ),
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
    """Number of claims in each fifth of the conflict score (Figure 2)."""
    return {
        f"score-{n}": len(metrics.in_bin(results, low, high))
        for n, (low, high) in enumerate(FIFTHS)
    }


def rate_by_score(results: Sequence[ClaimResult], method: str) -> list[tuple[float, float]]:
    """(middle of a fifth, its contradiction rate) for fifths with enough claims (Figure 6)."""
    points = []
    for low, high in FIFTHS:
        inside = metrics.in_bin(results, low, high)
        rate = metrics.contradiction_rate(inside, method)
        if rate is not None and len(inside) >= SMALLEST_BIN:
            points.append(((low + high) / 2, rate.value))
    return points


IN_ORDER = ("RelRAG", "NLI-RAG", OURS, "CiteRAG", ORACLE)
"""Order of the points, so that a method has the same colour as in Figure 6."""


def citation_plots(table: Table) -> Iterator[Markup]:
    """Citation precision against recall, a plot per data set (Figure 4)."""
    for (name,), rows in grouped(table, "dataset"):
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


def problems(result: ClaimResult) -> Iterator[Problem]:
    """Parts of a claim that failed, could not be read, or were not seen whole."""
    if result.status == "failed":
        yield Problem("failed", result.error or "")
    unreadable = [name for name, tag in result.tags.items() if tag is Relation.INVALID]
    if unreadable:
        yield Problem("unreadable labels", ", ".join(unreadable))
    for method, outcome in result.outcomes.items():
        if outcome.problem is not None:
            yield Problem(f"unreadable answer, {method}", outcome.problem)
    if result.question is not None and result.question.problem is not None:
        yield Problem("first answer", result.question.problem)
    if result.question is not None and result.question.cut:
        yield Problem("first answer cut", " ".join(result.question.first_answer))
    yield from truncations(result.truncations)
    if result.judged is not None:
        yield from truncations(result.judged.truncations)
        if result.judged.unreadable:
            yield Problem("unreadable labels of answers", str(result.judged.unreadable))


def _tables(runs: Runs[ClaimResult]) -> list[Table]:
    bad = runs.noted("skipped", list)
    configs = {
        run: config | {"skipped": len(bad.get(config["data"]["name"], ()))}
        for run, config in runs.configs.items()
    }
    return all_tables(runs.results, configs)


def _notes(runs: Runs[ClaimResult]) -> Iterator[str]:
    """A note per data set on where its passages come from."""
    where = {"own": "its own passages", "all": "all passages"}
    for run, config in runs.configs.items():
        half = "" if config["half"] == "all" else f", {config['half']} half"
        searched = config["retrieval"]
        yield f"{run}{half}: {searched['method']} in {where[searched['among']]}."


BASELINES: Final = tuple(method for method in METHODS if method not in (OURS, ORACLE))

PAGE: Final = Page(
    question="Where passages disagree, is the stance on a claim right?",
    tables=_tables,
    figures=(
        *(
            Figure(table, value, "method", said, ("dataset",), (OURS,), BASELINES)
            for table, value, said in (
                ("conrag_stance", "accuracy", "Correct stances"),
                ("conrag_citations", "answer_recall", "Gold answers said"),
            )
        ),
        Figure(
            *("conrag_hallucination", "token_f1", "method"),
            group=("dataset",),
            also=("passage_auc",),
        ),
    ),
    example=_example,
    problems=problems,
    failures="conrag_failures",
    sections=(
        Section(
            "Stance and evidence",
            ("conrag_stance", "conrag_paired"),
            "Do the retrieved passages support or refute a claim? ConRAG tags all passages, "
            "shows both sides where they are balanced, and cites its sentences; the other "
            "methods leave parts out. Oracle knows the labels of passages.",
        ),
        Section(
            "Conflict score",
            ("conrag_conflict_bins",),
            "κ is 0 where one side is absent and 1 where both are balanced. Does a method "
            "contradict its evidence more often where the evidence disagrees?",
            lambda runs, _: conflict_plots(metrics.answered(runs.results)),
        ),
        Section(
            "Citations",
            ("conrag_citations",),
            "Do citations support their sentences (precision), and are sentences supported "
            "(recall)? Hollow points are the paper's, for ALCE.",
            lambda _, tables: citation_plots(tables["conrag_citations"]),
        ),
        Section(
            "Hallucinations",
            ("conrag_hallucination",),
            "Which sentences of a response does its source not support? Sentences are checked as "
            "claims, and flagged if unsupported. Oracle flags those that people marked.",
        ),
        Section("Ablations", ("conrag_ablations",), "ConRAG without one of its parts."),
        Section("Data", ("conrag_data",), "The data of this run, beside the paper's."),
        Section("Errors", ("conrag_errors",), "Filter the claims by these categories."),
    ),
    facets=(
        Facet("Stance", words(VERDICTS), METHODS),
        Facet("Gold stance", (*(chip.text for chip in STANCES.values()), "not known")),
        Facet("Evidence", ("disputed", "not disputed")),
        Facet("Error of ConRAG", CATEGORIES),
    ),
    notes=_notes,
)
