"""One answer, written again from the conflict that was found in it."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from pipelines.conflictscore.pipeline import Scorer, prepare
from pipelines.conflictscore.regeneration.regenerate import Regeneration, Writer, writer
from pipelines.conflictscore.regeneration.regenerate import regenerate as write_again
from pipelines.conflictscore.settings import REGENERATION_AS_IN_PAPER
from pipelines.data.records import Example
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs, writer_needs
from pipelines.experiment.options import AsInPaper, Usual, judge_model_option, judging
from pipelines.inspection.found import Inspection, Tell, models_used, one_line_of
from pipelines.inspection.score import AnswerScoreOptions
from pipelines.option import Only, Option
from pipelines.preset import WithPresets
from pipelines.report.explorer import ExperimentView
from pipelines.report.glance import ModelUsed

PANEL = "Regeneration"

REGENERATED = Only(lambda own: own.regenerate, "a score without --regenerate")


class RegenerateOptions(WithPresets, AnswerScoreOptions):
    """How an answer is scored and, if wanted, written again."""

    PRESETS: ClassVar = {"as_in_paper": REGENERATION_AS_IN_PAPER}

    as_in_paper: AsInPaper = False

    regenerate: Annotated[
        bool,
        Option(
            "Let a model that is told of the conflict write the answer again, and score that. "
            "Unless you choose, the tagger judges, sentence by sentence: no model judges its own "
            "work.",
            panel=PANEL,
        ),
    ] = False
    question: Annotated[
        str | None,
        AfterValidator(lambda text: None if text is None else one_line_of(text)),
        Option("What was asked; shown to the writer.", panel=PANEL, only=REGENERATED),
    ] = None
    rounds: Annotated[
        int,
        Field(ge=1, le=10),
        Option("Most times to ask for another answer.", panel=PANEL, only=REGENERATED),
    ] = 1
    keep: Annotated[
        Literal["best", "last"],
        Option(
            "Which answer is the result: the `best` by score, so never one that scores worse than "
            "yours, or the `last`.",
            panel=PANEL,
            only=REGENERATED,
        ),
    ] = "best"
    hedge: Annotated[
        bool,
        Option(
            "Whether the writer is asked to name both sides where documents remain at odds. "
            "Without, it is asked for the most truthful answer alone, as in the paper.",
            name="--hedge/--no-hedge",
            panel=PANEL,
            only=REGENERATED,
        ),
    ] = True
    answer_tokens: Annotated[
        int,
        Field(ge=16),
        Option("Most tokens of an answer.", panel=PANEL, only=REGENERATED),
    ] = 256
    judge_model: Annotated[str | None, judge_model_option(PANEL, REGENERATED)] = None

    @classmethod
    def usual(cls, given: Mapping[str, Any]) -> Usual:
        """As it is elsewhere, but that no model judges what it wrote itself."""
        if given.get("regenerate") and not given.get("as_in_paper"):
            return Usual("tagger", "sentences", "so that no model judges its own work")
        return super().usual(given)


def regenerate_needs(options: RegenerateOptions) -> Needs:
    """The models that write, judge and split; it raises what `writer_needs` does."""
    metric = options.metric
    return writer_needs(options, metric, options.judge_model, splits=metric.splits)


async def regenerate(
    example: Example, options: RegenerateOptions, models: Models, tell: Tell
) -> Inspection[Regeneration]:
    """Score an answer and write it again; it raises what `conflict_score` does."""
    if options.question is not None:
        example = example.model_copy(update={"question": options.question})
    settings = judging(options.metric, options.on_overflow)
    author = writer(
        models.asked,
        models.prompts,
        tokens=options.answer_tokens,
        hedged=options.hedge,
        cut=settings.cut,
    )
    scorer = prepare(
        settings, models.judging, models.prompts, tagger=models.tagger, store=models.store
    )
    tell("writing")
    found = await write_again(example, author, scorer, rounds=options.rounds, keep=options.keep)
    title = example.question or "An answer, written again"
    judge = scorer.judge.model.client.model if scorer.judge.model else None
    used = models_used(writes=author.client.model, judges=judge, tags=models.tagger)
    return Inspection(
        found,
        f"{_who(author, scorer)}\n{cost_line(author.client)}",
        title=title,
        view=partial(_view, found, used, title),
        about={"response": example.id},
    )


def _view(found: Regeneration, used: list[ModelUsed], title: str) -> ExperimentView:
    from pipelines.conflictscore.regeneration.view import regeneration_view

    return regeneration_view(found, used, title)


def _who(author: Writer, scorer: Scorer) -> str:
    """Who wrote and who judged, with a warning where that is one model."""
    told = f"written by {author.client.model.name}, judged by {scorer.judge.name}"
    if scorer.judge.model is not None and scorer.judge.model.client is author.client:
        told += ": the same model judges what it writes; --judge tagger does not"
    return told
