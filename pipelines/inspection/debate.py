"""A debate on one question, with an agent per document (MADAM-RAG)."""

from typing import TYPE_CHECKING, Annotated

from pipelines.errors import InputError
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ServerOptions
from pipelines.inspection.task import Inspection, QuestionAsked, Task, Tell, models_used
from pipelines.madam_rag.settings import PANEL, DebateOptions, DebateSettings
from pipelines.option import Option

if TYPE_CHECKING:
    from pipelines.madam_rag.replies import Debate


class PanelOptions(DebateOptions, ServerOptions):
    """How a question is debated, and by which model."""

    aggregator: Annotated[
        bool,
        Option(
            "Without an aggregator, agents read each other's replies, and their answers are "
            "combined.",
            name="--aggregator/--no-aggregator",
            panel=PANEL,
        ),
    ] = True


def needs(options: PanelOptions) -> Needs:
    """The model that debates; errors are those of `held`."""
    held(options)
    return Needs(role="generator")


def held(options: PanelOptions) -> DebateSettings:
    """The debate's settings; InputError for `--history aggregate` without an aggregator."""
    if options.aggregator:
        return options.debate
    if options.debate.history == "aggregate" and "history" in options.debate.model_fields_set:
        raise InputError("--history aggregate needs an aggregator; leave it or --no-aggregator out")
    return options.debate.without_aggregator()


async def debate(
    asked: QuestionAsked, options: PanelOptions, models: Models, tell: Tell
) -> "Inspection[Debate]":
    """Let agents debate a question, one per document, until no agent changes its answer.

    Every agent answers from its own document. An aggregator combines the answers; if the question
    is ambiguous, it keeps all correct ones. The agents read its answer and reply again.

    Example:
        contested debate "When was the bridge opened?" --documents samples/bridge/documents
    """
    from pipelines.madam_rag.baselines import MADAM, WITHOUT_AGGREGATOR, Outcome, QuestionResult
    from pipelines.madam_rag.data import GivenDocument, Question
    from pipelines.madam_rag.debate import debate as hold
    from pipelines.madam_rag.debate import panel
    from pipelines.madam_rag.view import content
    from pipelines.report.explorer import single

    client = models.asked
    tell("debating")
    found = await hold(
        asked.question, [*asked.documents], panel(client, models.prompts), held(options)
    )
    question = Question(
        id="question",
        question=asked.question,
        documents=tuple(GivenDocument(document=document) for document in asked.documents),
    )
    outcome = Outcome(concluded=found.concluded, calls=found.calls, debate=found)
    method = MADAM if options.aggregator else WITHOUT_AGGREGATOR
    result = QuestionResult(
        id=question.id, asked=question, status="answered", outcomes={method: outcome}
    )
    used = models_used(agents=client.model)
    return Inspection(
        found,
        cost_line(client),
        title=asked.question,
        view=lambda _: single("madam-rag", asked.question, content(result), used),
        about={"question": asked.question},
    )


DEBATE = Task(
    name="debate",
    title="Let documents debate",
    asked=QuestionAsked,
    options=PanelOptions,
    needs=needs,
    inspect=debate,
    form=("rounds",),
)
