"""Split responses into claims (ConflictScore, section 3, step 1); title documents as cited."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Final

from pydantic import BaseModel, create_model

from pipelines import prompts
from pipelines.conflictscore.settings import SPLIT, ClaimSource
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.fitting import fit
from pipelines.judge.judgement import Truncation
from pipelines.prompts import Prompt
from pipelines.retrieval.bm25 import distinct_stems
from pipelines.text.citations import without_marks
from pipelines.text.refusals import is_unknown
from pipelines.text.standing import answered, joined, standing
from pipelines.text.words import says, statements
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

_NUMBER: Final = re.compile(
    r"\b(?i:documents?|docs?\.?|sources?|passages?) (?:no\. ?)?[\[(]?(\d{1,2})\b"
)
"""Articles are left out: "Article 5" may be part of a treaty."""
_LETTER: Final = re.compile(r"\b(?i:documents?|docs?\.?) [\[(]?([A-HJ-Z])\b")
"""Only documents have letters (Table 10): "open source C compiler" names none. "I" is left out."""


def places_named(claims: Iterable[str], documents: int) -> tuple[bool, bool]:
    """Whether claims name one of the documents by number ("Document 2"), and by letter."""
    texts = list(claims)
    letters = ascii_uppercase[:documents]
    numbers = (int(cited) for text in texts for cited in _NUMBER.findall(text))
    return (
        any(1 <= number <= documents for number in numbers),
        any(cited in letters for text in texts for cited in _LETTER.findall(text)),
    )


def as_cited(claims: Sequence[str], documents: Sequence[Document]) -> Sequence[Document]:
    """The documents, titled with number, letter or both if claims refer to documents that way.

    "Document B: The guide" instead of "The guide"; documents after Z have only a number.
    """
    numbered, lettered = places_named(claims, len(documents))
    if not (numbered or lettered):
        return documents

    def title(place: int, document: Document) -> str:
        letter = f"Document {ascii_uppercase[place]}" if place < len(ascii_uppercase) else ""
        name = f"Document {place + 1}" if numbered or not letter else letter
        both = f" ({letter})" if numbered and lettered and letter else ""
        return name + both + (f": {document.title}" if document.title else "")

    return tuple(
        document.model_copy(update={"title": title(place, document)})
        for place, document in enumerate(documents)
    )


CHARACTERS_PER_CLAIM = 10
"""A text of n characters may have at most n / 10 + 2 claims. Real texts have far fewer, but small
models would keep inventing more. A list that ends at this bound is recorded as capped."""
LEAST_REPLY_TOKENS = 512
QUARTER, HALF = 0.25, 0.5
"""Shares of a claim's words; see `is_copied`. A paraphrase keeps at least the subject's words."""
COPIED = (
    "all claims of the reply are copied from the prompt's examples; name a larger model, or take "
    "sentences as claims: --claims sentences"
)
"""Why there is no claim if all claims of the reply were copied."""
NOTHING_SAID = "no claim to judge: the text has only headings, rules or marks, but no sentence"
"""Why there is no claim if no model is asked."""
DECLINED = "no claim to judge: the response only says that it has no answer"
"""Why there is no claim if no model is asked and the response is a refusal."""
BARE = "no claim to judge: a bare answer says nothing without its question; give the question, too"
"""Why there is no claim if no model is asked and the response is, for instance, "Yes."."""
NOTHING_GIVEN = (
    "no claim to judge: the claims given with the response have no words; leave them out"
)
"""Why there is no claim if claims came with the response."""
RULES = 8
"""Increase it when the rules for claims change, so that run folders do not mix old and new."""


class Claims(BaseModel):
    """The JSON reply to a decomposition prompt."""

    claims: list[str]


@dataclass(frozen=True)
class Decomposition:
    """The claims of one response, in its order, without repetitions.

    Attributes:
        capped: Whether the list ended at its bound, in claims or in tokens.
        copied: Claims of the reply that do not come from the response; see `is_copied`.
        problem: Why there is no claim, in one line.
        raw: The reply behind the problem.
    """

    claims: tuple[str, ...]
    capped: bool = False
    copied: tuple[str, ...] = ()
    truncations: tuple[Truncation, ...] = ()
    problem: str | None = None
    raw: str | None = None


def decomposition_prompt(source: ClaimSource, overrides: Path | None = None) -> Prompt | None:
    """The prompt that asks for claims; None if no model is asked (`sentences`, `whole`)."""
    if source not in SPLIT:
        return None
    variables = {"response", "k"} if source == "salient" else {"response"}
    return prompts.load(f"conflictscore/{source}", variables, overrides)


async def decompose(
    response: str, client: Client | None, prompt: Prompt, *, k: int = 3, cut: bool = False
) -> Decomposition:
    """Ask the model for the claims of a response, with a prompt from `decomposition_prompt`.

    The `salient` prompt asks for `k` claims. With `cut`, a response too long for the context may be
    cut. Claims that were copied from the prompt are left out.
    """
    if client is None:
        raise InputError(
            "splitting a response into claims needs a language model; name one, or take its "
            "sentences as claims: --claims sentences"
        )
    salient, room = prompt.name.endswith("salient"), reply_tokens(response, client)
    text, truncations = await fit(
        response,
        client,
        lambda text: prompt.messages(response=text, k=k),
        max_tokens=room,
        cut=cut,
        name="the response",
        called="response",
    )
    most = k if salient else len(text) // CHARACTERS_PER_CLAIM + 2
    claim_list = Annotated[list[str], told(minItems=1, maxItems=most)]
    schema = create_model("Claims", __base__=Claims, claims=(claim_list, ...))
    messages = prompt.messages(response=text, k=k)
    reply = await client.structured(messages, schema, Sampling(max_tokens=room), partial="items")
    written = reply.value.claims if reply.value else []
    different = distinct(written)
    listed = different[:most]
    (asked,) = prompt.messages(response="", k=k)
    copied = tuple(claim for claim in listed if is_copied(claim, text, asked["content"]))
    if claims := tuple(claim for claim in listed if claim not in copied):
        full = len(different) > most if salient else len(written) >= most
        return Decomposition(claims, full or reply.cut, copied, truncations)
    none = COPIED if copied else "the reply has no claim"
    problem, raw = f"decomposition: {reply.problem or none}", reply.raw or " ".join(copied)
    return Decomposition((), copied=copied, truncations=truncations, problem=problem, raw=raw)


def is_copied(claim: str, response: str, prompt: str) -> bool:
    """Whether a claim is one of the prompt's examples instead of something the response says.

    Small models repeat examples. Such a claim shares less than a quarter of its words with the
    response, and more than half with the prompt. A claim in another language shares few with
    either, so it is kept.
    """
    return shared_words(claim, response) < QUARTER and shared_words(claim, prompt) > HALF


def shared_words(claim: str, text: str) -> float:
    """Share of a claim's words that occur in a text, in [0, 1]: stems, without function words.

    It is 0 for a claim without content words.
    """
    stems = distinct_stems(claim)
    return len(stems & distinct_stems(text)) / len(stems) if stems else 0.0


def sentence_claims(response: str, question: str | None = None) -> tuple[str, ...]:
    """The statements of a response as claims, without citation marks; no model is asked.

    A leading pronoun is replaced by its subject, a bare answer ("Yes.") becomes the statement that
    its question makes of it, and a contrast stays with the statement that it answers. A response
    that only says that it has no answer makes no claim, but a sentence such as "it is not known
    who built it" among others is a claim.
    """
    text = without_marks(response)
    if is_unknown(text):
        return ()
    sentences = [text[slice(*span)] for span in statements(text)]
    return distinct(joined(standing(answered(sentences, question), question)))


def unsaid(response: str) -> str:
    """Why a response has no claim if no model is asked."""
    text = without_marks(response)
    if not statements(text):
        return NOTHING_SAID
    return DECLINED if is_unknown(text) else BARE


def whole_claim(response: str) -> tuple[str, ...]:
    """The response as its only claim; none if it says nothing, or only that it has no answer."""
    text = without_marks(response)
    return (response,) if says(text) and not is_unknown(text) else ()


def reply_tokens(response: str, client: Client) -> int:
    """Maximum tokens of the reply: the claims repeat the response's words, some of them often."""
    return max(LEAST_REPLY_TOKENS, 3 * client.count([{"role": "user", "content": response}]))


def distinct(claims: Sequence[str]) -> tuple[str, ...]:
    """Claims that say something, without repetitions (ignoring white space and case), in order.

    Small models repeat themselves; a claim counted twice would weigh twice in both scores.
    """
    first: dict[str, str] = {}
    for claim in claims:
        if says(without_marks(claim)):
            text = " ".join(claim.split())
            first.setdefault(text.casefold(), text)
    return tuple(first.values())
