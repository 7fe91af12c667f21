"""What scoring a response takes, by formula; for all experiments that score."""

from collections.abc import Sequence

from pipelines.conflictscore.claims import (
    CHARACTERS_PER_CLAIM,
    LEAST_REPLY_TOKENS,
    distinct,
    sentence_claims,
)
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Document
from pipelines.experiment.cost import CHARACTERS_PER_TOKEN, Cost, Tokens, call, judging

NAMED = "Document 10 (Document J): \n\n"
"""What stands before a document whose place a claim names."""


def scoring(
    settings: Settings,
    tokens: Tokens,
    response: str | int,
    documents: Sequence[Document],
    claims: Sequence[str] | None = None,
) -> Cost:
    """Splitting a response, and judging its claims by its documents.

    To split takes one call, whose reply has max(512, 3 x the response) tokens, and which reads the
    response. Claims are as many as are given, one per sentence, one, k, or at most characters / 10
    + 2; all claims of a reply have its tokens together. A reply may have no claim.

    Args:
        settings: The metric.
        tokens: Counts those of texts.
        response: The text, or the most tokens of one that is to be written, which may be empty;
            such tokens have four characters, and such sentences ten.
        documents: What claims are judged by.
        claims: Those to judge in place of the response's own.
    """
    read = [tokens(NAMED, each.as_read()) for each in documents]
    known = distinct(claims) if claims is not None else ()
    if isinstance(response, int):
        size, most = response, response * CHARACTERS_PER_TOKEN // CHARACTERS_PER_CLAIM + 2
    else:
        size, most = tokens(response), len(response) // CHARACTERS_PER_CLAIM + 2
        if settings.claims == "sentences":
            known = known or sentence_claims(response)
        elif settings.claims == "whole":
            known = known or (response,)
    if known:
        count, every = len(known), tokens(*known)
        return judging(settings, tokens, read, claims=count, claim_tokens=every)
    if settings.claims == "whole":
        most = 1
    if not settings.splits:
        return judging(settings, tokens, read, claims=most, claim_tokens=size, least=0)
    salient = settings.claims == "salient"
    shown = {"k": settings.k} if salient else {}
    name = "decompose" if settings.claims == "atomic" else settings.claims
    own = tokens.prompt(f"conflictscore/{name}", response="", **shown)
    reply = max(LEAST_REPLY_TOKENS, 3 * (size + tokens.turn))
    most = settings.k if salient else most
    split = call(own + size, reply).times(1, 0 if isinstance(response, int) else 1)
    return split + judging(settings, tokens, read, claims=most, claim_tokens=reply, least=0)
