"""A neutral answer on a controversial topic, from given arguments (NPOV, section 2.1)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from pipelines.data import procon
from pipelines.errors import InputError
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import LlmOptions, source_of
from pipelines.files import check_writable, replace_text
from pipelines.inspection.task import Inspection, Query, Shown, Task, Tell, models_used
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.topics import SAMPLE_TOPICS, retrieve
from pipelines.option import Option, Options, refuse_given
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import ExperimentView, single
from pipelines.report.texts import Note, Text
from serving.connect import connect, resolve

if TYPE_CHECKING:  # numpy
    from pipelines.npov.generation import Writer


class TopicAsked(Options):
    """A question on a topic of the knowledge base."""

    query: Annotated[
        Query,
        Option("A question on a topic of the knowledge base.", argument=True),
        Shown("line", "Question"),
    ]


class NeutralOptions(LlmOptions):
    """Which arguments are given, who writes, and where the answer goes."""

    data: Annotated[
        Path,
        Option(
            "Topics with arguments: a scrape of procon.org, or lines with topic, question, pro "
            "and con.",
            shown="some that come with the program",
        ),
    ] = SAMPLE_TOPICS
    arguments: Annotated[
        int, Field(ge=1), Option("How many arguments of each side are given to the model.")
    ] = 2
    seed: Annotated[
        int | None, Option("Draw the arguments with this seed.", shown="take the first")
    ] = None
    soft_prompt: Annotated[
        Path | None,
        Option("Answer by a soft prompt, from `contested lab tune-npov`, of the same model."),
    ] = None
    out: Annotated[
        Path | None, Option("Write the example to a JSON file, for `contested check-npov`.")
    ] = None


def needs(options: NeutralOptions) -> Needs:
    """The model that writes; InputError for options without effect, and a prompt of no use."""
    from pipelines.npov.generation import respond_prompt

    if options.out is not None:
        check_writable(options.out)
    if options.soft_prompt is not None:  # its server takes embeddings, and is found by the task
        refuse_given(options, ("prompts",), "--soft-prompt")
        return Needs(unused=())
    respond_prompt(options.prompts)
    return Needs(role="generator")


async def answer_npov(
    asked: TopicAsked, options: NeutralOptions, models: Models, tell: Tell
) -> Inspection[NpovExample]:
    """Answer a controversial question neutrally: some arguments of both sides, and no others.

    The arguments come from a knowledge base, and the model only puts them into words. What it
    leaves out and adds nevertheless `contested check-npov` finds.

    Examples:
        contested answer-npov "Should zoos be closed?" --out zoos.json

        contested check-npov zoos.json --html zoos.html
    """
    from pipelines.npov.generation import respond

    given = retrieve(
        procon.read(options.data), asked.query, per_side=options.arguments, seed=options.seed
    )
    async with _writer(options, models, tell) as writer:
        tell("writing")
        response = await respond(given, writer)
    if response.example is None:
        remedy = (
            "tune the soft prompt longer"
            if options.soft_prompt
            else "name a larger one with --model"
        )
        raise InputError(
            f"the model wrote no response ({response.problem}); {remedy}, or take fewer --arguments"
        )
    example, client = response.example, writer.client
    if options.out is not None:
        replace_text(options.out, example.model_dump_json(indent=2) + "\n")

    def view(_: bytes | None) -> ExperimentView:
        blocks = (
            *(
                ()
                if example.question == asked.query
                else (Note(text=f"Taken as: {given.question}"),)
            ),
            Text(f"{example.opening} {example.response}", "Response"),
            Facts(
                facts=tuple(
                    fact(side, argument) for side in SIDES for argument in example.arguments(side)
                )
            ),
        )
        return single("answer-npov", example.question, blocks, models_used(writer=client.model))

    return Inspection(
        example, cost_line(client), title=example.question, view=view, about={"query": asked.query}
    )


@asynccontextmanager
async def _writer(options: NeutralOptions, models: Models, tell: Tell) -> "AsyncIterator[Writer]":
    """Whoever writes the response; what is started for it is stopped at the end."""
    from pipelines.npov.generation import ChatWriter, SoftPromptWriter, respond_prompt
    from pipelines.npov.soft_prompt import SoftPrompt

    if options.soft_prompt is None:
        yield ChatWriter(models.asked, respond_prompt(options.prompts))
        return
    soft = SoftPrompt.load(options.soft_prompt)
    source = replace(source_of(options, "generator"), embeddings=True)
    folder = (await resolve(source)).folder
    if folder is None:
        raise InputError(
            "--soft-prompt needs the folder of the model on this machine, for the embeddings "
            "of its input; the server at --endpoint serves one from elsewhere"
        )
    soft.check("response", model=folder.digest)
    async with connect(
        source, cache=options.cache, concurrency=options.concurrency, on_status=tell
    ) as client:
        dtype = source.options(folder.name).dtype
        yield SoftPromptWriter(client, soft.vectors, folder.path, dtype)


ANSWER_NPOV = Task(
    name="answer-npov",
    title="Answer neutrally",
    asked=TopicAsked,
    options=NeutralOptions,
    needs=needs,
    inspect=answer_npov,
)
