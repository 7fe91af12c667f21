"""Changed sentences written anew by a language model, each held to say what was planted."""

from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel

from pipelines import prompts
from pipelines.conflictscore.planted.change import Change
from pipelines.conflictscore.planted.facts import denies
from pipelines.conflictscore.planted.planting import Pair
from pipelines.prompts import Prompt
from pipelines.text.substitution import has_words
from pipelines.text.words import content_words
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

REPLY_TOKENS = 256

SHARED = 0.5
"""Least share of a sentence's content words that another on the same matter has."""


class Rewriting(BaseModel):
    """The JSON reply of a model that writes a sentence."""

    sentence: Annotated[str, told(minLength=1, maxLength=600)]


class Prompts(NamedTuple):
    """What a model is asked: to put a changed sentence in other words, and for another opinion."""

    rewrite: Prompt
    opposite: Prompt


def load(overrides: Path | None = None) -> Prompts:
    """The prompts, the user's own where there are any."""
    return Prompts(
        prompts.load("conflictscore/rewrite_planted", {"sentence", "keep"}, overrides),
        prompts.load("conflictscore/opposite_opinion", {"sentence"}, overrides),
    )


async def rewritten(pair: Pair, client: Client, asked: Prompts) -> Pair | None:
    """The pair with a sentence of the model in place of the changed one.

    Where its reply is unreadable or does not say what it must (`says`), the pair is as it was; None
    of an opinion, which no rule can turn round.
    """
    change = pair.change
    if change.kind == "opinions":
        messages = asked.opposite.messages(sentence=change.changed)
    else:
        keep = "\n".join(kept(change))
        messages = asked.rewrite.messages(sentence=change.changed, keep=keep)
    reply = await client.structured(messages, Rewriting, Sampling(max_tokens=REPLY_TOKENS))
    written = " ".join(reply.value.sentence.split()) if reply.value else ""
    if says(written, change):
        return pair.rewritten(written)
    return None if change.kind == "opinions" else pair


def kept(change: Change) -> list[str]:
    """What a rewriting must have word for word: the changed value, and an edition's year."""
    return [*change.keeps, *([] if change.kind == "negation" else [change.new])]


def says(written: str, change: Change) -> bool:
    """Whether a sentence says what the changed one does, as far as words can tell.

    It has the new value and not the old one; denies where the changed sentence does; is another
    than the claim, and about the same. Of an opinion only the last two are asked.
    """
    claim = content_words(change.sentence.text)
    same = len(claim & content_words(written)) >= SHARED * len(claim)
    if not same or written.casefold() == " ".join(change.sentence.text.split()).casefold():
        return False
    if change.kind == "opinions":
        return True
    return (
        denies(written) == denies(change.changed)
        and (change.kind == "negation" or not has_words(written, change.old))
        and all(has_words(written, part, as_written=True) for part in kept(change))
    )
