"""Report writing under conflict: ConflictScore as a benchmark of writers (section 5, Table 3)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from pipelines.conflictscore import view as of_responses
from pipelines.conflictscore.pipeline import scorer_of, scoring
from pipelines.conflictscore.relations import OF_RESPONSES
from pipelines.conflictscore.result import MEASURES, METRICS, verdict
from pipelines.conflictscore.settings import ReportOptions, Settings
from pipelines.conflictscore.tables import (
    ABOUT_DIFFERENCES,
    ABOUT_SCORES,
    Group,
    invalid_judgements,
    paired,
    paired_columns,
    score_columns,
    total,
    unevidenced,
)
from pipelines.conflictscore.writing import (
    PROMPTINGS,
    Assignment,
    ReportResult,
    assignments,
    read,
    report_on,
    report_result,
    report_writer,
)
from pipelines.data.released import sample
from pipelines.experiment.cost import Cost, calls
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import writer_needs
from pipelines.experiment.summary import Figure, Page, Problem, truncations
from pipelines.judge.run_judge import judge_named, model_of
from pipelines.metrics.estimate import mean
from pipelines.report.compare import correction
from pipelines.report.explorer import Example, Facet
from pipelines.report.table import HERE, Column, Measure, Table, of_place, quote
from pipelines.report.texts import Block, Note

TABLE_3: Final = quote(
    "prompting writer cs_c cs_r",
    ("RAG", "GPT-4.1", 0.5238, 0.1517),
    ("RAG (Balanced)", "GPT-4.1", 0.5230, 0.1516),
    ("RAG (Super-Balanced)", "GPT-4.1", 0.5430, 0.1715),
    ("RAG", "GPT-4.1-Nano", 0.5654, 0.1656),
    ("RAG (Balanced)", "GPT-4.1-Nano", 0.5315, 0.1530),
    ("RAG (Super-Balanced)", "GPT-4.1-Nano", 0.5673, 0.1715),
    figures="paper, Table 3",
    data="ConflictingQA",
    judge="GPT-4.1",
    reports=100,
)
"""Figures of the paper. It does not name the judge of section 5; in section 4.4 it is GPT-4.1."""


@dataclass(frozen=True)
class Slice:
    """The reports of a run under one prompt, titled `prompting`; one per question."""

    run: str
    config: Mapping[str, Any]
    prompting: str
    results: Sequence[ReportResult]

    @property
    def scored(self) -> list[ReportResult]:
        """The reports that have a score."""
        return [result for result in self.results if result.status == "scored"]


_OF: Final = (
    Column[Slice]("run", "Run"),
    Column[Slice]("writer", "Writer", lambda part: part.config["writer"]["name"]),
    Column[Slice]("judge", "Judge", lambda part: judge_named(part.config)),
)


def slices(
    results: Mapping[str, Sequence[ReportResult]], configs: Mapping[str, Mapping[str, Any]]
) -> list[Slice]:
    """The reports of each run and prompt, in the order of Table 3."""
    return [
        Slice(run, configs[run], name, part)
        for run, reports in results.items()
        for name in PROMPTINGS.values()
        if (part := [result for result in reports if result.variant == name])
    ]


def all_tables(
    results: Mapping[str, Sequence[ReportResult]], configs: Mapping[str, Mapping[str, Any]]
) -> tuple[Table, Table]:
    """All tables of a folder's runs, in reading order."""
    parts = slices(results, configs)
    return scores(parts), differences(parts)


def scores(parts: Sequence[Slice]) -> Table:
    """Table 3: CS-C and CS-R by writer and prompt."""
    return Table.of(
        parts,
        name="reports_scores",
        title="Reports by prompt",
        caption="ConflictScore of reports on questions that the documents disagree about.",
        columns=[
            *_OF,
            Column("data", "Data", lambda part: part.config["data"]["name"]),
            HERE,
            Column("prompting", "Prompt"),
            *score_columns(),
            Column("reports", "Reports", lambda part: len(part.results)),
            Column("scored", "Scored", lambda part: len(part.scored)),
            Column("unevidenced", "Without evidence", lambda part: unevidenced(part.results)),
            Measure(
                "claims",
                "Claims per report",
                lambda part: mean([len(report.claims) for report in part.scored]),
            ),
            Measure(
                "words",
                "Words per report",
                lambda part: mean([len(report.response.split()) for report in part.scored]),
            ),
            total("unfinished", "Cut for length", lambda report: not report.finished),
            total("invalid", "Invalid judgements", invalid_judgements),
        ],
        quoted=TABLE_3,
        notes=(
            "Scores are means over reports that have them, one per question; in brackets: 95 % t "
            "intervals over questions. Conflicting claims: the share among all determined claims "
            "of reports with a CS-C, with the 95 % Wilson interval.",
            *ABOUT_SCORES,
            "First document: a copy of the first document, as a baseline. A report that scores "
            "no lower gains nothing over it.",
            "Longer reports make more claims; a short one risks less.",
            "The paper's rows show other writers, judged by another model, only for orientation.",
        ),
    )


