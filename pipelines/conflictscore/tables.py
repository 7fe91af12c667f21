"""The tables of a ConflictScore run."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean

from pipelines.conflictscore.labelling import cascade, labellers
from pipelines.conflictscore.pipeline import relations_by_claim
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import determined
from pipelines.data.jsonl import Skipped
from pipelines.evidence.judgement import Relation, conflicting
from pipelines.evidence.risk import ChosenThreshold
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.metrics.paired import paired_difference
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Cell, Column, Row, Table
from pipelines.report.text import one_line

UNNAMED = "response"
"""How responses without a variant's name are called."""

ALL = "all"

_PAPER_DATA = "ConflictingQA (100 items)"
_PAPER = (  # Table 3 of the paper: setting, model, CS-C, CS-R
    ("RAG", "GPT-4.1", 0.5238, 0.1517),
    ("RAG (Balanced)", "GPT-4.1", 0.5230, 0.1516),
    ("RAG (Super-Balanced)", "GPT-4.1", 0.5430, 0.1715),
    ("RAG", "GPT-4.1-Nano", 0.5654, 0.1656),
    ("RAG (Balanced)", "GPT-4.1-Nano", 0.5315, 0.1530),
    ("RAG (Super-Balanced)", "GPT-4.1-Nano", 0.5673, 0.1715),
)

_EXCERPT = 300


def scores(results: Sequence[Result], model: str, data: str) -> Table:
    """CS-C and CS-R per variant and over all responses, with the paper's figures below.

    CS-C and CS-R are means over scored responses with t intervals clustered by record. The share of
    conflicting claims pools all determined claims, with a Wilson interval.

    Args:
        results: One per response.
        model: Name of the judging model, shown in each row.
        data: Name of the data set, shown in each row.
    """
    groups = [(name, _of(results, name)) for name in variants(results)]
    if len(groups) > 1:
        groups.append((ALL, list(results)))
    rows = tuple(_score_row(name, members, model, data) for name, members in groups)
    notes = [
        "CS-C and CS-R are means over scored responses, lower is better; in brackets the 95 % t "
        "interval, clustered by record.",
        "Conflicting claims: the share among all determined claims, with the 95 % Wilson interval, "
        "which takes claims as independent and is too narrow where claims of one response go "
        "together.",
        "Invalid responses and failed ones have no score and are in no mean. A claim with an "
        "unreadable judgement is undetermined and is in neither score.",
        "The rows of the paper were measured with other models on other data. They stand here for "
        "orientation; rows of this run are no reproduction of them.",
    ]
    if _without_width(rows):
        notes.append(
            "An interval without width says that all values were equal, not that the value is "
            "certain."
        )
    if _without_interval(rows):
        notes.append("A value without brackets rests on a single record and has no interval.")
    return Table(
        name="scores",
        title="Scores",
        caption=f"ConflictScore of {data}, judged by {model}.",
        columns=(
            Column("variant", "Variant"),
            Column("model", "Model"),
            Column("data", "Data"),
            Column("source", "Source"),
            Column("cs_c", "CS-C", interval=True),
            Column("cs_r", "CS-R", interval=True),
            Column("conflicting_claims", "Conflicting claims", interval=True),
            Column("responses", "Responses"),
            Column("claims", "Claims"),
            Column("invalid_judgements", "Invalid judgements"),
            Column("undetermined_claims", "Undetermined claims"),
            Column("invalid_responses", "Invalid responses"),
            Column("failed_responses", "Failed responses"),
            Column("truncated_texts", "Truncated texts"),
        ),
        rows=rows,
        quoted=tuple(_paper_row(*figures) for figures in _PAPER),
        notes=tuple(notes),
    )


