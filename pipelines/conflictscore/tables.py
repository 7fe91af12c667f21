"""The tables of scored responses: scores, and differences between variants."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeVar

from pipelines.conflictscore.result import MEASURES, Result, decided_claims
from pipelines.judge.judgement import Judgement, Relation
from pipelines.metrics.calibration import low_label_mass
from pipelines.metrics.estimate import Estimate, mean, proportion, share
from pipelines.report.compare import Comparison, Pair, columns, compare, correction
from pipelines.report.table import Column, Measure, Table, shown

ABOUT_SCORES: Final = (
    "CS-C and CS-R: lower is better. Supported by any: the share of claims that some document "
    "supports, whatever the others say, as factuality metrics count them (Figure 2). Evidence: "
    "the share of claims that some document supports or contradicts; the other scores rest on "
    "these claims. "
    "Both sides: how well the response backs the side that it backs least; higher is better.",
    "Without evidence: responses on which no document takes a side. Unless counted as 0 "
    "(--unevidenced zero), they have no CS-C or CS-R and are left out of their means.",
)


ABOUT_DIFFERENCES: Final = (
    "A positive difference means that the first scores higher: worse for CS-C and CS-R, "
    "better for both sides. In brackets: the paired 95 % t interval. p: signs flipped at "
    "random.",
)

Place = TypeVar("Place")


class Group(NamedTuple):
    """The responses of a variant, or all of them."""

    name: str
    results: Sequence[Result]


VARIANT: Final = Column[Group]("variant", "Variant", lambda group: group.name)


def total(key: str, title: str, count: Callable[[Any], int]) -> Column[Any]:
    """For rows with `results`: a count over them."""
    return Column(key, title, lambda row: sum(map(count, row.results)))


def score_columns() -> list[Measure[Any]]:
    """For rows with `results`: a column for each of `MEASURES`, and the share of conflicts."""

    def estimate(row: Any, measure: str) -> Estimate | None:
        return mean_score(row.results, measure)

    return [
        *(Measure(key, title, partial(estimate, measure=key)) for key, title in MEASURES.items()),
        Measure(
            "conflicting_claims", "Conflicting claims", lambda row: conflicting_share(row.results)
        ),
    ]


def scores(results: Sequence[Result], model: str, data: str) -> Table:
    """`MEASURES` per variant and over all responses.

    They are means over scored responses with t intervals clustered by record. The share of
    conflicting claims pools all determined claims, with a Wilson interval.
    """
    groups = by_variant(results)
    if len(groups) > 1:
        groups.append(Group("all", results))
    return Table.of(
        groups,
        name="scores",
        title="Scores",
        caption=f"ConflictScore of {data}, judged by {model}.",
        columns=[
            VARIANT,
            Column("model", "Model", lambda _: model),
            Column("data", "Data", lambda _: data),
            *score_columns(),
            total("responses", "Responses", lambda _: 1),
            Column("unevidenced", "Without evidence", lambda group: unevidenced(group.results)),
            total("claims", "Claims", lambda result: len(result.claims)),
            total("copied_claims", "Copied claims", lambda result: len(result.copied_claims)),
            total("invalid_judgements", "Invalid judgements", invalid_judgements),
            total(
                "undetermined_claims",
                "Undetermined claims",
                lambda result: result.undetermined_claims,
            ),
            total("unread_claims", "Claims not in CS-R", lambda result: result.unread_claims),
            total(
                "invalid_responses", "Invalid responses", lambda result: result.status == "invalid"
            ),
            total("failed_responses", "Failed responses", lambda result: result.status == "failed"),
            total("truncated_texts", "Truncated texts", lambda result: len(result.truncations)),
        ],
        notes=(
            "Scores are means over responses that have them; in brackets: the 95 % t interval, "
            "clustered by record.",
            *ABOUT_SCORES,
            "Conflicting claims: the share among all determined claims of responses that have a "
            "CS-C, with the 95 % Wilson interval, which treats claims as independent and is too "
            "narrow if claims of one response are correlated.",
            "Invalid and failed responses have no score and are left out of the means. A claim "
            "with an unreadable judgement is left out of CS-R; if that judgement could make it a "
            "conflict, the claim is undetermined and left out of CS-C too.",
            "Copied claims: claims that repeat the prompt's examples; they are left out.",
            *low_label_mass(judgement.label_mass for judgement in judgements(results)),
        ),
    )


def differences(results: Sequence[Result]) -> Table:
    """Paired differences of `MEASURES` between every two variants, over their common records."""
    pairs = [paired(None, first, second) for first, second in combinations(by_variant(results), 2)]
    return Table.of(
        pairs,
        name="differences",
        title="Differences between variants",
        caption="Mean difference of two variants on the same records.",
        columns=paired_columns("records"),
        notes=(
            "Each record with a score for both variants gives one difference.",
            *ABOUT_DIFFERENCES,
            *correction(pairs),
        ),
    )


def paired(at: Place, first: Group, second: Group) -> Pair[Place]:
    """First minus second in each of `MEASURES`, over the records that both groups have."""

    def less(measure: str) -> Comparison:
        one, other = (by_record(group.results, measure) for group in (first, second))
        return compare(one, other, "sign flips")

    return Pair(at, first.name, second.name, {measure: less(measure) for measure in MEASURES})


def paired_columns(counted: str) -> list[Column[Pair[Any]]]:
    """The columns for pairs from `paired`; `counted` names the compared units: "records"."""
    return [
        Column("first", "First"),
        Column("second", "minus"),
        *(
            column
            for measure, title in MEASURES.items()
            for column in columns(measure, title, "sign flips", n=f"{measure}_{counted}")
        ),
    ]


def all_tables(results: Sequence[Result], model: str, data: str) -> tuple[Table, ...]:
    """All tables of a run, in reading order."""
    return scores(results, model, data), differences(results)


def remarks(judged: Sequence[Judgement], judge: str) -> tuple[str, ...]:
    """Remarks on a judge: probability outside the labels, cut replies, and calls saved."""
    lines = [*low_label_mass((judgement.label_mass for judgement in judged), f"{judge}'s")]
    if cut := sum(judgement.reply_cut for judgement in judged):
        lines.append(f"Cut replies of {judge}, whose snippet or reason may be incomplete: {cut:,}.")
    if saved := saved_share(judged):
        lines.append(f"{judge}: {shown(saved)} of the labels took no call to the language model.")
    return tuple(lines)


def saved_share(judged: Iterable[Judgement]) -> Estimate | None:
    """Share of a cascade's judgements for which the language model was not asked.

    None if the run had no cascade: only the tagger or only the model judged.
    """
    sources = Counter(judgement.source for judgement in judged)
    saved = sources["cascade-tagger"]
    return proportion(saved, saved + sources["cascade-model"])


def variant(result: Result) -> str:
    """The name of a response's variant, or "response" if it has none."""
    return result.variant or "response"


