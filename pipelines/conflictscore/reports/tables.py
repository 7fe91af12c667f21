"""The tables of report writing: Table 3, differences between prompts, and what went wrong."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pipelines.conflictscore import paper
from pipelines.conflictscore.reports.writing import PROMPTINGS, ReportResult
from pipelines.conflictscore.result import MEASURES
from pipelines.conflictscore.tables import (
    ABOUT_SCORES,
    conflicting_share,
    mean_score,
    score_columns,
    unevidenced,
)
from pipelines.judge.judgement import Relation
from pipelines.judge.run_judge import judge_named
from pipelines.metrics.estimate import Estimate, mean
from pipelines.report.compare import Pair, columns, compare, correction
from pipelines.report.failures import Failure, failed, failures, invalid, truncations
from pipelines.report.table import HERE, Column, Measure, Table, of_place, quote

TABLE_3: Final = quote(
    "prompting writer cs_c cs_r",
    *paper.TABLE_3,
    figures="paper, Table 3",
    data="ConflictingQA",
    judge="GPT-4.1",
    reports=100,
)
"""Figures of the paper. It does not name the judge of section 5; in section 4.4 it is GPT-4.1."""


class Slice(NamedTuple):
    """The reports of a run under a prompt.

    Attributes:
        run: Its name.
        config: Everything that decided them, from `run.json`.
        prompting: The prompt, as tables call it.
        results: One per question.
    """

    run: str
    config: Mapping[str, Any]
    prompting: str
    results: Sequence[ReportResult]

    @property
    def scored(self) -> list[ReportResult]:
        """Those with a score."""
        return [each for each in self.results if each.status == "scored"]

    def mean(self, count: Callable[[ReportResult], int]) -> Estimate | None:
        """Mean of something that is counted, over those with a score."""
        return mean([count(each) for each in self.scored])


RUN: Final = Column[Slice]("run", "Run")
WRITER: Final = Column[Slice]("writer", "Writer", lambda own: own.config["writer"]["name"])
JUDGE: Final = Column[Slice]("judge", "Judge", lambda own: judge_named(own.config))
PROMPTING: Final = Column[Slice]("prompting", "Prompt")


def all_tables(
    results: Mapping[str, Sequence[ReportResult]], configs: Mapping[str, Mapping[str, Any]]
) -> tuple[Table, ...]:
    """Every table of a folder's runs, in the order of reading.

    Args:
        results: Name of a run -> its reports.
        configs: Name of a run -> its configuration.
    """
    parts = slices(results, configs)
    return (scores(parts), differences(parts), faults(parts))


def slices(
    results: Mapping[str, Sequence[ReportResult]], configs: Mapping[str, Mapping[str, Any]]
) -> list[Slice]:
    """The reports of each run and prompt, in the order of Table 3."""
    return [
        Slice(run, configs[run], name, found)
        for run, own in results.items()
        for name in PROMPTINGS.values()
        if (found := [each for each in own if each.variant == name])
    ]


def scores(parts: Sequence[Slice]) -> Table:
    """Table 3: CS-C and CS-R by writer and prompt."""

    def total(own: Slice, relation: Relation) -> int:
        labels = (each.relation for result in own.results for each in result.judgements)
        return sum(label is relation for label in labels)

    return Table.of(
        parts,
        name="reports_scores",
        title="Reports by prompt",
        caption="ConflictScore of reports on questions that the documents disagree about.",
        columns=[
            *(RUN, WRITER, JUDGE),
            Column("data", "Data", lambda own: own.config["data"]["name"]),
            HERE,
            PROMPTING,
            *score_columns(lambda own, measure: mean_score(own.results, measure)),
            Measure(
                "conflicting_claims",
                "Conflicting claims",
                lambda own: conflicting_share(own.results),
            ),
            Column("reports", "Reports", lambda own: len(own.results)),
            Column("scored", "Scored", lambda own: len(own.scored)),
            Column("unevidenced", "Without evidence", lambda own: unevidenced(own.results)),
            Measure("claims", "Claims a report", lambda own: own.mean(lambda one: len(one.claims))),
            Measure(
                "words",
                "Words a report",
                lambda own: own.mean(lambda one: len(one.response.split())),
            ),
            Column(
                "unfinished",
                "Cut for length",
                lambda own: sum(not each.finished for each in own.results),
            ),
            Column("invalid", "Invalid judgements", lambda own: total(own, Relation.INVALID)),
        ],
        quoted=TABLE_3,
        notes=(
            "Scores are means over reports that have them, one per question; in brackets 95 % t "
            "intervals over questions. Conflicting claims: the share among all determined claims "
            "of reports with a CS-C, with the 95 % Wilson interval.",
            *ABOUT_SCORES,
            "First document is no report: it is the first document copied as it is, which any "
            "writer has at hand. A report that is no lower has gained nothing by being written.",
            "Reports of other lengths make other numbers of claims; a short one risks less.",
            "The paper's rows are of other writers, judged by another model; they stand here for "
            "orientation.",
        ),
    )


def differences(parts: Sequence[Slice]) -> Table:
    """Every prompt less the plain one, question by question."""
    plain = {own.run: own for own in parts if own.prompting == PROMPTINGS["rag"]}
    pairs = [
        Pair(
            own,
            own.prompting,
            base.prompting,
            {
                measure: compare(_values(own, measure), _values(base, measure), "sign flips")
                for measure in MEASURES
            },
        )
        for own in parts
        if (base := plain.get(own.run)) is not None and own is not base
    ]
    return Table.of(
        pairs,
        name="reports_differences",
        title="Differences between prompts",
        caption="Mean difference on the questions of which both reports have the score.",
        columns=[
            *map(of_place, (RUN, WRITER, JUDGE)),
            Column("first", "Prompt"),
            Column("second", "less"),
            *(
                column
                for measure, title in MEASURES.items()
                for column in columns(measure, title, "sign flips", n=f"{measure}_questions")
            ),
        ],
        notes=(
            *correction(pairs),
            "A positive difference says that the first prompt's reports score higher, which "
            "is worse of CS-C and CS-R, better of both sides. In brackets the paired 95 % t "
            "interval; signs are flipped at random.",
        ),
    )


def faults(parts: Sequence[Slice]) -> Table:
    """Everything that has no score, could not be read, or was not seen whole."""
    return failures(
        (fault for own in parts for result in own.results for fault in _faults(own.run, result)),
        name="reports_failures",
        places=[
            Column("run", "Run", lambda at: at[0]),
            Column("report", "Report", lambda at: at[1]),
        ],
        caption="What has no score, could not be read, or was not seen whole.",
    )


def _faults(run: str, result: ReportResult) -> Iterator[Failure[tuple[str, str]]]:
    at = (run, result.id)
    if result.status != "scored":
        yield failed(at, f"{result.status} report", result.error, result.raw)
    yield from invalid(at, result.judgements)
    yield from truncations(at, (*result.unread, *result.truncations))


def _values(own: Slice, measure: str) -> dict[str, float]:
    """Question -> score, in order of their names: random flips depend on it."""
    found = {each.group: getattr(each, measure) for each in own.scored}
    return {name: found[name] for name in sorted(found) if found[name] is not None}
