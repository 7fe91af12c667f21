"""A language model that judges answers, as in the paper (CONFLICTS, section 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import BaseModel

from pipelines import prompts
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.prompts import Prompt
from serving.calls import Sampling, Structured
from serving.client import Client

BehaviourForm = Literal["json", "choice"]
"""A verdict with its reason, or one word with its probability."""

BEHAVIOUR: Final = {each: f"behaviour_{each.replace('-', '_')}" for each in ConflictType}
"""Type -> the prompt on its expected behaviour, with examples of answers that adhere or do not."""

VARIABLES: Final = {
    **{name: {"definition", "expected", "query", "answer", "form"} for name in BEHAVIOUR.values()},
    "recall": {"query", "gold", "answer"},
    "grounding": {"evidence", "query", "answer", "sentence"},
}
"""Prompt -> what it is told."""

REPLY_TOKENS: Final = 200

ReplyT = TypeVar("ReplyT", bound=BaseModel)


@dataclass(frozen=True)
class ModelJudge:
    """A language model with the prompts of `VARIABLES`, and how it is asked about behaviour."""

    client: Client
    templates: Mapping[str, Prompt]
    form: BehaviourForm = "json"

    async def reply(
        self,
        template: str,
        schema: type[ReplyT],
        told: Mapping[str, object],
        *,
        affinity: str,
        tokens: int = REPLY_TOKENS,
    ) -> Structured[ReplyT]:
        """The reply to a prompt, of at most so many tokens."""
        messages = self.templates[template].messages(**told)
        return await self.client.structured(messages, schema, Sampling(tokens), affinity=affinity)


def model_judge(
    client: Client, form: BehaviourForm = "json", overrides: Path | None = None
) -> ModelJudge:
    """A language model with its prompts.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    templates = {
        name: prompts.load(f"conflicts/{name}", variables, overrides)
        for name, variables in VARIABLES.items()
    }
    return ModelJudge(client, templates, form)
