"""What an evaluation contributes to the report: the paper's tables and figures, for this run."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipelines.conrag.evaluation import figures
from pipelines.conrag.evaluation.hallucination import passage_auc, token_f1
from pipelines.conrag.evaluation.methods import METHODS
from pipelines.conrag.evaluation.result import ClaimResult
from pipelines.evidence.judgement import Relation
from pipelines.metrics.estimate import Estimate
from pipelines.report.curves import STYLE as CURVE_STYLE
from pipelines.report.curves import curve
from pipelines.report.glance import Finding, count, failed, fewest, judges, percent, with_figures
from pipelines.report.page import Section, fragment
from pipelines.report.plots import dots, shares
from pipelines.report.table import MISSING, Table, html

ANCHOR = "conrag"
TITLE = "ConRAG"

FIFTHS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
"""Bins of the conflict score in the figures."""

SMALLEST_BIN = 5
"""Claims that a point of a figure must have behind it."""

_BY_DATA = (("citations", "Citations"), ("hallucination", "Hallucinations"))
"""Tables that not every data set has, and what they are called in the contents."""

_DATA_COMPARED = 4
"""Most sentences of comparison on the first screen."""

Measure = Callable[[Sequence[ClaimResult], str], Estimate | None]
"""Results and a method -> how well it does."""

_HERE = Path(__file__).parent


def section(results: Mapping[str, Sequence[ClaimResult]], made: Sequence[Table]) -> Section:
    """Tables IV to IX of this run, and Figures 2, 3, 5 and 6.

    Args:
        results: Data set -> its results.
        made: The tables of these results, from `tables.all_tables`.
    """
    done = figures.answered(results)
    named = {table.name.removeprefix("conrag_"): table for table in made}
    body = fragment(
        _HERE,
        "page.html.j2",
        anchor=ANCHOR,
        accuracies=[
            dots(
                [
                    (method, figures.stance_accuracy(own, method))
                    for method in figures.shown_methods(own)
                ],
                f"Stance accuracy, {name}",
            )
            for name, own in done.items()
            if any(each.stance for each in own)
        ],
        scores=shares(
            [(name, score_counts(own)) for name, own in done.items()],
            {f"score-{n}": f"{low:g} to {high:g}" for n, (low, high) in enumerate(FIFTHS)},
            "Claims by conflict score",
        ),
        rates=[
            curve(
                [
                    (method, rate_by_score(own, method))
                    for method in ("RelRAG", "NLI-RAG", figures.OURS)
                ],
                f"Contradiction rate by conflict score, {name}",
                "conflict score",
                "contradiction rate",
            )
            for name, own in done.items()
            if not figures.of_responses(own)
        ],
        hallucinations=[
            dots(
                [(method, figure(figures.checked(own, method))) for method in METHODS],
                f"{called}, {name}",
            )
            for name, own in done.items()
            if figures.of_responses(own)
            for called, figure in (("Token F1", token_f1), ("Passage AUC", passage_auc))
        ],
        tables={name: html(table) if table.rows else "" for name, table in named.items()},
    )
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        body=body,
        contents=(
            (f"{ANCHOR}-stance", "Stance and evidence"),
            (f"{ANCHOR}-conflict", "Conflict score"),
            *((f"{ANCHOR}-{name}", title) for name, title in _BY_DATA if named[name].rows),
            (f"{ANCHOR}-ablations", "Ablations"),
            (f"{ANCHOR}-errors", "Errors"),
            (f"{ANCHOR}-failures", "Failures and truncations"),
        ),
        style=(_HERE / "page.css").read_text(encoding="utf-8") + CURVE_STYLE,
    )


def finding(results: figures.Results, configs: Mapping[str, Mapping[str, Any]]) -> Finding:
    """What the page's first screen says: right stances of ConRAG, the simpler methods and Oracle.

    Of data sets with questions, which have no stances, what answers say of what is to be said.

    Args:
        results: Data set -> its results.
        configs: Data set -> its configuration, from `run.json`.
    """
    every = [each for own in results.values() for each in own]
    done = figures.answered(results)
    measured = {name: _measure(own) for name, own in done.items()}
    ours = {name: measure(done[name], figures.OURS) for name, (_, measure) in measured.items()}
    by_what: dict[str, list[tuple[str, Estimate | None]]] = {}
    for name, (what, _) in measured.items():
        by_what.setdefault(what, []).append((f"({name})" if len(done) > 1 else "", ours[name]))
    others = [
        sentence
        for name, (_, measure) in measured.items()
        for sentence in _others(done[name], measure, f" ({name})" if len(done) > 1 else "")
    ]
    unread = sum(Relation.INVALID in each.tags.values() for each in every)
    return Finding(
        experiment=TITLE,
        question="Where passages disagree, is a claim rightly taken for supported or refuted?",
        ran="; ".join(_ran(name, own, configs) for name, own in results.items()),
        by="; ".join(dict.fromkeys(map(_made_by, configs.values()))),
        found=" ".join(f"{what}: {with_figures(own)}." for what, own in by_what.items()) or MISSING,
        beside=" ".join(others[:_DATA_COMPARED]),
        failed=failed(
            (sum(each.status == "failed" for each in every), "claims that failed: {}"),
            (unread, "claims with a passage label that could not be read: {}"),
            (
                sum(figures.unreadable(own, figures.OURS) for own in done.values()),
                "answers that could not be read: {}",
            ),
            (sum(len(each.truncations) for each in every), "passages read only in part: {}"),
        ),
        anchor=ANCHOR,
        examples=fewest(ours.values()),
    )


def _measure(own: Sequence[ClaimResult]) -> tuple[str, Measure]:
    """What a data set is measured by, in words and as a function."""
    if figures.of_questions(own):
        return "Share of what is to be said that ConRAG's answers say", figures.answer_recall
    return (
        "Right verdicts of ConRAG (supported, refuted or not enough information)",
        figures.stance_accuracy,
    )


def _others(own: Sequence[ClaimResult], measure: Measure, where: str) -> list[str]:
    """The best of the simpler methods, and Oracle, on one data set."""
    known = [
        (name, found)
        for name in figures.shown_methods(own)
        if name != figures.OURS and (found := measure(own, name)) is not None
    ]
    simpler = [each for each in known if each[0] != figures.ORACLE]
    said = []
    if simpler:
        best = max(simpler, key=lambda each: each[1].value)
        said.append(f"Best simpler method{where}: {with_figures([best])}.")
    oracle = [each for each in known if each[0] == figures.ORACLE]
    # Of questions there is no telling what every passage really says.
    if oracle and not figures.of_questions(own):
        said.append(f"Knowing what every passage says{where}: {percent(oracle[0][1])}.")
    return said


def _ran(name: str, own: Sequence[ClaimResult], configs: Mapping[str, Mapping[str, Any]]) -> str:
    kind = "question" if figures.of_questions(own) else "claim"
    return f"{count(len(own), kind)}, {configs[name]['data']['name']}"


def _made_by(config: Mapping[str, Any]) -> str:
    written = f"; answers written by {config['writer']['name']}" if "writer" in config else ""
    return f"passages labelled by {judges(config)}{written}"


def score_counts(own: Sequence[ClaimResult]) -> dict[str, int]:
    """Claims in each fifth of the conflict score (Figure 2)."""
    return {
        f"score-{n}": len(figures.in_bin(own, low, high)) for n, (low, high) in enumerate(FIFTHS)
    }


def rate_by_score(own: Sequence[ClaimResult], method: str) -> list[tuple[float, float]]:
    """(middle of a fifth, contradiction rate in it) where enough claims are (Figure 6)."""
    points = []
    for low, high in FIFTHS:
        inside = figures.in_bin(own, low, high)
        rate = figures.contradiction_rate(inside, method)
        if rate is not None and len(inside) >= SMALLEST_BIN:
            points.append(((low + high) / 2, rate.value))
    return points
