"""Step 3 of the study: arguments are drawn, and the generator answers (NPOV, 2.1 and 4.1).

There are two kinds of writers. A chat model is told what to write, with examples, and its reply is
JSON constrained by a schema: every server supports that, and no free text has to be parsed. A model
with a soft prompt, as in the paper, reads the tuned vectors and the input of figure 3, and
continues within its curly braces.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from pipelines import prompts
from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.experiment.options import ServedOptions, source_of
from pipelines.files import sha256_of
from pipelines.npov.example import NpovExample, Perspectives, input_text, unbraced
from pipelines.npov.soft_prompt import SoftPrompt
from pipelines.npov.study import Study, asked, digest_of
from pipelines.npov.synthesis import MOST_PER_SIDE
from pipelines.prompts import Prompt
from pipelines.report.progress import say
from serving import schemas
from serving.calls import Sampling
from serving.client import Client
from serving.connect import connect, resolve
from serving.embeddings import embed
from serving.tokens import Message

REPLY_TOKENS = 512
"""Most tokens of a reply to eight arguments or fewer; any more add `TOKENS_PER_ARGUMENT` each."""

TOKENS_PER_ARGUMENT = 64

PATTERN = r"[^{}\n]+\}\nNeutral response core: \{[^{}\n]+\}"
"""Constraint on a soft prompt's reply: the target of figure 3. The first closing brace is the
opening's, so a stop string cannot mark the end of the reply."""

_REPLY = re.compile(r"([^{}]+)\}\s*Neutral response core: \{([^{}]+)\}")


class ResponseReply(BaseModel):
    """The JSON reply of a chat model."""

    opening: Annotated[str, schemas.told(maxLength=400)]
    response: str


@dataclass(frozen=True)
class ChatWriter:
    """A chat model, and the prompt that tells it what to write."""

    client: Client
    prompt: Prompt


@dataclass(frozen=True, eq=False)
class SoftPromptWriter:
    """A model whose soft prompt, (tokens, d), makes it write.

    It runs on a server that takes embeddings and computes in `dtype`; the embeddings of the input
    are read from the model's folder.
    """

    client: Client
    vectors: NDArray[np.float32]
    folder: Path
    dtype: str = "auto"


Writer = ChatWriter | SoftPromptWriter


@dataclass(frozen=True)
class Response:
    """Arguments and the response written from them.

    After an unreadable reply the example is None, with the problem in one line and the unchanged
    reply.
    """

    example: NpovExample | None
    problem: str | None = None
    raw: str | None = None


def respond_prompt(overrides: Path | None = None) -> Prompt:
    """The prompt of chat models, or the user's replacement.

    Raises:
        InputError: It cannot be used.
    """
    return prompts.load("npov/respond", {"question", "perspectives"}, overrides)


async def respond(
    given: Perspectives,
    writer: Writer,
    *,
    temperature: float = 0.0,
    seed: int = 0,
    most: int | None = None,
) -> Response:
    """Have a response written (NPOV, section 2.1), with room for all arguments.

    It has at most `most` tokens, by default `REPLY_TOKENS` or more.

    Raises:
        InputError: The soft prompt and the model's embeddings differ in width.
        RequestError: The arguments do not fit the model's context.
        ServingError: No server is available, or the model's embeddings cannot be read.
    """
    arguments = len(given.pro) + len(given.con)
    room = max(REPLY_TOKENS, TOKENS_PER_ARGUMENT * arguments) if most is None else most
    sampling = Sampling(room, temperature, seed)
    if isinstance(writer, ChatWriter):
        reply = await writer.client.structured(told(given, writer.prompt), ResponseReply, sampling)
        if reply.value is None:
            return Response(None, reply.problem, reply.raw)
        return _response(given, reply.value.opening, reply.value.response, reply.raw)
    completion = await writer.client.complete_embeddings(
        input_vectors(given, writer), sampling, pattern=PATTERN
    )
    match = _REPLY.match(completion.text)
    if match is None:
        cut = "" if completion.finished else f" (cut after {sampling.max_tokens} tokens)"
        beginning = schemas.how_it_begins(completion.text)
        problem = f"not an opening and a response in curly braces{cut}; {beginning}"
        return Response(None, problem, completion.text)
    return _response(given, match[1], match[2], completion.text)


def told(given: Perspectives, prompt: Prompt) -> list[Message]:
    """The messages to a chat model.

    Raises:
        InputError: The user's prompt cannot be filled in.
    """
    lines = input_text(given).splitlines()
    perspectives = "\n".join(line for line in lines if line.startswith("Perspective #"))
    return [*prompt.messages(question=lines[0], perspectives=perspectives)]


def input_vectors(given: Perspectives, writer: SoftPromptWriter) -> NDArray[np.float32]:
    """The soft prompt and the embeddings of the input, as in tuning: (tokens, d).

    Raises:
        InputError: They differ in width, or the model's tokenizer is not on this machine.
        ServingError: The model's embeddings cannot be read.
    """
    name, tokenizer = writer.client.model.name, writer.client.tokenizer
    if tokenizer is None:
        raise InputError(
            f"a soft prompt needs the tokenizer of {name} on this machine; register the model's "
            "folder"
        )
    # With the special tokens that begin a text, if the model has any.
    ids = tokenizer.tokenizer.encode(tokenizer.defuse(input_text(given))).ids
    text = embed(writer.folder, ids, dtype=writer.dtype)
    if writer.vectors.shape[1] != text.shape[1]:
        raise InputError(
            f"the soft prompt has vectors of {writer.vectors.shape[1]} numbers, but {name} "
            f"reads {text.shape[1]}; it was tuned for another model"
        )
    return np.concatenate([writer.vectors.astype(np.float32), text])


