"""Neutral responses by a language model, from the arguments of two perspectives (NPOV, 2.1).

Two kinds of writers. A chat model is told what to write, with examples, and its reply is JSON
constrained by a schema: every server can do that, and no text of a model's own has to be taken
apart. A model with a soft prompt, which is how the paper does it, reads the tuned vectors and the
input of figure 3, and goes on in its curly braces.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from pipelines import prompts
from pipelines.errors import InputError
from pipelines.npov.example import NpovExample, Perspectives, input_text, unbraced
from pipelines.prompts import Prompt
from serving import schemas
from serving.calls import Sampling
from serving.client import Client
from serving.embeddings import embed
from serving.tokens import Message

REPLY_TOKENS = 512
"""Most tokens of a reply to up to eight arguments; further ones may have `TOKENS_PER_ARGUMENT`."""

TOKENS_PER_ARGUMENT = 64

PATTERN = r"[^{}\n]+\}\nNeutral response core: \{[^{}\n]+\}"
"""What a soft prompt's reply is held to: the target of figure 3. The first brace that closes is the
opening's, so no stop string could tell the end of the reply."""

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

    It is at a server that takes embeddings, which computes in `dtype`; those of the input are read
    from the model's folder.
    """

    client: Client
    vectors: NDArray[np.float32]
    folder: Path
    dtype: str = "auto"


Writer = ChatWriter | SoftPromptWriter


@dataclass(frozen=True)
class Response:
    """Arguments and what was written from them.

    A reply that could not be read is no response: there is no example then, but the problem in one
    line, and the reply as it is.
    """

    example: NpovExample | None
    problem: str | None = None
    raw: str | None = None


def respond_prompt(overrides: Path | None = None) -> Prompt:
    """The prompt of chat models, the user's own where there is one.

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

    It has at most so many tokens, `REPLY_TOKENS` or more unless given.

    Raises:
        InputError: The soft prompt and the model's embeddings differ in width.
        RequestError: The arguments do not fit the model's context.
        ServingError: No server can be had, or the model's embeddings cannot be read.
    """
    arguments = len(given.pro) + len(given.con)
    room = max(REPLY_TOKENS, TOKENS_PER_ARGUMENT * arguments) if most is None else most
    drawn = Sampling(room, temperature, seed)
    if isinstance(writer, ChatWriter):
        reply = await writer.client.structured(told(given, writer.prompt), ResponseReply, drawn)
        if reply.value is None:
            return Response(None, reply.problem, reply.raw)
        return _response(given, reply.value.opening, reply.value.response, reply.raw)
    completion = await writer.client.complete_embeddings(
        input_vectors(given, writer), drawn, pattern=PATTERN
    )
    found = _REPLY.match(completion.text)
    if found is None:
        cut = "" if completion.finished else f" (cut after {drawn.max_tokens} tokens)"
        began = schemas.how_it_begins(completion.text)
        problem = f"not an opening and a response in curly braces{cut}; {began}"
        return Response(None, problem, completion.text)
    return _response(given, found[1], found[2], completion.text)


def told(given: Perspectives, prompt: Prompt) -> list[Message]:
    """What a chat model is asked.

    Raises:
        InputError: The user's own prompt cannot be filled in.
    """
    lines = input_text(given).splitlines()
    perspectives = "\n".join(line for line in lines if line.startswith("Perspective #"))
    return [*prompt.messages(question=lines[0], perspectives=perspectives)]


def input_vectors(given: Perspectives, writer: SoftPromptWriter) -> NDArray[np.float32]:
    """The soft prompt and the embeddings of the input, as they stood in tuning: (tokens, d).

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
    # With the special tokens that begin a text, where the model has such.
    ids = tokenizer.tokenizer.encode(tokenizer.defuse(input_text(given))).ids
    text = embed(writer.folder, ids, dtype=writer.dtype)
    if writer.vectors.shape[1] != text.shape[1]:
        raise InputError(
            f"the soft prompt has vectors of {writer.vectors.shape[1]} numbers, {name} reads "
            f"{text.shape[1]}; it was tuned for another model"
        )
    return np.concatenate([writer.vectors.astype(np.float32), text])


def _response(given: Perspectives, opening: str, response: str, raw: str) -> Response:
    """An example, unless the opening or the response says nothing."""
    for name, text in (("opening", opening), ("response", response)):
        if not re.search(r"\w", text):
            return Response(None, f"the {name} holds no word", raw)
    texts = {"opening": unbraced(opening), "response": unbraced(response)}
    return Response(NpovExample(**given.model_dump(), **texts))
