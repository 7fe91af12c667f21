"""A neutral answer from given arguments, and a check of its faithfulness (NPOV, sections 2, 3)."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from pipelines.errors import InputError
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import LlmOptions, ServedOptions
from pipelines.files import check_writable, file_digest, replace_text
from pipelines.inspection.salience import by_gradients, gradients_of
from pipelines.inspection.task import Inspection, Query, Shown, Task, Tell, models_used
from pipelines.npov.decoder import SALIENCE_PANEL, DecoderOptions, MeasureOption, decoder_folder
from pipelines.npov.settings import SAMPLE_TOPICS, TopicsFile
from pipelines.option import Option, Options, refuse_given
from salience.variants import Aggregation

if TYPE_CHECKING:
    from pipelines.npov.check import AblationErrors, ResponseErrors
    from pipelines.npov.example import NpovExample
    from pipelines.npov.responses import Writer
    from pipelines.report.explorer import ExperimentView
    from pipelines.report.texts import Block
    from salience.decoder import Decoder
    from salience.maps import WordMap


class TopicAsked(Options):
    """A question on a topic of the knowledge base."""

    query: Annotated[
        Query,
        Option("A question on a topic of the knowledge base.", argument=True),
        Shown("line", "Question"),
    ]


class NeutralOptions(LlmOptions):
    """The given arguments, the writer, and where the answer goes."""

    data: TopicsFile = SAMPLE_TOPICS
    arguments: Annotated[
        int, Field(ge=1), Option("Number of arguments per side for the model.")
    ] = 2
    seed: Annotated[
        int | None, Option("Draw the arguments at random, with this seed.", shown="takes the first")
    ] = None
    soft_prompt: Annotated[
        Path | None,
        Option(
            "Answer with a soft prompt for this model: `prompts/response.safetensors` of a study."
        ),
    ] = None
    out: Annotated[
        Path | None, Option("Write the example to a JSON file, for `contested check-npov`.")
    ] = None


def writer_needs(options: NeutralOptions) -> Needs:
    """The model that writes; InputError for options without effect and for an unusable prompt."""
    from pipelines.npov.responses import respond_prompt

    if options.out is not None:
        check_writable(options.out)
    if options.soft_prompt is not None:  # the task itself finds its server, which takes embeddings
        refuse_given(options, ("prompts",), "--soft-prompt")
        return Needs(unused=())
    respond_prompt(options.prompts)
    return Needs(role="generator")


async def answer_npov(
    asked: TopicAsked, options: NeutralOptions, models: Models, tell: Tell
) -> "Inspection[NpovExample]":
    """Answer a controversial question neutrally, from given arguments of both sides.

    The arguments come from a knowledge base; the model only words them. `contested check-npov`
    finds arguments that it leaves out, and content that it adds.

    Examples:
        contested answer-npov "Should the penny stay in use?" --out penny.json

        contested check-npov penny.json --html penny.html
    """
    from pipelines.data import procon
    from pipelines.npov.example import SIDES
    from pipelines.npov.responses import respond
    from pipelines.npov.topics import retrieve
    from pipelines.report.blocks import Facts, fact
    from pipelines.report.explorer import single
    from pipelines.report.texts import Note, Text

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

    facts = [fact(side, argument) for side in SIDES for argument in example.arguments(side)]
    blocks: list[Block] = [
        Text(f"{example.opening} {example.response}", "Response"),
        Facts(tuple(facts)),
    ]
    if example.question != asked.query:
        blocks.insert(0, Note(f"Taken as: {given.question}"))
    used = models_used(writer=client.model)
    return Inspection(
        example,
        cost_line(client),
        title=example.question,
        view=lambda _: single("answer-npov", example.question, blocks, used),
        about={"query": asked.query},
    )


@asynccontextmanager
async def _writer(options: NeutralOptions, models: Models, tell: Tell) -> "AsyncIterator[Writer]":
    """The writer of the response; whatever is started for it is stopped at the end."""
    from pipelines.npov.responses import ChatWriter, opened_writer, respond_prompt
    from pipelines.npov.soft_prompt import SoftPrompt

    prompt = respond_prompt(options.prompts)
    if options.soft_prompt is None:
        yield ChatWriter(models.asked, prompt)
        return
    soft = SoftPrompt.load(options.soft_prompt)
    async with opened_writer(options, soft, prompt, on_status=tell) as writer:
        yield writer


ANSWER_NPOV = Task(
    name="answer-npov",
    title="Answer neutrally",
    asked=TopicAsked,
    options=NeutralOptions,
    needs=writer_needs,
    inspect=answer_npov,
)


SAMPLE: Final = Path(__file__).parents[1] / "npov" / "samples" / "uniforms.json"
"""The example that is checked by default."""

_example_option = partial(Option, panel="Example")


class ExampleAsked(Options):
    """A neutral response with its arguments: in a file, or in parts."""

    file: Annotated[
        Path | None,
        Option(
            "JSON with question, pro, con and response; or use the options below.",
            argument=True,
        ),
    ] = None
    question: Annotated[str | None, _example_option("The user's question."), Shown("line")] = None
    pro: Annotated[
        list[str] | None,
        _example_option("An argument in favour. Repeatable."),
        Shown("lines", "Arguments in favour"),
    ] = None
    con: Annotated[
        list[str] | None,
        _example_option("An argument against. Repeatable."),
        Shown("lines", "Arguments against"),
    ] = None
    response: Annotated[str | None, _example_option("The response."), Shown("text")] = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        self.example()  # a missing part is reported before a model is looked for
        return self

    def example(self) -> "NpovExample":
        """The example; InputError if a part is missing, or if parts are given beside a file."""
        from pipelines.npov.example import example, read_example

        given = self.model_dump(exclude={"file"})
        named = {name: value for name, value in given.items() if value is not None}
        if self.file is not None and named:
            raise InputError(
                f"--{next(iter(named))} has no effect beside {self.file}; leave one out"
            )
        if not named:
            return read_example(self.file or SAMPLE)
        missing = [name for name in given if name not in named]
        if missing:
            raise InputError(
                f"--{missing[0]} is missing; an example has question, pro, con, response"
            )
        return example(named, "the example")


class CheckOptions(DecoderOptions, ServedOptions):
    """How a response is checked."""

    detector: Annotated[
        Literal["salience", "ablation"],
        Option(
            "`salience` takes gradients in this process, as in the paper. `ablation` leaves an "
            "argument out of the prompt and asks a server how likely the response still is; it "
            "finds far more errors (docs/results.md)."
        ),
    ] = "salience"
    soft_prompt: Annotated[
        Path | None,
        Option(
            "The soft prompt that wrote the response, from a study's `prompts/`. Gradients are "
            "then taken with the prompt in place.",
            panel=SALIENCE_PANEL,
        ),
    ] = None
    aggregation: Annotated[
        Aggregation,
        Option("How to turn a word's row or column of the map into a score.", panel=SALIENCE_PANEL),
    ] = "max"
    measure: MeasureOption = "input_x_gradient"


def needs(options: CheckOptions) -> Needs:
    """The model that is asked, if any; InputError for options that the detector does not use."""
    named = f"--detector {options.detector}"
    if options.detector == "salience":
        decoder_folder(options)
        return Needs(unasked=named, unused=("endpoint", "strict", "cache", "concurrency"))
    gradient_options = ("soft_prompt", "aggregation", "measure", "precision", "device")
    refuse_given(options, gradient_options, named)
    return Needs(role="generator", untagged=named)


async def check_npov(
    asked: ExampleAsked, options: CheckOptions, models: Models, tell: Tell
) -> Inspection[Any]:
    """Find arguments that a neutral response leaves out, and content that it adds.

    By default it reads a model's gradients, as in the paper, without a server: if no word of the
    response rests on a word of an argument, that word was probably left out; a word of the response
    that rests on no argument was probably added. `--detector ablation` asks a server how likely the
    response is without an argument, and finds far more errors. Without an example, it checks a
    bundled one.

    Examples:
        contested check-npov --html uniforms.html

        contested check-npov --detector ablation --html ablated.html

        contested check-npov example.json --html checked.html --png checked.png
    """
    if options.detector == "ablation":
        return await by_ablation(asked.example(), models, tell)
    return await by_salience(asked.example(), options, tell)


async def by_salience(
    example: "NpovExample", options: CheckOptions, tell: Tell
) -> "Inspection[ResponseErrors]":
    """Score by a model's gradients; errors are those of `argument_map`."""
    from pipelines.npov.check import argument_map, check
    from pipelines.npov.soft_prompt import SoftPrompt
    from pipelines.npov.view import CHECKED, THRESHOLD, response_view
    from pipelines.report.glance import ModelUsed

    soft = SoftPrompt.load(options.soft_prompt) if options.soft_prompt else None
    folder = decoder_folder(options)
    if soft is not None:
        soft.check("response", model=folder.model.digest)

    def work(decoder: "Decoder", reached: Callable[[int, int], None]) -> "tuple[WordMap, str]":
        made = argument_map(
            example,
            decoder,
            options.measure,
            reached,
            soft_prompt=soft,
        )
        return made, f"{decoder.precision} on {decoder.device}"

    found, computed = await by_gradients(folder, tell, work)
    checked = check(example, found, options.aggregation)
    used = [gradients_of(folder)]
    if options.soft_prompt is not None:
        digest = file_digest(options.soft_prompt)
        used.append(ModelUsed("soft prompt", options.soft_prompt.name, digest))

    def view(png: bytes | None) -> "ExperimentView":
        limit = 1 - THRESHOLD if options.aggregation == "max" else None
        return response_view(checked, found.values, png, limit=limit, models=used)

    return Inspection(
        checked,
        f"gradients of {folder.model.name}{' with a soft prompt' if soft else ''}, {computed}; "
        "--detector ablation finds more errors",
        title=CHECKED,
        view=view,
        picture=partial(found.picture, example.question) if found.values.size else None,
        about={
            "aggregation": options.aggregation,
            "measure": options.measure,
            "computed": computed,
        },
    )


async def by_ablation(
    example: "NpovExample", models: Models, tell: Tell
) -> "Inspection[AblationErrors]":
    """Ask how likely the response is without each argument; errors are those of `ablation`."""
    from pipelines.npov.check import ablation, ablation_errors
    from pipelines.npov.example import SIDES
    from pipelines.npov.view import CHECKED, ablation_picture, ablation_view

    client = models.asked
    tell(f"leaving out each of {sum(len(example.arguments(side)) for side in SIDES)} arguments")
    checked = ablation_errors(example, await ablation(example, client.log_probabilities))
    used = models_used(**{"log-probabilities": client.model})
    return Inspection(
        checked,
        cost_line(client),
        title=CHECKED,
        view=lambda png: ablation_view(checked, png, used),
        picture=partial(ablation_picture, checked),
        about={"detector": "ablation"},
    )


CHECK_NPOV = Task(
    name="check-npov",
    title="Check a neutral response",
    asked=ExampleAsked,
    options=CheckOptions,
    needs=needs,
    inspect=check_npov,
    form=("detector",),
    maps=True,
)
