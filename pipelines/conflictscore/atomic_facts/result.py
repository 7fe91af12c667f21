"""A sentence whose facts were matched with people's: one line of `atomic-facts.NAME.jsonl`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from pipelines.conflictscore.atomic_facts.matching import Match

Splitter = Literal["ours", "sentence", "conjunctions", "release"]
"""Our decomposition, the sentence itself, a split at conjunctions, the release's model."""


class Split(BaseModel):
    """The facts that somebody splits a sentence into.

    Attributes:
        by: Who.
        facts: In order, without repetitions.
        words, tagger: Pairs with people's facts, by content words and by support both ways.
    """

    model_config = ConfigDict(frozen=True)

    by: Splitter
    facts: tuple[str, ...]
    words: tuple[Match, ...]
    tagger: tuple[Match, ...]


class FactsResult(BaseModel):
    """A sentence, people's facts, and how it is split by everybody.

    It is "invalid" where the reply to our decomposition could not be read: `error` says why, `raw`
    is the reply, and ours is not among the splits.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    topic: str
    sentence: str
    people: tuple[str, ...]
    status: Literal["matched", "invalid", "failed"]
    splits: tuple[Split, ...] = ()
    error: str | None = None
    raw: str | None = None