def labels(results: Sequence[Result]) -> Table:
    """How often each label was given, per variant and over all responses."""
    groups = [(name, _of(results, name)) for name in variants(results)]
    if len(groups) > 1:
        groups.append((ALL, list(results)))
    rows: list[Row] = []
    for name, members in groups:
        counts = label_counts(members)
        total = sum(counts.values())
        shares = (counts[relation] for relation in Relation)
        rows.append((name, *shares, total, mean_label_mass(members)))
    return Table(
        name="labels",
        title="Labels",
        caption="Judgements of (claim, document) pairs by label.",
        columns=(
            Column("variant", "Variant"),
            *(Column(relation.lower(), relation.capitalize()) for relation in Relation),
            Column("judgements", "Judgements"),
            Column("label_mass", "Probability on labels"),
        ),
        rows=tuple(rows),
        notes=(
            "Invalid: the reply could not be read as a label. It is not counted as irrelevant.",
            "Probability on labels: the share of the judge's probability that fell on the labels "
            "at all, averaged over the judgements that have it. Far below 1, the judge wanted to "
            "write something else.",
        ),
    )


def differences(results: Sequence[Result]) -> Table:
    """Paired differences of CS-C and CS-R between every two variants, over their common records."""
    rows: list[Row] = []
    for first, second in combinations(variants(results), 2):
        pairs = [
            paired_difference(
                _by_group(results, first, measure),
                _by_group(results, second, measure),
                bounds=(-1, 1),
            )
            for measure in ("cs_c", "cs_r")
        ]
        records = max((pair.n for pair in pairs if pair is not None), default=0)
        rows.append((f"{first} minus {second}", first, second, records, *pairs))
    notes = [
        "Each record with a score for both variants gives one difference; in brackets the 95 % t "
        "interval of their mean. A positive difference says that the first variant scores higher, "
        "that is worse."
    ]
    if len(rows) > 1:
        notes.append("The intervals are not adjusted for the number of comparisons.")
    if _without_interval(rows):
        notes.append("A value without brackets rests on a single record and has no interval.")
    if _without_width(rows):
        notes.append(
            "An interval without width says that all differences were equal, not that they are "
            "certain."
        )
    return Table(
        name="differences",
        title="Differences between variants",
        caption="Mean difference of two variants on the same records.",
        columns=(
            Column("difference", "Difference"),
            Column("first", "First"),
            Column("second", "Second"),
            Column("records", "Records"),
            Column("cs_c", "CS-C", interval=True),
            Column("cs_r", "CS-R", interval=True),
        ),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def failures(results: Sequence[Result], skipped: Sequence[Skipped] = ()) -> Table:
    """Everything that was not scored, not read or not seen whole, one row each."""
    lines = [
        (None, "bad record", f"line {bad.line}", one_line(bad.error, _EXCERPT)) for bad in skipped
    ]
    return Table(
        name="failures",
        title="Failures and truncations",
        caption="What was not scored, could not be read, or was not seen whole.",
        columns=(
            Column("response", "Response"),
            Column("kind", "Kind"),
            Column("where", "Where"),
            Column("what", "What"),
        ),
        rows=(*lines, *(row for result in results for row in _faults(result))),
        notes=(f"Replies are cut to {_EXCERPT} characters here.",),
    )


def all_tables(
    results: Sequence[Result],
    model: str,
    data: str,
    skipped: Sequence[Skipped] = (),
    chosen: ChosenThreshold | None = None,
) -> tuple[Table, ...]:
    """Every table of a run, in the order of reading; of a cascade also what it saves."""
    return (
        scores(results, model, data),
        differences(results),
        labels(results),
        labellers(results),
        *([cascade(chosen, results)] if chosen else []),
        failures(results, skipped),
    )


def variants(results: Sequence[Result]) -> list[str]:
    """Names of the variants in order of first appearance."""
    return list(dict.fromkeys(variant(result) for result in results))


def variant(result: Result) -> str:
    """The name of a response's variant, or what unnamed ones are called."""
    return result.variant or UNNAMED


def claim_relations(result: Result) -> list[list[Relation]]:
    """For each claim of a response, its relations in the order of its documents."""
    return relations_by_claim(result.judgements, len(result.documents))


def label_counts(results: Sequence[Result]) -> Counter[Relation]:
    """Label -> number of judgements."""
    return Counter(judgement.relation for result in results for judgement in result.judgements)


def mean_label_mass(results: Sequence[Result]) -> float | None:
    """Mean share of the judge's probability that fell on the labels, in [0, 1]."""
    masses = [
        judgement.label_mass
        for result in results
        for judgement in result.judgements
        if judgement.label_mass is not None
    ]
    return fmean(masses) if masses else None


def mean_score(results: Sequence[Result], measure: str) -> Estimate | None:
    """Mean of `cs_c` or `cs_r` over the responses that have it, clustered by record."""
    scored = [result for result in results if getattr(result, measure) is not None]
    return mean(
        [getattr(result, measure) for result in scored],
        [result.group for result in scored],
        bounds=(0, 1),
    )


def conflicting_share(results: Sequence[Result]) -> Estimate | None:
    """Share of conflicting claims among the determined claims of all scored responses."""
    claims = [
        relations
        for result in results
        if result.status == "scored"
        for relations in claim_relations(result)
        if determined(relations)
    ]
    return proportion(sum(conflicting(relations) for relations in claims), len(claims))


def _of(results: Sequence[Result], name: str) -> list[Result]:
    return [result for result in results if variant(result) == name]


def _by_group(results: Sequence[Result], name: str, measure: str) -> dict[str, float]:
    return {
        result.group: getattr(result, measure)
        for result in _of(results, name)
        if getattr(result, measure) is not None
    }


def _score_row(name: str, results: Sequence[Result], model: str, data: str) -> Row:
    return (
        name,
        model,
        data,
        "this run",
        mean_score(results, "cs_c"),
        mean_score(results, "cs_r"),
        conflicting_share(results),
        len(results),
        sum(len(result.claims) for result in results),
        label_counts(results)[Relation.INVALID],
        sum(result.undetermined_claims for result in results),
        sum(result.status == "invalid" for result in results),
        sum(result.status == "failed" for result in results),
        sum(len(result.truncations) for result in results),
    )


def _paper_row(setting: str, model: str, cs_c: float, cs_r: float) -> Row:
    unknown: tuple[Cell, ...] = (None,) * 6
    return (setting, model, _PAPER_DATA, "paper, Table 3", cs_c, cs_r, None, 100, *unknown)


def _without_interval(rows: Sequence[Row]) -> bool:
    return any(isinstance(cell, Estimate) and cell.low is None for row in rows for cell in row)


def _without_width(rows: Sequence[Row]) -> bool:
    return any(
        isinstance(cell, Estimate) and cell.low is not None and cell.low == cell.high
        for row in rows
        for cell in row
    )


def _faults(result: Result) -> Iterator[Row]:
    if result.status != "scored":
        what = result.error or "no reason was recorded"
        if result.raw:
            what = f"{what}; the reply: {result.raw}"
        yield (result.id, f"{result.status} response", "", one_line(what, _EXCERPT))
    numbers = {claim: number for number, claim in enumerate(result.claims, 1)}
    for judgement in result.judgements:
        if judgement.relation is Relation.INVALID:
            where = f"claim {numbers[judgement.claim]}, document {judgement.document}"
            what = one_line(judgement.raw or "no reply was recorded", _EXCERPT)
            yield (result.id, "invalid judgement", where, what)
    if result.claims_capped:
        kept = len(result.claims)
        what = (
            f"the list ended at {kept:,} claim{'s' if kept != 1 else ''}, repetitions aside, "
            "because it was as long as it may be; claims may be missing"
        )
        yield (result.id, "capped claims", "response", what)
    for cut in result.truncations:
        what = f"the first {cut.kept:,} of {cut.tokens:,} tokens were seen"
        yield (result.id, "truncation", cut.text, what)
