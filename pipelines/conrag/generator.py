"""A language model that writes answers, with the prompts that it is asked by."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from pipelines import prompts
from pipelines.prompts import Prompt
from serving.calls import Sampling, Structured
from serving.client import Client

Reply = TypeVar("Reply", bound=BaseModel)

PROMPTS = {
    "sort": {"query", "evidence", "claims"},
    "answer": {"query", "evidence"},
    "question": {"query", "evidence", "claims"},
    "first_answer": {"query", "evidence"},
    "repair": {"query", "evidence", "claims", "sentence", "problem"},
    "plain": {"query", "evidence"},
    "plain_question": {"query", "evidence"},
    "list": {"query", "evidence", "claims"},
    "plain_list": {"query", "evidence"},
    "list_repair": {"query", "evidence", "claims", "sentence", "problem"},
}
"""What each prompt is given."""


@dataclass(frozen=True)
class Generator:
    """A language model and its prompts by name.

    Attributes:
        temperature, seed: How its replies are drawn; at temperature 0 greedily, unseeded.
    """

    client: Client
    prompts: Mapping[str, Prompt]
    temperature: float = 0.0
    seed: int = 0

    async def ask(
        self, prompt: str, reply: type[Reply], max_tokens: int, **variables: object
    ) -> Structured[Reply]:
        """The reply to a prompt, read as JSON: of one that breaks off, whole sentences.

        Raises:
            RequestError: What is shown does not fit the model's context.
            ServingError: No server can be had.
        """
        messages = self.prompts[prompt].messages(**variables)
        sampling = Sampling(max_tokens, self.temperature, self.seed)
        return await self.client.structured(messages, reply, sampling, partial="items")


def generator(
    client: Client, overrides: Path | None = None, *, temperature: float = 0.0, seed: int = 0
) -> Generator:
    """A generator with its prompts, those of the user's own folder first.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    loaded = {
        name: prompts.load(f"conrag/{name}", given, overrides) for name, given in PROMPTS.items()
    }
    return Generator(client, loaded, temperature, seed)
