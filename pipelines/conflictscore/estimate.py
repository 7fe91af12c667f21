"""What a run will cost, counted before any model is asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.conflictscore.decomposition import reply_tokens
from pipelines.conflictscore.run import Scorer
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Example

SENTENCE_END = re.compile(r"[.!?]+(?:\s|$)")

CLAIM_TOKENS_GUESS = 60
"""What a further claim adds behind a cached document: itself, its fence and the last line."""


@dataclass(frozen=True)
class Estimate:
    """What a run will ask of the model, as far as that can be known beforehand.

    Attributes:
        responses: To be scored.
        decomposition_calls, evidence_calls: Requests. The number of claims is known only after
            decomposition; one per sentence is assumed.
        prompt_tokens: To be read, prefixes that the server has cached included.
        distinct_tokens: Of these, what is left when every shared prefix is read once.
        written_tokens: To be written, at most.
    """

    responses: int
    decomposition_calls: int
    evidence_calls: int
    prompt_tokens: int
    distinct_tokens: int
    written_tokens: int


def estimate(examples: Sequence[Example], scorer: Scorer) -> Estimate:
    """Count calls and tokens without asking any model."""
    client, labeller = scorer.client, scorer.labeller
    # What all evidence prompts begin with is read once in all.
    shared = client.count(labeller.messages([""], ""))
    splits = judged = prompts = written = 0
    distinct = shared
    for example in examples:
        if scorer.decomposition is not None and example.claims is None:
            extra = {"k": scorer.settings.k} if scorer.settings.claims == "salient" else {}
            prompt = scorer.decomposition.messages(response=example.response, **extra)
            splits += 1
            prompts += client.count(prompt)
            distinct += client.count([{"role": "user", "content": example.response}])
            written += reply_tokens(example.response, client)
        claims = _expected_claims(example, scorer.settings)
        texts = [document.as_read() for document in example.documents]
        for read_together in [texts] if labeller.mode == "together" else [[text] for text in texts]:
            whole = client.count(labeller.messages(read_together, claims[0]))
            judged += len(claims)
            prompts += whole * len(claims)
            distinct += whole - shared + (len(claims) - 1) * CLAIM_TOKENS_GUESS
            written += labeller.reply_tokens(len(read_together)) * len(claims)
    return Estimate(len(examples), splits, judged, prompts, distinct, written)


def _expected_claims(example: Example, settings: Settings) -> Sequence[str]:
    if example.claims is not None:
        return example.claims
    if settings.claims == "whole":
        return (example.response,)
    sentences = [part for part in SENTENCE_END.split(example.response) if part.strip()]
    sentences = sentences or [example.response]
    return sentences[: settings.k] if settings.claims == "salient" else sentences
