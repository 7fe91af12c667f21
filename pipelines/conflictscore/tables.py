"""The tables of a ConflictScore run."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from nli.risk import RiskPoint
from pipelines.conflictscore import paper
from pipelines.conflictscore.pipeline import decided_claims, relations_by_claim
from pipelines.conflictscore.result import MEASURES, Result
from pipelines.data.jsonl import Skipped
from pipelines.judge.judgement import Judgement, Relation
from pipelines.judge.risk import ChosenThreshold, agreement, risk_bound, thinned
from pipelines.metrics.calibration import low_label_mass, mean_label_mass
from pipelines.metrics.estimate import Estimate, mean, paired_difference, proportion, share
from pipelines.report.failures import Failure
from pipelines.report.failures import failures as failure_table
from pipelines.report.plots import curve
from pipelines.report.table import Column, Measure, Table, quote
from pipelines.report.texts import one_line

ROWS_OF_CURVE = 25
"""Thresholds of a cascade that the table lists."""


def label_columns(counts: Callable[[Any], Counter[Relation]]) -> list[Column[Any]]:
    """A column for each label that a judge may give, by how often it gave it."""

    def column(label: Relation) -> Column[Any]:
        return Column(label.lower(), label.capitalize(), lambda item: counts(item)[label])

    return [column(label) for label in Relation]


def judges(results: Sequence[Result]) -> Table:
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
        name="judges",
        title="Judges",
        caption="Judgements of (claim, document) pairs by who made them.",
        columns=[
            Column("judge", "Judge", lambda judged: judged[0].source),
            Column("judgements", "Judgements", len),
            Measure("share", "Share", lambda judged: proportion(len(judged), len(every))),
            *label_columns(lambda judged: Counter(each.relation for each in judged)),
            Column("probability", "Mean probability of the label", mean_probability),
        ],
        notes=(
            "model-…: a language model, and how it was asked. tagger: the NLI tagger. "
            "cascade-tagger: the tagger, sure enough; cascade-model: the language model, where the "
            "tagger was not.",
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
    saved = sources["cascade-tagger"]
    return proportion(saved, saved + sources["cascade-model"])


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


TABLE_3: Final = quote(
    "variant model cs_c cs_r",
    *paper.TABLE_3,
    data="ConflictingQA (100 items)",
    source="paper, Table 3",
    responses=100,
)
"""Figures of the paper."""

ABOUT_SCORES: Final = (
    "CS-C and CS-R: lower is better. Supported by any: the share of claims that some document "
    "supports, whatever others say, as metrics of factuality count (Figure 2). Evidence: the "
    "share of claims that some document supports or contradicts; the other scores rest on these. "
    "Both sides: how well the response backs the side that it backs least; higher is better.",
    "Without evidence: responses on which no document takes a side. Unless counted as 0 "
    "(--unevidenced zero), they have no CS-C and CS-R and are in no mean of them.",
)

_EXCERPT = 300


class Group(NamedTuple):
    """The responses of a variant, or all of them."""

    name: str
    results: Sequence[Result]


VARIANT: Final = Column[Group]("variant", "Variant", lambda group: group.name)


def score_columns(estimate: Callable[..., Estimate | None]) -> list[Measure[Any]]:
    """A column for each of `MEASURES`, by the estimate of a row and a `measure`."""
    return [
        Measure(name, title, partial(estimate, measure=name)) for name, title in MEASURES.items()
    ]


def scores(results: Sequence[Result], model: str, data: str) -> Table:
    """`MEASURES` per variant and over all responses, with the paper's figures below.

    They are means over scored responses with t intervals clustered by record. The share of
    conflicting claims pools all determined claims, with a Wilson interval.
    """

    def total(key: str, title: str, count: Callable[[Result], int]) -> Column[Group]:
        return Column(key, title, lambda own: sum(map(count, own.results)))

    made = Table.of(
        _groups(results),
        name="scores",
        title="Scores",
        caption=f"ConflictScore of {data}, judged by {model}.",
        columns=[
            VARIANT,
            Column("model", "Model", lambda _: model),
            Column("data", "Data", lambda _: data),
            Column("source", "Source", lambda _: "this run"),
            *score_columns(lambda own, measure: mean_score(own.results, measure)),
            Measure(
                "conflicting_claims",
                "Conflicting claims",
                lambda own: conflicting_share(own.results),
            ),
            total("responses", "Responses", lambda _: 1),
            Column("unevidenced", "Without evidence", lambda own: unevidenced(own.results)),
            total("claims", "Claims", lambda each: len(each.claims)),
            total("copied_claims", "Copied claims", lambda each: len(each.copied_claims)),
            total("invalid_judgements", "Invalid judgements", lambda each: len(_unread(each))),
            total("undetermined_claims", "Undetermined claims", lambda e: e.undetermined_claims),
            total("unread_claims", "Claims not in CS-R", lambda each: each.unread_claims),
            total("invalid_responses", "Invalid responses", lambda e: e.status == "invalid"),
            total("failed_responses", "Failed responses", lambda e: e.status == "failed"),
            total("truncated_texts", "Truncated texts", lambda each: len(each.truncations)),
        ],
        quoted=TABLE_3,
        notes=(
            "Scores are means over responses that have them; in brackets the 95 % t interval, "
            "clustered by record.",
            *ABOUT_SCORES,
            "Conflicting claims: the share among all determined claims of responses that have a "
            "CS-C, with the 95 % Wilson interval, which takes claims as independent and is too "
            "narrow where claims of one response go together.",
            "Invalid responses and failed ones have no score and are in no mean. A claim with an "
            "unreadable judgement is not in CS-R; where that could make it a conflict it is "
            "undetermined and not in CS-C.",
            "Copied claims: what the model gave back of its prompt's examples; they are left out.",
            "The rows of the paper were measured with other models on other data. They stand here "
            "for orientation; rows of this run are no reproduction of them.",
        ),
    )
    return replace(
        made,
        notes=(*made.notes, *_about_intervals(made, "values were equal, not that the value is")),
    )


def labels(results: Sequence[Result]) -> Table:
    """How often each label was given, per variant and over all responses."""
    return Table.of(
        _groups(results),
        name="labels",
        title="Labels",
        caption="Judgements of (claim, document) pairs by label.",
        columns=[
            VARIANT,
            *label_columns(lambda own: label_counts(own.results)),
            Column("judgements", "Judgements", lambda own: label_counts(own.results).total()),
            Column("cut_replies", "Cut replies", lambda own: cut_replies(own.results)),
            Column(
                "label_mass",
                "Probability on labels",
                lambda own: mean_label_mass(label_masses(own.results)),
            ),
        ],
        notes=(
            "Invalid: the reply could not be read as a label. It is not counted as irrelevant.",
            "Cut replies: a snippet or a reason ended at its bound; the label came after it.",
            "Probability on labels: the share of the judge's probability that fell on the labels "
            "at all, averaged over the judgements that have it. Far below 1, the judge wanted to "
            "write something else.",
            *low_label_mass(label_masses(results)),
        ),
    )


def differences(results: Sequence[Result]) -> Table:
    """Paired differences of `MEASURES` between every two variants, over their common records."""

    def difference(pair: tuple[str, str], measure: str) -> Estimate | None:
        first, second = (_by_group(results, name, measure) for name in pair)
        return paired_difference(first, second, bounds=(-1, 1))

    def records(pair: tuple[str, str]) -> int:
        found = (difference(pair, measure) for measure in MEASURES)
        return max((each.n for each in found if each is not None), default=0)

    pairs = list(combinations(variants(results), 2))
    made = Table.of(
        pairs,
        name="differences",
        title="Differences between variants",
        caption="Mean difference of two variants on the same records.",
        columns=[
            Column("difference", "Difference", " minus ".join),
            Column("first", "First", lambda pair: pair[0]),
            Column("second", "Second", lambda pair: pair[1]),
            Column("records", "Records", records),
            *score_columns(difference),
        ],
        notes=(
            "Each record with a score for both variants gives one difference; in brackets the 95 % "
            "t interval of their mean. A positive difference says that the first variant scores "
            "higher, which is worse of CS-C and CS-R, better of both sides.",
            *(["The intervals are not adjusted for the number of comparisons."] * (len(pairs) > 1)),
        ),
    )
    said = reversed(_about_intervals(made, "differences were equal, not that they are"))
    return replace(made, notes=(*made.notes, *said))


def failures(results: Sequence[Result], skipped: Sequence[Skipped] = ()) -> Table:
    """Everything that was not scored, not read or not seen whole, one row each."""
    unread = (
        Failure((None, f"line {bad.line}"), "bad record", one_line(bad.error, _EXCERPT))
        for bad in skipped
    )
    return failure_table(
        [*unread, *(fault for result in results for fault in _faults(result))],
        name="failures",
        caption="What was not scored, could not be read, or was not seen whole.",
        places=[Column("response", "Response", lambda at: at[0])],
        said=[
            Column("kind", "Kind", lambda fault: fault.what),
            Column("where", "Where", lambda fault: fault.at[1]),
            Column("what", "What", lambda fault: fault.reason),
        ],
        notes=(f"Replies are cut to {_EXCERPT} characters here.",),
    )


def all_tables(
    results: Sequence[Result],
    model: str,
    data: str,
    skipped: Sequence[Skipped] = (),
    chosen: ChosenThreshold | None = None,
) -> tuple[Table, ...]:
    """Every table of a run, in the order of reading.

    Of a cascade also what it saves (`chosen`).
    """
    return (
        scores(results, model, data),
        differences(results),
        labels(results),
        judges(results),
        *([cascade(chosen, results)] if chosen else []),
        failures(results, skipped),
    )


def variants(results: Sequence[Result]) -> list[str]:
    """Names of the variants in order of first appearance."""
    return list(dict.fromkeys(variant(result) for result in results))


def variant(result: Result) -> str:
    """The name of a response's variant, or what unnamed ones are called."""
    return result.variant or "response"


