"""Report writing under conflict: ConflictScore as a benchmark of writers (section 5, Table 3)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from pipelines.conflictscore.pipeline import scorer_of, scoring
from pipelines.conflictscore.relations import OF_RESPONSES
from pipelines.conflictscore.reports.tables import PAGE
from pipelines.conflictscore.reports.writing import (
    PROMPT,
    PROMPTINGS,
    Assignment,
    ReportResult,
    assignments,
    read,
    report_on,
    report_result,
    report_writer,
)
from pipelines.conflictscore.reports.writing import REPLY_TOKENS as ENTITY
from pipelines.conflictscore.result import METRICS, verdict
from pipelines.conflictscore.settings import REPORTS_AS_IN_PAPER, Settings, WriterOptions
from pipelines.data.jsonl import SAMPLES
from pipelines.data.released import sample
from pipelines.experiment.cost import Cost, Tokens, call
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import writer_needs
from pipelines.judge.run_judge import model_of
from pipelines.option import Option

PANEL = "Reports"

HELP = """Let a model write reports from documents that disagree, and score them.

A report about the main entity of each question is written under three prompts: plain (RAG),
balanced, and super-balanced. Beside them stands the first document, copied as it is. Leaves in the
run folder: `report-writing.NAME.jsonl`, `tables/` in the layout of the paper's Table 3, and
`report.html`. Several models may share a folder: each is a run of its own.

Examples:
    contested run report-writing --limit 1 --judge tagger --claims sentences --report-tokens 96

    contested run report-writing --data conflictingqa.jsonl --sample 20 --dry-run
"""


class ReportOptions(WriterOptions):
    """What a user may choose about report writing."""

    PRESETS: ClassVar = {"as_in_paper": REPORTS_AS_IN_PAPER}

    data: Annotated[
        Path,
        Option(
            "Questions with documents: our input format, or ConflictingQA as released.",
            shown="bundled samples",
        ),
    ] = SAMPLES
    sample: Annotated[int, Field(ge=1), Option("Most questions, drawn by seed.", panel=PANEL)] = 100
    seed: Annotated[int, Field(ge=0), Option("Decides which questions are drawn.", panel=PANEL)] = 0
    report_tokens: Annotated[int, Field(ge=16), Option("Most tokens of a report.", panel=PANEL)] = (
        512
    )


def plan(options: ReportOptions) -> Plan[Assignment, ReportResult]:
    """Draw the questions; each gets a report under every prompting, and each report a score.

    Raises:
        InputError: The file or an option cannot be used.
        ServingError: There is no such profile, or no such tagger.
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
        config = scorer.config(topics.file, topics.digest, *author.prompts) | {
            "report_tokens": author.tokens,
            "writer": model_of(author.client),
        }
        entry = options.entry(EXPERIMENT.name, author.client.model.name)
        each = partial(report_on, author=author, scorer=scorer)
        return [Work(entry, config, each, judge=scorer.judge)]

    return Plan(
        assignments(chosen),
        needs,
        work,
        f"{topics.file}: {len(topics.topics):,} questions in conflict ({topics.passed_over:,} "
        f"passed over), {len(chosen):,} of them taken; {len(PROMPTINGS)} reports each",
        cost=partial(cost, settings=settings, report_tokens=options.report_tokens),
        entries=lambda model: [options.entry(EXPERIMENT.name, model)],
    )


def cost(item: Assignment, tokens: Tokens, settings: Settings, report_tokens: int) -> Cost:
    """A call that names the entity, one that writes the report, and `scoring` of it.

    The first reads the question and writes 64 tokens; reports on a question share it. The second
    reads documents and entity, and writes `report_tokens`. A copied document is only scored.
    """
    documents, question = item.topic.documents, item.topic.question
    if item.prompting == "copied":
        return scoring(settings, tokens, documents[0].text, documents)
    named = call(tokens.prompt("conflictscore/entity", question="") + tokens(question), ENTITY)
    blank = {"documents": [""] * len(documents), "entity": ""}
    shown = tokens(question, *(each.as_read() for each in documents)) + ENTITY
    prompt = tokens.prompt(f"conflictscore/{PROMPT[item.prompting]}", **blank)
    written = call(prompt + shown, report_tokens)
    return named.times(1, 0) + written + scoring(settings, tokens, report_tokens, documents)


EXPERIMENT = Experiment(
    name="report-writing",
    title="Report writing",
    help=HELP,
    counted="reports",
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
