"""`contested answer-npov`: a neutral answer on a controversial topic, from given arguments."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import Field
from rich.console import Console

from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR
from pipelines.data import procon
from pipelines.errors import InputError
from pipelines.experiment.cost import cost_line
from pipelines.experiment.options import LlmOptions, source_of
from pipelines.files import replace_text
from pipelines.inspection.task import one_line_of
from pipelines.npov.example import SIDES, NpovExample, Perspectives, input_text
from pipelines.npov.topics import SAMPLE_TOPICS, retrieve
from pipelines.option import Option, refuse_given
from pipelines.report.terminal import plain, plain_json
from pipelines.report.texts import visible
from serving.connect import Source, connect, resolve

if TYPE_CHECKING:
    from pipelines.npov.generation import Response, Writer
    from pipelines.npov.soft_prompt import SoftPrompt


class AnswerOptions(LlmOptions):
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
        Option("Answer by a soft prompt, from `contested tune-npov`, of the same model."),
    ] = None
    as_json: Annotated[bool, Option("Print the example as JSON.", name="--json")] = False
    out: Annotated[
        Path | None, Option("Write the example to a JSON file, for `contested check-npov`.")
    ] = None
    dry_run: Annotated[
        bool, Option("Print what the model would be asked, and stop.", name="--dry-run")
    ] = False


@flat
def answer_npov(
    query: Annotated[str, typer.Argument(help="A question on a topic of the knowledge base.")],
    options: AnswerOptions,
) -> None:
    """Answer a controversial question neutrally: some arguments of both sides, and no others.

    The arguments come from a knowledge base, and the model only puts them into words. What it
    leaves out and adds nevertheless `contested check-npov` finds.

    Examples:
        contested answer-npov "Should large dams be removed?" --out dams.json

        contested check-npov dams.json --html dams.html
    """
    from pipelines.npov.generation import respond, respond_prompt
    from pipelines.npov.soft_prompt import SoftPrompt

    asked, out = one_line_of(query), options.out
    if options.soft_prompt is not None:
        refuse_given(options, ("prompts",), "--soft-prompt")
    if out is not None and out.is_dir():
        raise InputError(f"--out {out} is a folder; name a file for the example")
    given = retrieve(
        procon.read(options.data), asked, per_side=options.arguments, seed=options.seed
    )
    if given.question != asked:
        STDERR.print(f"[yellow]taken as: {plain(given.question)}[/yellow]", soft_wrap=True)
    source = source_of(options, "generator")
    soft = SoftPrompt.load(options.soft_prompt) if options.soft_prompt else None
    if options.dry_run:
        _show_request(given, options, soft)
        return
    if soft is None:
        respond_prompt(options.prompts)  # what is wrong with it is said before a server is started

    async def answered() -> "tuple[Response, str]":
        with STDERR.status("") as status:
            async with _writer(source, soft, options, status.update) as writer:
                status.update("writing")
                return await respond(given, writer), cost_line(writer.client)

    response, cost = asyncio.run(answered())
    if response.example is None:
        larger = "name a larger one with --model"
        remedy = "tune the soft prompt longer" if soft else larger
        raise InputError(
            f"the model wrote no response ({response.problem}); {remedy}, or take fewer --arguments"
        )
    try:
        if out is not None:
            replace_text(out, response.example.model_dump_json(indent=2) + "\n")
    finally:  # what was written is shown though the file cannot be
        if options.as_json:
            print(plain_json(response.example.model_dump_json(indent=2)))
        else:
            show(response.example, Console(emoji=False))
    STDERR.print(f"[dim]{plain(cost)}[/dim]", soft_wrap=True)
    if out is not None:
        STDERR.print(f"example: {plain(str(out))}", soft_wrap=True)


def show(example: NpovExample, console: Console) -> None:
    """Print question, response, and what it was written from."""
    console.print(f"[italic]{plain(example.question)}[/italic]\n")
    console.print(f"{plain(example.opening)} {plain(example.response)}\n")
    for side in SIDES:
        for argument in example.arguments(side):
            console.print(f"[dim]{side}: {plain(argument)}[/dim]")


def _show_request(given: Perspectives, options: AnswerOptions, soft: "SoftPrompt | None") -> None:
    """What the model would be asked."""
    from pipelines.npov.generation import respond_prompt, told

    if soft is not None:
        print(f"[{len(soft.vectors)} vectors of {options.soft_prompt}]")
        print(visible(input_text(given)))
        return
    for message in told(given, respond_prompt(options.prompts)):
        print(visible(message["content"]))


@asynccontextmanager
async def _writer(
    source: Source,
    soft: "SoftPrompt | None",
    options: LlmOptions,
    on_status: Callable[[str], None],
) -> "AsyncIterator[Writer]":
    """Whoever writes the response; what is started for it is stopped at the end."""
    from pipelines.npov.generation import ChatWriter, SoftPromptWriter, respond_prompt

    folder = None
    if soft is not None:
        source = replace(source, embeddings=True)
        folder = (await resolve(source)).folder
        if folder is None:
            raise InputError(
                "--soft-prompt needs the folder of the model on this machine, for the embeddings "
                "of its input; the server at --endpoint serves one from elsewhere"
            )
        soft.check("response", model=folder.digest)
    async with connect(
        source, cache=options.cache, concurrency=options.concurrency, on_status=on_status
    ) as client:
        if soft is None or folder is None:
            yield ChatWriter(client, respond_prompt(options.prompts))
        else:
            dtype = source.options(folder.name).dtype
            yield SoftPromptWriter(client, soft.vectors, folder.path, dtype)
