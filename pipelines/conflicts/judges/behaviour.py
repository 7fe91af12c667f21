"""Whether an answer behaves as its conflict type wants (CONFLICTS, section 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, StrictBool

from pipelines import prompts
from pipelines.conflicts.judges.verdicts import Adherence
from pipelines.conflicts.taxonomy import CATEGORY, ConflictType
from pipelines.prompts import Prompt
from serving.calls import Sampling
from serving.client import Client

BehaviourForm = Literal["json", "choice"]
"""A verdict with its reason, or one word with its probability."""

REPLY_TOKENS: Final = 200

YES, NO = "YES", "NO"

VARIABLES: Final = frozenset({"definition", "expected", "query", "answer", "form"})


class AdherenceJson(BaseModel):
    """The JSON reply; the reason comes first, so that the verdict follows from it."""

    reason: Annotated[str, Field(json_schema_extra={"maxLength": 300})]
    adheres: StrictBool


@dataclass(frozen=True)
class BehaviourJudge:
    """Who judges behaviour.

    Attributes:
        client: The model.
        templates: Type -> its prompt, with examples of answers that adhere and that do not.
        form: How the verdict is asked for.
    """

    client: Client
    templates: Mapping[ConflictType, Prompt]
    form: BehaviourForm = "json"


def behaviour_judge(
    client: Client, form: BehaviourForm = "json", overrides: Path | None = None
) -> BehaviourJudge:
    """A judge of behaviour with its prompts, one per type.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    templates = {
        each: prompts.load(f"conflicts/behaviour_{each.replace('-', '_')}", VARIABLES, overrides)
        for each in ConflictType
    }
    return BehaviourJudge(client, templates, form)


async def behaviour(
    query: str,
    type: ConflictType,  # noqa: A002  (the paper's t)
    answer: str,
    by: BehaviourJudge,
) -> Adherence:
    """Judge an answer by the expected behaviour s = f(t) of a type.

    The judge sees the question, the type's definition and behaviour, examples, and the answer with
    its citations; as in the paper, it sees neither the search results nor the gold answer.

    Args:
        query: What was asked.
        type: The type whose behaviour is expected.
        answer: Not empty.
        by: Who judges.

    Raises:
        RequestError: The answer does not fit the model's context.
        ServingError: No server can be had.
    """
    category = CATEGORY[type]
    messages = by.templates[type].messages(
        definition=category.definition,
        expected=category.expected,
        query=query,
        answer=answer,
        form=by.form,
    )
    # Queries of one type share the prompt up to the query.
    affinity = f"behaviour {type}"
    if by.form == "choice":
        chosen = await by.client.choose(messages, (YES, NO), affinity=affinity)
        return Adherence(
            adheres=chosen.label == YES, type=type, probability=chosen.probabilities[YES]
        )
    reply = await by.client.structured(
        messages, AdherenceJson, Sampling(REPLY_TOKENS), affinity=affinity
    )
    if reply.value is None:
        return Adherence(adheres=None, type=type, problem=reply.problem, raw=reply.raw)
    return Adherence(adheres=reply.value.adheres, type=type, reason=reply.value.reason.strip())