def differences(parts: Sequence[Slice]) -> Table:
    """Every prompt minus the plain one, question by question."""
    plain = {part.run: part for part in parts if part.prompting == PROMPTINGS["rag"]}
    pairs = [
        paired(part, Group(part.prompting, part.results), Group(base.prompting, base.results))
        for part in parts
        if (base := plain.get(part.run)) is not None and part is not base
    ]
    return Table.of(
        pairs,
        name="reports_differences",
        title="Differences between prompts",
        caption="Mean difference on questions for which both reports have the score.",
        columns=[*map(of_place, _OF), *paired_columns("questions")],
        notes=(*correction(pairs), *ABOUT_DIFFERENCES),
    )


def _example(run: str, result: ReportResult) -> Example:
    shown = of_responses.example(run, result)
    return replace(
        shown,
        blocks=partial(_content, result),
        facets={"Prompt": [str(result.variant)], "With": shown.facets["With"]},
        words=f"{shown.words}\n{result.entity or ''}",
    )


def _content(result: ReportResult) -> list[Block]:
    """The report's subject, then the parts that any response shows."""
    blocks: list[Block] = []
    if result.entity:
        blocks.append(Note(result.entity, "About"))
    if not result.finished:
        blocks.append(Note("The report was too long and was cut."))
    return [*blocks, *of_responses.content(result)]


def _problems(result: ReportResult) -> Iterator[Problem]:
    yield from of_responses.problems(result)
    yield from truncations(result.unread)


PAGE: Final = Page(
    question="Do written reports admit that their documents disagree?",
    tables=lambda runs: all_tables(runs.results, runs.configs),
    figures=(
        Figure(
            *("reports_scores", "cs_c", "prompting"),
            said="Claims in dispute, CS-C",
            group=("run",),
            trivial=(PROMPTINGS["copied"],),
            also=tuple(MEASURES)[1:],
            better="lower",
        ),
    ),
    example=_example,
    problems=_problems,
    failures="reports_failures",
    facets=(Facet("Prompt", tuple(PROMPTINGS.values())), of_responses.WITH),
)


def plan(options: ReportOptions) -> Plan[Assignment, ReportResult]:
    """Sample the questions; each gets a report under every prompting, and each report is scored.

    Raises:
        InputError: The file or an option cannot be used.
        ServingError: The profile or the tagger is missing.
    """
    topics = read(options.data)
    chosen = sample(topics.topics, options.sample, options.seed)[: options.limit]
    settings = options.scoring
    needs = writer_needs(options, settings, options.judge_model, splits=settings.splits)
    options.entry(EXPERIMENT.name, "")  # refuses a bad name before a server is started

    def work(models: RunModels) -> Sequence[Work[Assignment, ReportResult]]:
        author = report_writer(
            models.asked,
            models.prompts,
            tokens=options.report_tokens,
            cut=settings.cut,
        )
        scorer = scorer_of(settings, models)
        config = scorer.config(topics.file, topics.digest, *author.prompts.values()) | {
            "report_tokens": author.tokens,
            "writer": model_of(author.client),
        }
        entry = options.entry(EXPERIMENT.name, author.client.model.name)
        report = partial(report_on, author=author, scorer=scorer)
        return [Work(entry, config, report, judge=scorer.judge)]

    return Plan(
        assignments(chosen),
        needs,
        work,
        f"{topics.file}: {len(topics.topics):,} questions in conflict ({topics.passed_over:,} "
        f"passed over), {len(chosen):,} of them taken; {len(PROMPTINGS)} reports each",
        cost=partial(cost, settings=settings, report_tokens=options.report_tokens),
        entries=lambda model: [options.entry(EXPERIMENT.name, model)],
    )


def cost(item: Assignment, settings: Settings, report_tokens: int) -> Cost:
    """Cost of one call that names the entity, one that writes the report, and its `scoring`.

    Reports on the same question share the first call. A copied document is only scored.
    """
    documents = item.topic.documents
    if item.prompting == "copied":
        return scoring(settings, documents[0].text, len(documents))
    return calls(2, 1) + scoring(settings, report_tokens, len(documents))


EXPERIMENT = Experiment(
    name="report-writing",
    title="Report writing",
    options=ReportOptions,
    result=ReportResult,
    plan=plan,
    failed=lambda assignment, reason: report_result(assignment, status="failed", error=reason),
    page=PAGE,
    metrics=METRICS,
    verdict=verdict,
    cluster=lambda result: result.group,
    labellings=OF_RESPONSES,
)
