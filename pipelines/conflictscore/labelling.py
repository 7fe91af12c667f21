"""Who made the judgements of a run, and what a cascade saved: tables and plot."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from markupsafe import Markup

from nli.risk import RiskPoint
from pipelines.conflictscore.result import Result
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.risk import (
    ChosenThreshold,
    agreement,
    empirical_risk,
    risk_bound,
    thinned,
)
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.proportion import proportion
from pipelines.report.plots import curve
from pipelines.report.table import Column, Row, Table

ROWS_OF_CURVE = 25
"""Thresholds of a cascade that the table lists."""


def labellers(results: Sequence[Result]) -> Table:
    """Who gave the labels: judgements by source, with what each gave."""
    by_source: dict[str, list[Judgement]] = {}
    for result in results:
        for judgement in result.judgements:
            by_source.setdefault(judgement.source, []).append(judgement)
    total = sum(map(len, by_source.values()))
    rows: list[Row] = []
    for source in sorted(by_source):
        judged = by_source[source]
        counts = Counter(judgement.relation for judgement in judged)
        sure = [
            judgement.probabilities[judgement.relation]
            for judgement in judged
            if judgement.probabilities
        ]
        rows.append(
            (
                source,
                len(judged),
                proportion(len(judged), total),
                *(counts[relation] for relation in Relation),
                fmean(sure) if sure else None,
            )
        )
    return Table(
        name="labellers",
        title="Labellers",
        caption="Judgements of (claim, document) pairs by who made them.",
        columns=(
            Column("labeller", "Labeller"),
            Column("judgements", "Judgements"),
            Column("share", "Share", interval=True),
            *(Column(relation.lower(), relation.capitalize()) for relation in Relation),
            Column("probability", "Mean probability of the label"),
        ),
        rows=tuple(rows),
        notes=(
            "llm-…: a language model, and how it was asked. nli: the NLI tagger. cascade-nli: the "
            "tagger, sure enough; cascade-llm: the language model, where the tagger was not.",
        ),
    )


def cascade(chosen: ChosenThreshold, results: Sequence[Result]) -> Table:
    """What each threshold of a cascade would keep and how often that would be wrong.

    Args:
        chosen: The cascade's threshold with the curve that it comes from.
        results: Of this run; they add the share of calls that it saved.
    """
    counted = chosen.curve
    rows: list[Row] = []
    for point in thinned(counted, ROWS_OF_CURVE, chosen.threshold).points:
        rows.append(
            (
                f"{point.threshold:.4f}",
                "chosen" if point.threshold == chosen.threshold else "",
                proportion(point.kept, counted.pairs),
                proportion(point.kept - point.wrong, point.kept),
                proportion(point.wrong, counted.pairs),
                risk_bound(empirical_risk(counted, point), counted.pairs),
            )
        )
    saved = saved_share(results)
    said = (
        f"In this run {saved.value:.1%} of {saved.n:,} judgements kept the tagger's label."
        if saved
        else "This run has no judgement."
    )
    notes = [
        f"Counted on {counted.pairs:,} calibration pairs"
        + (f" ({chosen.fitted_on})." if chosen.fitted_on else "."),
        "Risk: the share of all pairs that keep a wrong label. The threshold is the smallest whose "
        f"bound, n/(n+1) risk + 1/(n+1), is at most the risk asked for, {chosen.risk:g} (conformal "
        "risk control). It holds for pairs like the calibration pairs; of others nothing is "
        "promised.",
        said,
    ]
    if chosen.reason:
        notes.append(f"No threshold was chosen and every pair was asked: {chosen.reason}.")
    return Table(
        name="cascade",
        title="Calls saved against agreement",
        caption="On calibration pairs with gold labels, by how sure the tagger must be.",
        columns=(
            Column("threshold", "Threshold"),
            Column("chosen", "Chosen"),
            Column("kept", "Kept (calls saved)", interval=True),
            Column("agreement", "Kept labels that agree with gold", interval=True),
            Column("risk", "Risk", interval=True),
            Column("bound", "Bound"),
        ),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def saved_share(results: Sequence[Result]) -> Estimate | None:
    """Share of a cascade's judgements for which no language model was asked."""
    sources = Counter(judgement.source for result in results for judgement in result.judgements)
    kept = sources["cascade-nli"]
    return proportion(kept, kept + sources["cascade-llm"])


def tradeoff(chosen: ChosenThreshold, results: Sequence[Result]) -> Markup:
    """Calls that a cascade saves against how often the labels it keeps agree with gold.

    The line is counted on the calibration pairs, with the chosen threshold on it; the upright line
    is what this run saved.
    """
    counted, saved = chosen.curve, saved_share(results)

    def place(point: RiskPoint) -> list[tuple[float, float]]:
        agreeing = agreement(point)
        return [] if agreeing is None else [(100 * point.kept / counted.pairs, agreeing)]

    points = thinned(counted, ROWS_OF_CURVE, chosen.threshold).points
    line = [each for point in reversed(points) for each in place(point)]
    series = [("calibration pairs", line)]
    if saved is not None:
        series.append(("saved in this run", [(100 * saved.value, 0.0), (100 * saved.value, 1.0)]))
    # The last one is drawn on top.
    series.append((f"chosen for a risk of {chosen.risk:g}", place(chosen.point)))
    return curve(series, "Calls saved against agreement", "% of calls saved", "agreement with gold")
