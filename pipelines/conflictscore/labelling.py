"""Who made the judgements of a run, and what the tagger saved."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any

from markupsafe import Markup

from nli.risk import RiskPoint
from pipelines.conflictscore.result import Result
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.risk import ChosenThreshold, agreement, risk_bound, thinned
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.proportion import proportion
from pipelines.report.plots import curve
from pipelines.report.table import Column, Measure, Table

ROWS_OF_CURVE = 25
"""Thresholds of a cascade that the table lists."""


def label_columns(counts: Callable[[Any], Counter[Relation]]) -> list[Column[Any]]:
    """A column for each label that a labeller may give, by how often it gave it."""

    def column(label: Relation) -> Column[Any]:
        return Column(label.lower(), label.capitalize(), lambda item: counts(item)[label])

    return [column(label) for label in Relation]


def labellers(results: Sequence[Result]) -> Table:
    """Who gave the labels: judgements by source, with what each gave."""
    every = _judged(results)
    by_source: dict[str, list[Judgement]] = {}
    for judgement in every:
        by_source.setdefault(judgement.source, []).append(judgement)

    def mean_probability(judged: Sequence[Judgement]) -> float | None:
        found = [each.confidence for each in judged if each.confidence is not None]
        return fmean(found) if found else None

    return Table.of(
        [by_source[source] for source in sorted(by_source)],
        name="labellers",
        title="Labellers",
        caption="Judgements of (claim, document) pairs by who made them.",
        columns=[
            Column("labeller", "Labeller", lambda judged: judged[0].source),
            Column("judgements", "Judgements", len),
            Measure("share", "Share", lambda judged: proportion(len(judged), len(every))),
            *label_columns(lambda judged: Counter(each.relation for each in judged)),
            Column("probability", "Mean probability of the label", mean_probability),
        ],
        notes=(
            "llm-…: a language model, and how it was asked. nli: the NLI tagger. cascade-nli: the "
            "tagger, sure enough; cascade-llm: the language model, where the tagger was not.",
        ),
    )


def cascade(chosen: ChosenThreshold, results: Sequence[Result]) -> Table:
    """What each threshold of a cascade would keep and how often that would be wrong.

    The results of the run add the share of calls that it saved.
    """
    saved = saved_share(_judged(results))
    pairs = chosen.curve.pairs
    notes = [
        f"Counted on {pairs:,} calibration pairs"
        + (f" ({chosen.fitted_on})." if chosen.fitted_on else "."),
        "Risk: the share of all pairs that keep a wrong label. The threshold is the smallest whose "
        f"bound, n/(n+1) risk + 1/(n+1), is at most the risk asked for, {chosen.risk:g} (conformal "
        "risk control). It holds for pairs like the calibration pairs; of others nothing is "
        "promised.",
        f"In this run {saved.value:.1%} of {saved.n:,} judgements kept the tagger's label."
        if saved
        else "This run has no judgement.",
    ]
    if chosen.reason:
        notes.append(f"No threshold was chosen and every pair was asked: {chosen.reason}.")
    return Table.of(
        thinned(chosen.curve, ROWS_OF_CURVE, chosen.threshold).points,
        name="cascade",
        title="Calls saved against agreement",
        caption="On calibration pairs with gold labels, by how sure the tagger must be.",
        columns=[
            Column("threshold", "Threshold", lambda point: f"{point.threshold:.4f}"),
            Column(
                "chosen",
                "Chosen",
                lambda point: "chosen" if point.threshold == chosen.threshold else "",
            ),
            Measure("kept", "Kept (calls saved)", lambda point: proportion(point.kept, pairs)),
            Measure(
                "agreement",
                "Kept labels that agree with gold",
                lambda point: proportion(point.kept - point.wrong, point.kept),
            ),
            Measure("risk", "Risk", lambda point: proportion(point.wrong, pairs)),
            Column("bound", "Bound", lambda point: risk_bound(point.wrong / pairs, pairs)),
        ],
        notes=notes,
    )


def saved_share(judged: Iterable[Judgement]) -> Estimate | None:
    """Share of judgements by tagger and model for which the model was not asked.

    None where nothing was judged by both, as in a run of either alone.
    """
    sources = Counter(judgement.source for judgement in judged)
    saved = sources["cascade-nli"]
    return proportion(saved, saved + sources["cascade-llm"])


def _judged(results: Sequence[Result]) -> list[Judgement]:
    return [judgement for result in results for judgement in result.judgements]


def tradeoff(chosen: ChosenThreshold, results: Sequence[Result]) -> Markup:
    """Calls that a cascade saves against how often the labels it keeps agree with gold.

    The line is counted on the calibration pairs; the upright one is what this run saved.
    """
    counted, saved = chosen.curve, saved_share(_judged(results))

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
