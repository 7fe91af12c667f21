"""The correction of label probabilities that a judge's settings ask for."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.known_priors import KNOWN, NONE, chosen_prior
from pipelines.evidence.labeller import ClaimAndDocument, Labeller, PairError
from pipelines.evidence.llm import LlmLabeller, llm_labeller
from pipelines.evidence.priors import (
    Correction,
    batch_prior,
    contextual_prior,
    digest_of,
    read_prior,
)
from pipelines.evidence.settings import JudgeSettings
from pipelines.evidence.store import JudgementStore, stored
from serving.client import Client
from serving.errors import RequestError

PAIRS: Final = 256
"""Most unlabelled pairs that a batch prior is estimated from."""

CONTENT_FREE: Final = ("N/A", "[MASK]", "")
"""Texts without content (Zhao and others, arXiv 2102.09690, section 5): claims and documents."""

Advance = Callable[[], object]


def raw_identity(llm: LlmLabeller) -> str:
    """Whose probabilities a correction is of; whether texts may be cut has no part in that."""
    return replace(llm, cut=False).identity


def prior_of(
    settings: JudgeSettings, llm: LlmLabeller, estimated: Correction | None = None
) -> Correction | None:
    """The correction that the settings ask for: none, a known one, the one estimated, or a file's.

    Raises:
        InputError: There is none, or the file's is of another model, prompt or way of asking. A
            model that is not there, in a dry run, is nobody's.
    """
    if settings.prior in (NONE, KNOWN):
        model, prompt = llm.client.model.digest, llm.prompt.digest
        return chosen_prior(settings.prior, model, prompt) if settings.corrects else None
    if not settings.by_choice:
        raise InputError(f"'{settings.evidence}' gives no probabilities to correct; take 'choice'")
    if settings.estimates_prior:
        if estimated is None:
            raise InputError(
                f"--prior {settings.prior} is estimated when a run begins; here name the file of "
                "a correction, of contested fit-prior"
            )
        return estimated
    path = Path(settings.prior)
    found = read_prior(path).correction
    if found.labeller != raw_identity(llm):
        raise InputError(
            f"{path} corrects another model, engine or prompt than is asked here "
            f"({llm.client.model.name}); fit it again: contested fit-prior"
        )
    return found


def pairs_to_ask(
    settings: JudgeSettings, known: Callable[[], Iterable[ClaimAndDocument]] = tuple
) -> list[ClaimAndDocument]:
    """The pairs that the settings' correction is estimated from; none where it is not estimated.

    `known` gives claims and documents that will be judged; it is called for a batch prior alone.
    """
    if not (settings.by_choice and settings.estimates_prior):
        return []
    return sample(known(), PAIRS) if settings.prior == "batch" else content_free_pairs()


async def estimated_prior(
    settings: JudgeSettings,
    client: Client,
    pairs: Sequence[ClaimAndDocument],
    overrides: Path | None = None,
    *,
    store: JudgementStore | None = None,
    advance: Advance = lambda: None,
) -> Correction:
    """The correction that the settings have estimated, from the pairs of `pairs_to_ask`.

    What the model says of the pairs is kept in the store, as it is when the run asks it.

    Args:
        settings: With `prior` batch or contextual.
        client: Asks the model that judges.
        pairs: What it is asked.
        overrides: Folder with prompts of the user's own.
        store: Of judgements.
        advance: Called as each pair is judged.

    Raises:
        InputError: No pair is known, or none can be judged.
        ServingError: No server can be had.
    """
    llm = llm_labeller(client, settings.evidence, overrides=overrides, cut=settings.cut)
    judged = await judged_pairs(stored(llm, store), pairs, advance)
    rows = [each.probabilities for each in judged.values() if each.probabilities]
    if not rows:
        raise InputError(
            f"--prior {settings.prior} finds no pair of claim and document that could be judged "
            "before the run; name the file of a correction, of contested fit-prior"
        )
    made = batch_prior(rows) if settings.prior == "batch" else contextual_prior(rows)
    asked = digest_of((claim, document.as_read()) for claim, document in pairs)
    return made.learned(len(rows), asked, raw_identity(llm))


def content_free_pairs() -> list[ClaimAndDocument]:
    """Every text of `CONTENT_FREE` as claim, with every one as document."""
    documents = [
        # Not a document that a user could give: it may be empty.
        Document.model_construct(id=f"content-free-{number}", text=text)
        for number, text in enumerate(CONTENT_FREE)
    ]
    return [(claim, document) for document in documents for claim in CONTENT_FREE]


def sample(pairs: Iterable[ClaimAndDocument], most: int) -> list[ClaimAndDocument]:
    """At most so many different pairs, document by document; the same ones of the same pairs.

    Documents are taken in the order of their texts' digests, so from all places of the data, each
    with all its claims: a language model reads it once. They are given ids of their own.
    """
    claims_of: dict[str, dict[str, Document]] = {}
    for claim, document in pairs:
        claims_of.setdefault(document.as_read(), {})[claim] = document
    order = sorted(claims_of, key=lambda text: hashlib.sha256(text.encode("utf-8")).digest())
    return [
        (claim, document.model_copy(update={"id": str(number)}))
        for number, text in enumerate(order)
        for claim, document in claims_of[text].items()
    ][:most]


async def judged_pairs(
    labeller: Labeller, pairs: Iterable[ClaimAndDocument], advance: Advance = lambda: None
) -> dict[tuple[str, str], Judgement]:
    """(claim, document id) -> judgement, of the pairs that can be judged and read, in their order.

    Documents have distinct ids. Their calls are begun in the order in which they come.
    """
    claims_of: dict[str, dict[str, Document]] = {}
    for claim, document in pairs:
        claims_of.setdefault(document.id, {})[claim] = document

    async def of(document: Document, claims: Sequence[str]) -> list[Judgement]:
        try:
            found = (await labeller(claims, [document])).judgements
        except (RequestError, PairError):
            if len(claims) > 1:
                return [each for claim in claims for each in await of(document, [claim])]
            found = ()
        for _ in claims:
            advance()
        return [each for each in found if each.relation is not Relation.INVALID]

    answers = await asyncio.gather(
        *(of(next(iter(own.values())), list(own)) for own in claims_of.values())
    )
    return {(each.claim, each.document): each for answer in answers for each in answer}
