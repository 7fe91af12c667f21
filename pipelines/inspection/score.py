"""ConflictScore of one answer, and a revision of the answer in view of the conflict."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from pipelines.conflictscore.settings import REGENERATION_AS_IN_PAPER, Settings
from pipelines.data.records import Document, Example, NonEmpty, Text
from pipelines.data.text import read_text
from pipelines.experiment.cost import cost_line, spent
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs, judge_needs, writer_needs
from pipelines.experiment.options import (
    AsInPaper,
    JudgedOptions,
    Overflow,
    Usual,
    judge_model_option,
    judging,
)
from pipelines.inspection.task import (
    Inspection,
    Query,
    Shown,
    Task,
    Tell,
    documents_option,
    models_used,
    telling,
)
from pipelines.judge.settings import Evidence
from pipelines.option import Only, Option, Options, WithPresets

if TYPE_CHECKING:
    from pipelines.conflictscore.pipeline import Scorer
    from pipelines.conflictscore.regeneration import Regeneration, Writer
    from pipelines.conflictscore.result import Result
    from pipelines.report.texts import Line

PANEL = "Regeneration"

REGENERATED = Only(lambda options: options.regenerate, "a score without --regenerate")


class ResponseAsked(Options):
    """A response with its documents; `claims` replace those that would be made from it."""

    response: Annotated[
        Text,
        Option("Text file with the answer.", typed=Path, read=read_text),
        Shown("text"),
    ]
    documents: Annotated[
        NonEmpty[Document],
        documents_option(
            "The documents that it was written from: text files, or folders of them: --documents "
            "a.txt b.txt"
        ),
        Shown("documents"),
    ]
    question: Annotated[
        Query | None, Option("The question; --regenerate passes it to the writer.", panel=PANEL)
    ] = None
    claims: NonEmpty[Text] | None = None


class ExplainedSettings(Settings):
    """The metric's settings for one answer, with a snippet that explains each judgement."""

    evidence: Evidence = "json"


class ScoreOptions(WithPresets, JudgedOptions):
    """How an answer is scored and, on request, rewritten."""

    PRESETS: ClassVar = {"as_in_paper": REGENERATION_AS_IN_PAPER}

    as_in_paper: AsInPaper = False
    metric: ExplainedSettings = ExplainedSettings()
    on_overflow: Overflow = "error"
    regenerate: Annotated[
        bool,
        Option(
            "Tell a model about the conflict, let it rewrite the answer, and score that. By "
            "default the tagger judges, sentence by sentence, so that no model judges its own "
            "work.",
            panel=PANEL,
        ),
    ] = False
    hedge: Annotated[
        bool,
        Option(
            "Ask the writer to name both sides where documents disagree; otherwise ask only for "
            "the most truthful answer, as in the paper.",
            name="--hedge/--no-hedge",
            panel=PANEL,
            only=REGENERATED,
        ),
    ] = True
    answer_tokens: Annotated[
        int,
        Field(ge=16),
        Option("Maximum tokens of an answer.", panel=PANEL, only=REGENERATED),
    ] = 256
    judge_model: Annotated[str | None, judge_model_option(PANEL, REGENERATED)] = None

    @classmethod
    def usual(cls, given: Mapping[str, Any]) -> Usual:
        """The usual defaults, except that no model judges what it wrote itself."""
        if given.get("regenerate") and not given.get("as_in_paper"):
            return Usual("tagger", "sentences", "so that no model judges its own work")
        return super().usual(given)


def needs(options: ScoreOptions) -> Needs:
    """The models that judge, split and write; errors are those of `judge_needs`."""
    metric = options.metric
    if options.regenerate:
        return writer_needs(options, metric, options.judge_model, splits=metric.splits)
    return judge_needs(options, metric, asks=metric.needs_model(claims_given=False))


