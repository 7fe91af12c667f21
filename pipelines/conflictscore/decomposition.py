"""From a response to the claims it makes (ConflictScore, section 3, step 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, create_model

from nli.windows import sentences
from pipelines import prompts
from pipelines.conflictscore.settings import ClaimSource
from pipelines.errors import InputError
from pipelines.evidence.judgement import Truncation
from pipelines.prompts import Prompt
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

CHARACTERS_PER_CLAIM = 10
"""A text of n characters makes no more than n / 10 + 2 claims. Real texts make far fewer; small
models would go on inventing some. A list that ends at this bound is recorded as capped."""
LEAST_REPLY_TOKENS = 512


class Claims(BaseModel):
    """The JSON reply to a decomposition prompt."""

    claims: list[str]


@dataclass(frozen=True)
class Decomposition:
    """The claims of one response, in its order, without repetitions.

    `capped` says that the list ended because it was as long as it may be, in claims or in tokens.
    Where there is no claim,
    `problem` says why in one line, and `raw` is the unreadable reply.
    """

    claims: tuple[str, ...]
    capped: bool = False
    truncations: tuple[Truncation, ...] = ()
    problem: str | None = None
    raw: str | None = None


def decomposition_prompt(source: ClaimSource, overrides: Path | None = None) -> Prompt | None:
    """The prompt that asks for claims; None where no model is asked (`sentences`, `whole`)."""
    match source:
        case "atomic":
            return prompts.load("conflictscore/decompose", {"response"}, overrides)
        case "salient":
            return prompts.load("conflictscore/salient", {"response", "k"}, overrides)
        case "sentences" | "whole":
            return None


async def decompose(
    response: str, client: Client | None, prompt: Prompt, *, k: int = 3, cut: bool = False
) -> Decomposition:
    """Ask the model for the claims of a response, by a prompt from `decomposition_prompt`.

    The `salient` prompt asks for `k` claims. With `cut` a response too long for the context may be
    cut.
    """
    if client is None:
        raise InputError(
            "splitting a response into claims needs a language model; name one, or take its "
            "sentences as claims: --claims sentences"
        )
    salient, room = prompt.name.endswith("salient"), reply_tokens(response, client)
    fitted = await client.fit(
        response,
        lambda text: prompt.messages(response=text, k=k),
        max_tokens=room,
        cut=cut,
        name="the response",
    )
    truncations = Truncation.of("response", fitted)
    most = k if salient else len(fitted.text) // CHARACTERS_PER_CLAIM + 2
    claim_list = Annotated[list[str], told(minItems=1, maxItems=most)]
    schema = create_model("Claims", __base__=Claims, claims=(claim_list, ...))
    messages = prompt.messages(response=fitted.text, k=k)
    reply = await client.structured(messages, schema, Sampling(max_tokens=room), partial="items")
    written = reply.value.claims if reply.value else []
    if claims := distinct(written[:most]):
        full = len(written) > most if salient else len(written) >= most
        return Decomposition(claims, full or reply.cut, truncations)
    problem = f"decomposition: {reply.problem or 'the reply has no claim'}"
    return Decomposition((), truncations=truncations, problem=problem, raw=reply.raw)


def sentence_claims(response: str) -> tuple[str, ...]:
    """Each sentence of a response as a claim; no model is asked."""
    spans = sentences(response)
    return distinct([response[span.start : span.end] for span in spans])


def reply_tokens(response: str, client: Client) -> int:
    """Room for the list of claims: they repeat the response's words, some of them often."""
    return max(LEAST_REPLY_TOKENS, 3 * client.count([{"role": "user", "content": response}]))


def distinct(claims: Sequence[str]) -> tuple[str, ...]:
    """Claims without empty ones and repetitions (white space and case aside), first ones first.

    Small models repeat themselves; a claim counted twice would weigh twice in both scores.
    """
    first: dict[str, str] = {}
    for claim in claims:
        text = " ".join(claim.split())
        if text:
            first.setdefault(text.casefold(), text)
    return tuple(first.values())