def claim_relations(result: Result) -> list[list[Relation]]:
    """For each claim of a response, its relations in the order of its documents."""
    return relations_by_claim(result.judgements, len(result.documents))


def label_counts(results: Sequence[Result]) -> Counter[Relation]:
    """Label -> number of judgements."""
    return Counter(judgement.relation for result in results for judgement in result.judgements)


def cut_replies(results: Iterable[Result]) -> int:
    """Judgements whose snippet or reason may lack its end."""
    return sum(each.reply_cut for result in results for each in result.judgements)


def label_masses(results: Iterable[Result]) -> list[float | None]:
    """Of every judgement, the share of the judge's probability that fell on the labels."""
    return [judgement.label_mass for result in results for judgement in result.judgements]


def mean_score(results: Sequence[Result], measure: str) -> Estimate | None:
    """Mean of one of `MEASURES` over the responses that have it, clustered by record."""
    scored = [result for result in results if getattr(result, measure) is not None]
    return mean(
        [getattr(result, measure) for result in scored],
        [result.group for result in scored],
        bounds=(0, 1),
    )


def unevidenced(results: Iterable[Result]) -> int:
    """Responses on which no document takes a side."""
    return sum(result.evidence == 0 for result in results)


def conflicting_share(results: Sequence[Result]) -> Estimate | None:
    """Share of conflicting claims among the determined claims of responses with a CS-C."""
    return share([found for result in results for found in decided_claims(result)])