def _response(given: Perspectives, opening: str, response: str, raw: str) -> Response:
    """The response, or a problem if it or its opening has no words."""
    for name, text in (("opening", opening), ("response", response)):
        if not re.search(r"\w", text):
            return Response(None, f"the {name} has no words", raw)
    texts = {"opening": unbraced(opening), "response": unbraced(response)}
    return Response(NpovExample(**given.model_dump(), **texts))


@asynccontextmanager
async def opened_writer(
    options: ServedOptions,
    soft: SoftPrompt | None,
    prompt: Prompt,
    *,
    logs: Path | None = None,
    on_status: Callable[[str], None] = say,
) -> AsyncIterator[Writer]:
    """The writer of responses; a server starts with the first question.

    Raises:
        InputError: The soft prompt is for another model, or the model's folder is not available.
        ServingError: The model is missing, or no server is available.
    """
    source = replace(source_of(options, "generator"), embeddings=soft is not None)
    folder = (await resolve(source)).folder
    if soft is not None:
        if folder is None:
            raise InputError(
                "a soft prompt needs the model's folder on this machine, to embed its input; the "
                "server at --endpoint serves a model from elsewhere"
            )
        soft.check("response", model=folder.digest)
    async with connect(
        source,
        cache=options.cache,
        logs=logs,
        concurrency=options.concurrency,
        on_status=on_status,
    ) as client:
        if soft is None or folder is None:
            yield ChatWriter(client, prompt)
        else:
            dtype = source.options(folder.name).dtype
            yield SoftPromptWriter(client, soft.vectors, folder.path, dtype)


class Drawn(BaseModel, frozen=True):
    """Drawn arguments, and the response written from them or why it cannot be read."""

    id: str
    given: Perspectives
    temperature: float
    example: NpovExample | None = None
    problem: str | None = None
    raw: str | None = None


BOTH_TEMPERATURES: Final = 3
"""How many of a topic's first draws get two responses each."""


def draws(topics: Sequence[Topic], most: int, seed: int) -> list[Drawn]:
    """Up to `most` distinct draws of arguments for each topic (NPOV, section 4.1).

    They take turns at one, two and three arguments per side, as far as the topic has them. The
    first three are answered at temperatures 0.0 and 0.7, the others at 0.7.
    """
    drawn = []
    for topic in topics:
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311  (a sample, not a secret)
        seen: dict[int, set[Any]] = defaultdict(set)
        for number in range(most):
            in_turn = [(number + more) % MOST_PER_SIDE + 1 for more in range(MOST_PER_SIDE)]
            left = [
                size
                for size in in_turn
                if len(seen[size]) < comb(len(topic.pro), size) * comb(len(topic.con), size)
            ]
            if not left:
                break
            size = left[0]
            while True:
                pro, con = (draw.sample(arguments, size) for arguments in (topic.pro, topic.con))
                if (chosen := (frozenset(pro), frozenset(con))) not in seen[size]:
                    break
            seen[size].add(chosen)
            given = Perspectives(
                topic=topic.topic, question=topic.question, pro=tuple(pro), con=tuple(con)
            )
            for temperature in (0.0, 0.7) if number < BOTH_TEMPERATURES else (0.7,):
                name = f"{topic.topic}/{number}-{temperature}"
                drawn.append(Drawn(id=name, given=given, temperature=temperature))
    return drawn


async def responses(study: Study, writer: Writer) -> list[Drawn]:
    """The generator's responses to all draws of all topics, stored as they come."""
    wanted = draws(study.all_topics, study.sizes.draws, study.options.seed)
    study.begin(
        "responses",
        draws=digest_of([drawn.model_dump() for drawn in wanted]),
        writer=_writer_config(study, writer),
    )
    client = writer.client

    async def written(drawn: Drawn) -> Drawn:
        seed = int(digest_of([study.options.seed, drawn.id])[:7], 16)
        arguments = len(drawn.given.pro) + len(drawn.given.con)
        response = await respond(
            drawn.given,
            writer,
            temperature=drawn.temperature,
            seed=seed,
            most=TOKENS_PER_ARGUMENT * (arguments + 2),
        )
        return drawn.model_copy(
            update={"example": response.example, "problem": response.problem, "raw": response.raw}
        )

    by_id = {drawn.id: drawn for drawn in wanted}
    done = await asked(
        study, "responses", Drawn, by_id, written, client=client, counted="responses"
    )
    unread = sum(drawn.example is None for drawn in done)
    study.tell(
        "responses",
        f"Responses: {len(done):,}; draws per topic: at most {study.sizes.draws} (the paper: 18). "
        f"Unreadable and left out: {unread:,}.",
    )
    return done


def _writer_config(study: Study, writer: Writer) -> dict[str, Any]:
    identity = writer.client.model
    instructed_by = (
        {"prompt": writer.prompt.digest}
        if isinstance(writer, ChatWriter)
        else {"soft_prompt": sha256_of(study.prompt("response"))}
    )
    return {
        "name": identity.name,
        "digest": identity.digest,
        "engine": identity.engine,
        **instructed_by,
    }
