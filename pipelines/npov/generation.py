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
from pydantic import BaseModel, Field

from pipelines import prompts
from pipelines.errors import InputError
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.knowledge_base import Perspectives
from pipelines.npov.prompt import response_pair, unbraced
from pipelines.prompts import Prompt
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

    opening: Annotated[str, Field(max_length=400)]
    response: str


@dataclass(frozen=True)
class Instructed:
    """A chat model that is told what to write.

    Attributes:
        client: The model.
        prompt: What it is told.
    """

    client: Client
    prompt: Prompt


@dataclass(frozen=True, eq=False)
class Tuned:
    """A model whose soft prompt makes it write.

    Attributes:
        client: The model, at a server that takes embeddings.
        vectors: The soft prompt, (tokens, d), tuned for that model.
        folder: The model's folder, for the embeddings of the input.
        dtype: The number format that the server computes in.
    """

    client: Client
    vectors: NDArray[np.float32]
    folder: Path
    dtype: str = "auto"


@dataclass(frozen=True)
class Written:
    """What was written from arguments.

    Attributes:
        example: Arguments and response; None where the reply could not be read, which is no
            response and counts as none.
        problem: Why there is none, in one line.
        raw: The unreadable reply.
    """

    example: NpovExample | None
    problem: str | None = None
    raw: str | None = None


def instructed(client: Client, overrides: Path | None = None) -> Instructed:
    """A chat model with its prompt.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    return Instructed(client, respond_prompt(overrides))


def respond_prompt(overrides: Path | None = None) -> Prompt:
    """The prompt of chat models, the user's own where there is one.

    Raises:
        InputError: It cannot be used.
    """
    return prompts.load("npov/respond", {"question", "perspectives"}, overrides)


async def respond(
    given: Perspectives, by: Instructed | Tuned, sampling: Sampling | None = None
) -> Written:
    """Have a response written (NPOV, section 2.1).

    Args:
        given: The question and the arguments of both sides.
        by: Who writes.
        sampling: Greedy, with room for all arguments, unless given.

    Raises:
        InputError: The soft prompt and the model's embeddings differ in width.
        RequestError: The arguments do not fit the model's context.
        ServingError: No server can be had, or the model's embeddings cannot be read.
    """
    drawn = sampling or Sampling(reply_tokens(given))
    if isinstance(by, Instructed):
        reply = await by.client.structured(told(given, by.prompt), ResponseReply, drawn)
        if reply.value is None:
            return Written(None, reply.problem, reply.raw)
        return _written(given, reply.value.opening, reply.value.response, reply.raw)
    completion = await by.client.complete_embeddings(
        input_vectors(given, by), drawn, pattern=PATTERN
    )
    found = _REPLY.match(completion.text)
    if found is None:
        cut = "" if completion.finished else f" (cut after {drawn.max_tokens} tokens)"
        problem = f"not an opening and a response in curly braces{cut}"
        return Written(None, problem, completion.text)
    return _written(given, found[1], found[2], completion.text)


def told(given: Perspectives, prompt: Prompt) -> list[Message]:
    """What a chat model is asked.

    Raises:
        InputError: The user's own prompt cannot be filled in.
    """
    lines = input_text(given).splitlines()
    perspectives = "\n".join(line for line in lines if line.startswith("Perspective #"))
    return [*prompt.messages(question=lines[0], perspectives=perspectives)]


def input_text(given: Perspectives) -> str:
    """The input sequence of figure 3, up to the brace that the opening stands in."""
    # A response is what an example needs; the input has none of it.
    return response_pair(NpovExample(**given.model_dump(), response="none yet"))[0]


def input_vectors(given: Perspectives, by: Tuned) -> NDArray[np.float32]:
    """The soft prompt and the embeddings of the input, as they stood in tuning: (tokens, d).

    Raises:
        InputError: They differ in width, or the model's tokenizer is not on this machine.
        ServingError: The model's embeddings cannot be read.
    """
    tokenizer = by.client.tokenizer
    if tokenizer is None:
        raise InputError(
            f"a soft prompt needs the tokenizer of {by.client.model.name} on this machine; "
            "register the model's folder"
        )
    # With the special tokens that begin a text, where the model has such.
    ids = tokenizer.tokenizer.encode(tokenizer.defuse(input_text(given))).ids
    text = embed(by.folder, ids, dtype=by.dtype)
    name, width = by.client.model.name, text.shape[1]
    if by.vectors.shape[1] != width:
        raise InputError(
            f"the soft prompt has vectors of {by.vectors.shape[1]} numbers, {name} reads {width}; "
            "it was tuned for another model"
        )
    return np.concatenate([by.vectors.astype(np.float32), text])


def reply_tokens(given: Perspectives) -> int:
    """Most tokens of a reply, more for many arguments."""
    count = sum(len(getattr(given, side)) for side in SIDES)
    return max(REPLY_TOKENS, TOKENS_PER_ARGUMENT * count)


def _written(given: Perspectives, opening: str, response: str, raw: str) -> Written:
    """An example, unless the opening or the response says nothing."""
    for name, text in (("opening", opening), ("response", response)):
        if not re.search(r"\w", text):
            return Written(None, f"the {name} holds no word", raw)
    texts = {"opening": unbraced(opening), "response": unbraced(response)}
    return Written(NpovExample(**given.model_dump(), **texts))
