"""What a run will cost, counted before any model is asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
    """

    responses: int
    decomposition_calls: int
    evidence_calls: int
    prompt_tokens: int
    distinct_tokens: int


def estimate(examples: Sequence[Example], scorer: Scorer) -> Estimate:
    """Count calls and tokens without asking any model."""
    client = scorer.client
    splits = judged = tokens = distinct = 0
    instruction = client.count(_evidence_prompt(scorer, "", ""))
    for example in examples:
        asks = scorer.decomposition is not None and example.claims is None
        if asks and scorer.decomposition is not None:
            extra = {"k": scorer.settings.k} if scorer.settings.claims == "salient" else {}
            prompt = scorer.decomposition.messages(response=example.response, **extra)
            splits += 1
            tokens += client.count(prompt)
            distinct += client.count([{"role": "user", "content": example.response}])
        claims = _expected_claims(example, scorer.settings)
        for document in example.documents:
            whole = client.count(_evidence_prompt(scorer, document.as_read(), claims[0]))
            judged += len(claims)
            tokens += whole * len(claims)
            distinct += whole - instruction + (len(claims) - 1) * CLAIM_TOKENS_GUESS
    if scorer.settings.evidence == "together":
        judged = sum(len(_expected_claims(example, scorer.settings)) for example in examples)
    return Estimate(len(examples), splits, judged, tokens, distinct + instruction)


def _expected_claims(example: Example, settings: Settings) -> Sequence[str]:
    if example.claims is not None:
        return example.claims
    if settings.claims == "whole":
        return (example.response,)
    sentences = [part for part in SENTENCE_END.split(example.response) if part.strip()]
    return sentences[: settings.k] if settings.claims == "salient" else sentences


def _evidence_prompt(scorer: Scorer, document: str, claim: str) -> list[dict[str, str]]:
    if scorer.settings.evidence == "together":
        return scorer.labeller.prompt.messages(documents=[document], claim=claim)
    return scorer.labeller.prompt.messages(document=document, claim=claim)
