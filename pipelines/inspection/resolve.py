"""One question: the type of its sources' conflict, and an answer that fits (CONFLICTS)."""

from typing import Annotated, Literal

from pipelines.conflicts.data import Query
from pipelines.conflicts.experiment import refuse_idle
from pipelines.conflicts.pipeline import Methods, examine
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.settings import (
    ANSWERS_PANEL,
    JUDGES_PANEL,
    AnswerSettings,
    ConflictsSettings,
)
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.options import Overflow, ServerOptions
from pipelines.inspection.found import Inspection, Tell, models_used, telling
from pipelines.judge.store import stored
from pipelines.judge.tagger import tagger_judge
from pipelines.option import Option, refuse_given
from pipelines.report.explorer import ExperimentView


class TypedAnswerOptions(ServerOptions):
    """How a question is answered, and by which models."""

    strategy: Annotated[
        Literal["pipeline", "vanilla", "taxonomy-aware", "none"],
        Option(
            "Answer with the predicted type (`pipeline`), without (`vanilla`), with type and "
            "answer in one reply (`taxonomy-aware`), or predict the type alone (`none`).",
            panel=ANSWERS_PANEL,
        ),
    ] = "pipeline"
    answering: AnswerSettings = AnswerSettings()
    judge: Annotated[
        Literal["tagger", "model", "none"],
        Option(
            "Who judges the grounding of each sentence: the tagger or the language model. The "
            "latter judges behaviour, too. `none` leaves the answer unjudged.",
            panel=JUDGES_PANEL,
        ),
    ] = "tagger"
    on_overflow: Overflow = "error"


def methods_of(options: TypedAnswerOptions) -> Methods:
    """Who predicts and answers; InputError for options that do nothing then."""
    settings = ConflictsSettings(
        **options.answering.model_dump(),
        # Without a model to judge, "model" leaves answers unjudged.
        judge="tagger" if options.judge == "tagger" else "model",
        cut=options.on_overflow == "cut",
    )
    itself = options.strategy == "taxonomy-aware"
    methods = Methods(
        () if options.strategy == "none" else (options.strategy,),
        () if itself else (settings.types,),
        settings,
    )
    if itself:
        without = "--strategy taxonomy-aware, which names the type itself"
        refuse_given(options.answering, ("types",), without)
    refuse_idle(options, options.answering, methods)
    return methods


async def resolve(
    asked: Query, options: TypedAnswerOptions, methods: Methods, models: Models, tell: Tell
) -> Inspection[QueryResult]:
    """Predict, answer and judge; it raises what `examine` does."""
    models = telling(models, tell)
    client, tagger = models.client, models.tagger
    judge = None if tagger is None else stored(tagger_judge(tagger), models.store)
    tell("reading")
    judging = client if options.judge == "model" else None
    result = await examine(asked, methods.ready(client, judging, judge, models.prompts))

    def view() -> ExperimentView:
        from pipelines.conflicts.view import query_view

        return query_view(
            result, models_used(answers=client.model if client else None, tagger=tagger)
        )

    return Inspection(
        result,
        cost_line(client) if client else "",
        title=asked.query,
        view=view,
        about={"query": asked.query},
    )