def _groups(results: Sequence[Result]) -> list[Group]:
    """The variants; where there are several, all responses after them."""
    groups = [
        Group(name, [result for result in results if variant(result) == name])
        for name in variants(results)
    ]
    return [*groups, Group("all", results)] if len(groups) > 1 else groups


def _by_group(results: Sequence[Result], name: str, measure: str) -> dict[str, float]:
    return {
        result.group: getattr(result, measure)
        for result in results
        if variant(result) == name and getattr(result, measure) is not None
    }


def _about_intervals(table: Table, equal: str) -> list[str]:
    """Notes on intervals that say little: those without width, and values without one."""
    cells = [cell for row in table.rows for cell in row if isinstance(cell, Estimate)]
    said = []
    if any(cell.low is not None and cell.low == cell.high for cell in cells):
        said.append(f"An interval without width says that all {equal} certain.")
    if any(cell.low is None for cell in cells):
        said.append("A value without brackets rests on a single record and has no interval.")
    return said


def _unread(result: Result) -> list[Judgement]:
    return [each for each in result.judgements if each.relation is Relation.INVALID]


def _faults(result: Result) -> Iterator[Failure[tuple[str | None, str]]]:
    def fault(what: str, where: str, reason: str) -> Failure[tuple[str | None, str]]:
        return Failure((result.id, where), what, reason)

    if result.status != "scored":
        reason = result.error or "no reason was recorded"
        if result.raw:
            reason = f"{reason}; the reply: {result.raw}"
        yield fault(f"{result.status} response", "", one_line(reason, _EXCERPT))
    numbers = {claim: number for number, claim in enumerate(result.claims, 1)}
    for judgement in _unread(result):
        where = f"claim {numbers[judgement.claim]}, document {judgement.document}"
        reply = one_line(judgement.raw or judgement.refusal or "", _EXCERPT)
        yield fault("invalid judgement", where, reply)
    if result.claims_capped:
        kept = len(result.claims)
        reason = (
            f"the list ended at {kept:,} claim{'s' if kept != 1 else ''}, repetitions aside, "
            "because it was as long as it may be, in claims or in tokens; claims may be missing"
        )
        yield fault("capped claims", "response", reason)
    if copied := result.copied_claims:
        yield fault("copied claims", "response", one_line(" ".join(copied), _EXCERPT))
    for cut in result.truncations:
        yield fault(
            "truncation", cut.text, f"the first {cut.kept:,} of {cut.tokens:,} tokens were seen"
        )