async def score(
    asked: ResponseAsked, options: ScoreOptions, models: Models, tell: Tell
) -> Inspection[Any]:
    """Score one answer: its claims, how documents judge them, and four scores.

    Examples:
        contested score --response samples/bridge/answer.txt --documents samples/bridge/documents

        contested score --regenerate --response answer.txt --documents guide.txt study.txt

    CS-C is the share of claims that some documents support and others contradict. CS-R is the share
    of contradicting evidence, averaged over claims. Lower is better for both: an answer that admits
    that its sources disagree is supported by all of them. Evidence is the share of claims that any
    document supports or contradicts. Both sides is the support for the side that the answer backs
    least; higher is better.

    With --regenerate, a model reads the claim with the most conflicting evidence, and the passages
    for and against it, and rewrites the answer. The result shows both versions side by side.
    """
    from pipelines.conflictscore.pipeline import conflict_score, scorer_of
    from pipelines.conflictscore.view import content
    from pipelines.report.explorer import single

    example = Example(
        id="response",
        group="response",
        question=asked.question,
        response=asked.response,
        documents=asked.documents,
        claims=asked.claims,
    )
    models = telling(models, tell)
    settings = judging(options.metric, options.on_overflow)
    if options.regenerate:
        return await _regenerate(example, settings, options, models, tell)
    scorer = scorer_of(settings, models)
    tell("judging")
    result = await conflict_score(example, scorer)
    judge = scorer.judge
    title = "ConflictScore"
    used = models_used(
        splits=models.client.model if models.client and scorer.decomposition else None,
        judges=judge.model.client.model if judge.model else None,
        tags=judge.tagger,
    )
    failed = result.status != "scored"
    return Inspection(
        result,
        spent(models.client, judge),
        title=title,
        view=lambda _: single("conflictscore", title, [_scores(result), *content(result)], used),
        problem=f"the response could not be scored: {result.error}" if failed else "",
    )


def _scores(result: "Result") -> "Line":
    """The four scores in one line, with the numbers of claims and documents."""
    from pipelines.report.glance import count
    from pipelines.report.texts import Aside, Strong, line

    counted = f"{count(len(result.claims), 'claim')}"
    if result.undetermined_claims:
        counted += f", {result.undetermined_claims} of them undetermined"
    said = f"{counted}, {count(len(result.documents), 'document')}; CS-C and CS-R: lower is better"
    return line(*map(Strong, result.figures()), Aside(said))


async def _regenerate(
    example: Example, settings: Settings, options: ScoreOptions, models: Models, tell: Tell
) -> "Inspection[Regeneration]":
    from pipelines.conflictscore import regeneration
    from pipelines.conflictscore.pipeline import scorer_of
    from pipelines.report.explorer import single

    author = regeneration.writer(
        models.asked,
        models.prompts,
        tokens=options.answer_tokens,
        hedged=options.hedge,
        cut=settings.cut,
    )
    scorer = scorer_of(settings, models)
    tell("writing")
    made = await regeneration.regenerate(example, author, scorer)
    title = example.question or "A rewritten answer"
    judge = scorer.judge.model.client.model if scorer.judge.model else None
    used = models_used(writes=author.client.model, judges=judge, tags=models.tagger)
    return Inspection(
        made,
        f"{_who(author, scorer)}\n{cost_line(author.client)}",
        title=title,
        view=lambda _: single("regeneration", title, regeneration.content(made), used),
    )


def _who(author: "Writer", scorer: "Scorer") -> str:
    """Who wrote and who judged, with a warning if that is the same model."""
    said = f"written by {author.client.model.name}, judged by {scorer.judge.name}"
    if scorer.judge.model is not None and scorer.judge.model.client is author.client:
        said += ": the model judges its own writing; --judge tagger avoids this"
    return said


SCORE = Task(
    name="score",
    title="Score a response",
    asked=ResponseAsked,
    options=ScoreOptions,
    needs=needs,
    inspect=score,
    form=("judge", "claims"),
)
