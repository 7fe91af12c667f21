"""One question: the type of conflict between its sources, and a fitting answer (CONFLICTS)."""

from typing import TYPE_CHECKING, Annotated, Literal

from pipelines.conflicts.settings import (
    ANSWERS_PANEL,
    JUDGES_PANEL,
    AnswerSettings,
    ConflictsSettings,
)
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import Overflow, ServerOptions
from pipelines.inspection.task import Inspection, QuestionAsked, Task, Tell, models_used, telling
from pipelines.option import Option, refuse_given

if TYPE_CHECKING:
    from pipelines.conflicts.data import Source
    from pipelines.conflicts.pipeline import Methods
    from pipelines.conflicts.result import QueryResult


class TypedAnswerOptions(ServerOptions):
    """How a question is answered, and by which models."""

    strategy: Annotated[
        Literal["pipeline", "vanilla", "taxonomy-aware", "none"],
        Option(
            "Tell the model the predicted type (`pipeline`) or not (`vanilla`), ask for type and "
            "answer in one reply (`taxonomy-aware`), or only predict the type (`none`).",
            panel=ANSWERS_PANEL,
        ),
    ] = "pipeline"
    answering: AnswerSettings = AnswerSettings()
    judge: Annotated[
        Literal["tagger", "model", "none"],
        Option(
            "Who judges whether sources support the sentences: the `tagger`, or the language "
            "`model`, which also judges behaviour; `none` skips it.",
            panel=JUDGES_PANEL,
        ),
    ] = "tagger"
    on_overflow: Overflow = "error"


def methods_of(options: TypedAnswerOptions) -> "Methods":
    """The methods that predict and answer; InputError for options without effect."""
    from pipelines.conflicts.experiment import refuse_idle
    from pipelines.conflicts.pipeline import Methods

    settings = ConflictsSettings(
        **options.answering.model_dump(),
        # If no model judges, "model" leaves answers unjudged.
        judge="tagger" if options.judge == "tagger" else "model",
        cut=options.on_overflow == "cut",
    )
    names_type = options.strategy == "taxonomy-aware"
    methods = Methods(
        () if options.strategy == "none" else (options.strategy,),
        () if names_type else (settings.types,),
        settings,
    )
    if names_type:
        without = "--strategy taxonomy-aware, which names the type itself"
        refuse_given(options.answering, ("types",), without)
    refuse_idle(options, options.answering, methods)
    return methods


def needs(options: TypedAnswerOptions) -> Needs:
    """The models; errors are those of `methods_of` and `needs_of`."""
    from pipelines.conflicts.experiment import needs_of

    return needs_of(methods_of(options), options)


def source_of(document: Document) -> "Source":
    """A source from a document's text, which may begin with lines like "Date: 2021-03-01".

    Its title defaults to the document's name; InputError if the text has only such lines.
    """
    from pipelines.conflicts.data import Source

    try:
        source = Source.from_text(document.text)
    except ValueError as error:
        raise InputError(
            f"{document.id} has no text below its first lines; give it some"
        ) from error
    return source if source.title else source.model_copy(update={"title": document.id})


async def resolve(
    asked: QuestionAsked, options: TypedAnswerOptions, models: Models, tell: Tell
) -> "Inspection[QueryResult]":
    """Name the type of conflict between sources, and answer as that type calls for.

    Without a conflict the answer is plain. Complementary answers are combined, opinions of both
    sides are given, the latest information replaces outdated information, and misinformation is
    left out. Every sentence cites sources and is judged against them. A file can begin with lines
    like 'Date: 2021-03-01', 'Title: ...' and 'URL: ...'.

    Examples:
        contested resolve "When was the bridge opened?" --documents samples/bridge/documents

        contested resolve "Is it tolled?" --documents samples/bridge/documents --strategy none
    """
    from pipelines.conflicts.data import Query
    from pipelines.conflicts.pipeline import examine
    from pipelines.conflicts.view import content
    from pipelines.judge.store import stored
    from pipelines.judge.tagger import tagger_judge
    from pipelines.report.explorer import single

    models = telling(models, tell)
    client, tagger = models.client, models.tagger
    sources = tuple(map(source_of, asked.documents))
    query = Query(id="query", query=asked.question, sources=sources)
    judge = None if tagger is None else stored(tagger_judge(tagger), models.store)
    tell("reading")
    judging = client if options.judge == "model" else None
    methods = methods_of(options).ready(client, judging, judge, models.prompts)
    result = await examine(query, methods)
    used = models_used(answers=client.model if client else None, tagger=tagger)
    return Inspection(
        result,
        cost_line(client) if client else "",
        title=asked.question,
        view=lambda _: single("conflicts", asked.question, content(result), used),
        about={"query": asked.question},
    )


RESOLVE = Task(
    name="resolve",
    title="Name the conflict",
    asked=QuestionAsked,
    options=TypedAnswerOptions,
    needs=needs,
    inspect=resolve,
    form=("strategy", "types"),
)
