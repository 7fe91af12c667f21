"""The main entity of a question: what a report is to be about (ConflictScore, section 5)."""

import re
from itertools import takewhile
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel

from pipelines.prompts import Prompt
from pipelines.text.declarative import affirmed
from pipelines.text.words import content_words
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

MOST_CHARACTERS = 120
REPLY_TOKENS = 64

# What stands behind "in", "on" or "at" is where the thing is that the question asks about.
_NAME = re.compile(
    r"(?<=[^.?!:]\s)(?<!\b(?:in|on|at)\s)[A-Z0-9][\w'’-]*(?:\s+(?:of|the|de|and|[A-Z0-9][\w'’-]*))*"
)
_OPENING = re.compile(
    r"(?:(?:in|on|at|to|for|of|by|from|with)\s+)?"
    r"(?:what|which|who|whom|whose|when|where|why|how(?:\s+(?:many|much|long|often|far|old))?)\s+"
    r"(?:(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|had)\s+)?"
    r"(?:the|an?)?\s*",
    re.IGNORECASE,
)


class EntityReply(BaseModel):
    """The JSON reply to the prompt that asks for an entity."""

    entity: Annotated[str, told(minLength=1, maxLength=MOST_CHARACTERS)]


class Entity(NamedTuple):
    """What a report is about, and who says so."""

    name: str
    source: Literal["model", "rule"]


async def main_entity(question: str, client: Client, prompt: Prompt) -> Entity:
    """The main entity by a language model, else by rule.

    The rule is taken where the reply cannot be read, or names what no word of the question does.

    Args:
        question: Any.
        client: The model.
        prompt: "conflictscore/entity".

    Raises:
        RequestError: The question does not fit the context.
        ServingError: No server can be had.
    """
    reply = await client.structured(
        prompt.messages(question=question), EntityReply, Sampling(max_tokens=REPLY_TOKENS)
    )
    named = " ".join(reply.value.entity.split()).strip(" .?\"'") if reply.value else ""
    if content_words(named) & content_words(question):
        return Entity(named, "model")
    return Entity(entity_by_rule(question), "rule")


def entity_by_rule(question: str) -> str:
    """The main entity without a model.

    Of a question of yes or no it is the subject: "Is infinite scrolling a good web design
    technique?" is about infinite scrolling. Of another one it is the longest name in it, else what
    follows the words that ask.
    """
    asked = " ".join(question.split()).rstrip("? ")
    if statement := affirmed(question):
        pairs = zip(asked.split()[1:], statement.split(), strict=False)
        same = takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), pairs)
        subject = " ".join(word for word, _ in same)
        return subject if len(subject) > len("the") else asked.partition(" ")[2]
    names = _NAME.findall(asked)
    return str(max(names, key=len)) if names else _OPENING.sub("", asked, count=1) or asked
