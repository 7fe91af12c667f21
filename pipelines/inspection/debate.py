"""One question, debated by an agent for each document (MADAM-RAG)."""

from typing import Annotated

from pipelines.errors import InputError
from pipelines.evidence.nli import nli_labeller
from pipelines.evidence.store import stored
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ServerOptions, source_of, tagger_named
from pipelines.inspection.found import Inspection, Tell, models_used, telling
from pipelines.madam_rag.data import Question
from pipelines.madam_rag.debate import debate as hold
from pipelines.madam_rag.debate import panel
from pipelines.madam_rag.methods import (
    MADAM,
    WITH_RELIABILITY,
    WITHOUT_AGGREGATOR,
    Outcome,
    QuestionResult,
)
from pipelines.madam_rag.replies import Debate
from pipelines.madam_rag.settings import PANEL, UNTOLD, DebateOptions, DebateSettings
from pipelines.option import Option
from pipelines.report.explorer import ExperimentView


class PanelOptions(DebateOptions, ServerOptions):
    """How a question is debated, and by which model."""

    aggregator: Annotated[
        bool,
        Option(
            "Without one the answer is what the agents answer between them, and they hear each "
            "other.",
            name="--aggregator/--no-aggregator",
            panel=PANEL,
        ),
    ] = True


def debate_needs(options: PanelOptions) -> Needs:
    """The model that debates, and the tagger where reliability is told."""
    where = source_of(options, "generator")
    tagger = tagger_named(options.tagger, where) if options.reliability else None
    return Needs(role="generator", tagger=tagger, untagged=UNTOLD)


def debate_settings(options: PanelOptions) -> DebateSettings:
    """How it is held; InputError where an option needs an aggregator and there is none."""
    if options.aggregator:
        return options.debate
    told = options.debate.history == "aggregate" and "history" in options.debate.model_fields_set
    if told or options.reliability:
        idle = "--reliability" if options.reliability else "--history aggregate"
        raise InputError(f"{idle} needs an aggregator; leave it or --no-aggregator out")
    return options.debate.without_aggregator()


async def debate(
    asked: Question, options: PanelOptions, models: Models, tell: Tell
) -> Inspection[Debate]:
    """Hold the debate; it raises what `madam_rag.debate.debate` does."""
    models = telling(models, tell)
    client, tagger = models.asked, models.tagger
    labeller = None if tagger is None else stored(nli_labeller(tagger), models.store)
    tell("debating")
    found = await hold(
        asked.question,
        [each.document for each in asked.documents],
        panel(client, models.prompts, labeller=labeller),
        debate_settings(options),
    )

    def view() -> ExperimentView:
        from pipelines.madam_rag.view import question_view

        held = Outcome(concluded=found.concluded, calls=found.calls, debate=found)
        result = QuestionResult(
            id=asked.id, asked=asked, status="answered", outcomes={_method(options): held}
        )
        return question_view(result, models_used(agents=client.model, reliability=tagger))

    return Inspection(
        found,
        cost_line(client),
        title=asked.question,
        view=view,
        about={"question": asked.question},
    )


def _method(options: PanelOptions) -> str:
    if options.reliability:
        return WITH_RELIABILITY
    return MADAM if options.aggregator else WITHOUT_AGGREGATOR
