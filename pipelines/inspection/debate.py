"""One question, debated by an agent for each document (MADAM-RAG)."""

from typing import Annotated

from pipelines.errors import InputError
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ServerOptions
from pipelines.inspection.found import Inspection, Tell, models_used, telling
from pipelines.madam_rag.baselines import (
    MADAM,
    WITHOUT_AGGREGATOR,
    Outcome,
    QuestionResult,
)
from pipelines.madam_rag.data import Question
from pipelines.madam_rag.debate import debate as hold
from pipelines.madam_rag.debate import panel
from pipelines.madam_rag.replies import Debate
from pipelines.madam_rag.settings import PANEL, DebateOptions, DebateSettings
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
    """The model that debates."""
    return Needs(role="generator")


def debate_settings(options: PanelOptions) -> DebateSettings:
    """How it is held; InputError where an option needs an aggregator and there is none."""
    if options.aggregator:
        return options.debate
    if options.debate.history == "aggregate" and "history" in options.debate.model_fields_set:
        raise InputError("--history aggregate needs an aggregator; leave it or --no-aggregator out")
    return options.debate.without_aggregator()


async def debate(
    asked: Question, options: PanelOptions, models: Models, tell: Tell
) -> Inspection[Debate]:
    """Hold the debate; it raises what `madam_rag.debate.debate` does."""
    models = telling(models, tell)
    client = models.asked
    tell("debating")
    found = await hold(
        asked.question,
        [each.document for each in asked.documents],
        panel(client, models.prompts),
        debate_settings(options),
    )

    def view() -> ExperimentView:
        from pipelines.madam_rag.blocks import question_view

        held = Outcome(concluded=found.concluded, calls=found.calls, debate=found)
        method = MADAM if options.aggregator else WITHOUT_AGGREGATOR
        result = QuestionResult(
            id=asked.id, asked=asked, status="answered", outcomes={method: held}
        )
        return question_view(result, models_used(agents=client.model))

    return Inspection(
        found,
        cost_line(client),
        title=asked.question,
        view=view,
        about={"question": asked.question},
    )