def by_variant(results: Sequence[Result]) -> list[Group]:
    """The responses of each variant, in order of first appearance."""
    return [
        Group(name, [result for result in results if variant(result) == name])
        for name in dict.fromkeys(map(variant, results))
    ]


def judgements(results: Iterable[Result]) -> list[Judgement]:
    """The judgements of all responses."""
    return [judgement for result in results for judgement in result.judgements]


def mean_score(results: Sequence[Result], measure: str) -> Estimate | None:
    """Mean of one of `MEASURES` over the responses that have it, clustered by record."""
    scored = [result for result in results if getattr(result, measure) is not None]
    return mean(
        [getattr(result, measure) for result in scored],
        [result.group for result in scored],
        bounds=(0, 1),
    )


def by_record(results: Iterable[Result], measure: str) -> dict[str, float]:
    """Record -> one of `MEASURES`, sorted by name, since random sign flips depend on the order."""
    values = {result.group: getattr(result, measure) for result in results}
    return {name: values[name] for name in sorted(values) if values[name] is not None}


def unevidenced(results: Iterable[Result]) -> int:
    """Responses on which no document takes a side."""
    return sum(result.evidence == 0 for result in results)


def conflicting_share(results: Sequence[Result]) -> Estimate | None:
    """Share of conflicting claims among the determined claims of responses with a CS-C."""
    return share([conflict for result in results for conflict in decided_claims(result)])


def invalid_judgements(result: Result) -> int:
    """Number of a response's judgements that could not be read."""
    return sum(judgement.relation is Relation.INVALID for judgement in result.judgements)
