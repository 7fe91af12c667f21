"""The protocol of judges: claims and documents in, one judgement per pair out."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.judgement import Judgement, Judgements, Truncation

ClaimAndDocument = tuple[str, Document]
"""A claim, and the document to judge it by."""


class PairError(InputError):
    """An item's texts are too long to be judged; other items are not affected."""


class Judge(Protocol):
    """Judges every claim by every document."""

    @property
    def identity(self) -> str:
        """Everything that decides an answer besides claim and document; see `identity_of`.

        Judges of equal identity give equal judgements, on any machine.
        """
        ...

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document.

        Judgements of a claim that is too long are `INVALID`, with the reason as reasoning.
        """
        ...


def identity_of(kind: str, parts: Mapping[str, Any]) -> str:
    """An identity: the kind of judge, and the SHA-256 of all that decides its answers.

    The order of keys in `parts` does not matter.
    """
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"{kind} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


async def label_pairs(
    judge: Judge, wanted: Sequence[ClaimAndDocument]
) -> tuple[dict[tuple[str, str], Judgement], dict[str, Truncation]]:
    """Ask a judge for some pairs only, in calls as large as they can be.

    Documents wanted for the same claims go into one call. Calls start in the order of the
    documents, so that a language model reads one document after the other. Pairs must be distinct,
    and so must document ids.

    Returns:
        (claim, document id) -> judgement, and document id -> truncation if it was cut. A document
        is in one call only, so it has at most one truncation.
    """
    claims_of: dict[str, list[str]] = {}
    documents: dict[str, Document] = {}
    for claim, document in wanted:
        documents[document.id] = document
        claims_of.setdefault(document.id, []).append(claim)
    calls: dict[tuple[str, ...], list[Document]] = {}
    for name, claims in claims_of.items():
        calls.setdefault(tuple(claims), []).append(documents[name])
    answers = await asyncio.gather(*(judge(claims, group) for claims, group in calls.items()))
    judged = {
        (judgement.claim, judgement.document): judgement
        for answer in answers
        for judgement in answer.judgements
    }
    cut = {
        truncation.text.removeprefix("document "): truncation
        for answer in answers
        for truncation in answer.truncations
    }
    return judged, cut
