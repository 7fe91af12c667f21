"""Labels by a language model as judge (ConflictScore, section 3 and Table 7).

Three ways to ask, cheapest first: `choice` (one token, with probabilities), `together` (all
documents of a claim in one call), `json` (snippet, reasoning and answer, as the paper asks).
Prompts put the document before the claim and calls are issued document by document, so that the
server reads each document once.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, create_model

from pipelines import prompts
from pipelines.data.records import Document
from pipelines.judge.fitting import fit
from pipelines.judge.judgement import (
    RELATIONS,
    Judgement,
    Judgements,
    Relation,
    Truncation,
)
from pipelines.judge.protocol import identity_of
from pipelines.judge.settings import Mode
from pipelines.prompts import Prompt
from pipelines.text.words import folded
from serving.calls import Sampling, Structured
from serving.client import Client
from serving.schemas import told

Answer = Literal["SUPPORTS", "CONTRADICTS", "IRRELEVANT"]

PROMPTS: Final[dict[Mode, str]] = {
    "choice": "relation",
    "json": "relation_json",
    "together": "relation_together",
}
"""Mode -> its prompt."""

TEXT_CHARACTERS = 400
"""Longest snippet or reason that the schema allows."""

REPLY_TOKENS = 512
"""Room for one JSON reply: two such texts, and the label."""

LEAST_DOCUMENT = "word " * 16
"""What must still fit beside a claim if documents may be cut: about 16 tokens of a document."""


class RelationReply(BaseModel):
    """The JSON reply for one (claim, document) pair; fields in the order of the paper's Table 7.

    The paper also has the claim repeated in the reply, which would cost tokens for nothing.
    """

    snippet: Annotated[str, told(maxLength=TEXT_CHARACTERS)]
    reasoning: Annotated[str, told(maxLength=TEXT_CHARACTERS)]
    answer: Answer

    @property
    def cut(self) -> bool:
        """Whether a text has the longest length allowed, so its end may be missing."""
        return TEXT_CHARACTERS in (len(self.snippet), len(self.reasoning))


@dataclass(frozen=True)
class ModelJudge:
    """A language model as judge, asked by its mode's prompt; see `model_judge`.

    With `cut` a document too long for the context may be cut; the cut is recorded.
    """

    client: Client
    mode: Mode
    prompt: Prompt
    cut: bool = False

    @property
    def identity(self) -> str:
        """Model, prompt, how it is asked, and what decides where a document is cut.

        A client that asks everything again (`Client.repeated`) has the identity of the first: do
        not store its judgements.
        """
        model = self.client.model
        return identity_of(
            f"model-{self.mode}",
            {
                "model": model.digest,
                "engine": model.engine,
                "prompt": self.prompt.digest,
                "labels": RELATIONS,
                "sampling": {
                    "temperature": 0.0,
                    "seed": 0,
                    "max_tokens": reply_tokens(self.mode, 1),
                },
                "cut": self.cut and (model.context, self.client.tokenizer is not None),
            },
        )

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """Judge every claim against every document; a claim that is too long is `INVALID`."""
        long = await asyncio.to_thread(self._too_long, claims, documents)
        short = [claim for claim in claims if claim not in long]
        by_mode = self._together if self.mode == "together" else self._apart
        labelled = await by_mode(short, documents) if short else Judgements(())
        judged = iter(labelled.judgements)
        made = (
            self._refused(claim, document) if claim in long else next(judged)
            for claim, document in product(claims, documents)
        )
        return replace(labelled, judgements=tuple(made))

    async def _apart(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        ask = self._by_choice if self.mode == "choice" else self._by_json
        fitted = [await self._fit(document, claims) for document in documents]
        columns = await asyncio.gather(
            *(
                asyncio.gather(*(ask(claim, document, text, cuts) for claim in claims))
                for document, (text, cuts) in zip(documents, fitted, strict=True)
            )
        )
        return Judgements(
            judgements=tuple(judgement for row in zip(*columns, strict=True) for judgement in row),
            truncations=tuple(cut for _, cuts in fitted for cut in cuts),
        )

    def messages(self, documents: Sequence[str], claim: str) -> list[dict[str, str]]:
        """The prompt of one call: several documents in `together`, else exactly one."""
        return self.prompt.messages(documents=list(documents), document=documents[0], claim=claim)

    def _too_long(self, claims: Sequence[str], documents: Sequence[Document]) -> set[str]:
        """Claims that do not fit the context beside documents that fit without a claim."""
        texts = [document.as_read() for document in documents]
        calls = [[LEAST_DOCUMENT if self.cut else text] for text in texts]
        if self.mode == "together":
            calls = [texts]

        def fits(call: Sequence[str], claim: str) -> bool:
            room = reply_tokens(self.mode, len(documents))
            return self.client.fits(self.messages(call, claim), room)

        checks = product(calls, claims)
        return {claim for call, claim in checks if not fits(call, claim) and fits(call, "")}

    async def _fit(
        self, document: Document, claims: Sequence[str]
    ) -> tuple[str, tuple[Truncation, ...]]:
        longest = max(claims, key=lambda claim: self.client.count(self.messages([""], claim)))
        return await fit(
            document.as_read(),
            self.client,
            lambda text: self.messages([text], longest),
            max_tokens=reply_tokens(self.mode, 1),
            cut=self.cut,
            name=f"document '{document.id}'",
            called=f"document {document.id}",
        )

    async def _by_choice(
        self, claim: str, document: Document, text: str, cuts: Sequence[Truncation]
    ) -> Judgement:
        messages = self.messages([text], claim)
        choice = await self.client.choose(messages, RELATIONS, affinity=text)
        return self._judgement(
            claim,
            document,
            Relation(choice.label or Relation.INVALID),
            reasoning=choice.problem,
            raw=choice.problem,
            probabilities={Relation(label): p for label, p in choice.probabilities.items()},
            label_mass=choice.mass,
            read_tokens=cuts[0].kept if cuts else None,
        )

    async def _by_json(
        self, claim: str, document: Document, text: str, cuts: Sequence[Truncation]
    ) -> Judgement:
        messages = self.messages([text], claim)
        sampling = Sampling(max_tokens=REPLY_TOKENS)
        reply = await self.client.structured(messages, RelationReply, sampling, affinity=text)
        value = reply.value
        if value is None:
            return self._unreadable(claim, document, reply)
        snippet = value.snippet.strip() or None
        return self._judgement(
            claim,
            document,
            Relation(value.answer),
            snippet=snippet,
            snippet_found=contains(text, snippet) if snippet else None,
            reasoning=value.reasoning,
            reply_cut=value.cut,
            read_tokens=cuts[0].kept if cuts else None,
        )

    async def _together(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """All documents in one call per claim; none is ever cut, as any choice would be arbitrary.

        The paper calls this its cheapest variant, and warns that models merge documents or overlook
        contradictions when they read them together.
        """
        texts = [document.as_read() for document in documents]
        names = [f"document_{number}" for number in range(1, len(documents) + 1)]
        schema = create_model(  # type: ignore[call-overload]
            "TogetherReply", **dict.fromkeys(names, (Answer, ...))
        )

        sampling = Sampling(max_tokens=reply_tokens(self.mode, len(documents)))

        async def ask(claim: str) -> list[Judgement]:
            messages = self.messages(texts, claim)
            reply = await self.client.structured(messages, schema, sampling, affinity=texts[0])
            if reply.value is None:
                return [self._unreadable(claim, document, reply) for document in documents]
            answers = reply.value.model_dump()
            return [
                self._judgement(claim, document, Relation(answers[name]))
                for document, name in zip(documents, names, strict=True)
            ]

        rows = await asyncio.gather(*(ask(claim) for claim in claims))
        return Judgements(tuple(judgement for row in rows for judgement in row))

    def _judgement(
        self, claim: str, document: Document, relation: Relation, **about: Any
    ) -> Judgement:
        source = f"model-{self.mode}"
        return Judgement(
            claim=claim, document=document.id, relation=relation, source=source, **about
        )

    def _refused(self, claim: str, document: Document) -> Judgement:
        why = f"the claim is too long for {self.client.model.name} beside a document; shorten it"
        return self._judgement(claim, document, Relation.INVALID, reasoning=why)

    def _unreadable(self, claim: str, document: Document, reply: Structured[Any]) -> Judgement:
        why = {"reasoning": reply.problem, "raw": reply.raw}
        return self._judgement(claim, document, Relation.INVALID, **why)


def model_judge(
    client: Client, mode: Mode, *, overrides: Path | None = None, cut: bool = False
) -> ModelJudge:
    """A judge with the prompt of its mode."""
    document = "documents" if mode == "together" else "document"
    prompt = prompts.load(f"judge/{PROMPTS[mode]}", {document, "claim"}, overrides)
    return ModelJudge(client, mode, prompt, cut)


def reply_tokens(mode: Mode, documents: int) -> int:
    """Most tokens of the reply to one call."""
    return {"choice": 1, "json": REPLY_TOKENS, "together": 16 * documents + 32}[mode]


def contains(text: str, snippet: str) -> bool:
    """Whether the text contains the snippet, both `folded`; an empty snippet is never found."""
    return bool(quote := folded(snippet)) and quote in folded(text)
