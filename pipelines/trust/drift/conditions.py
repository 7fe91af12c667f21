"""Under which conditions judgements are asked for again, and labellers that keep to them."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from pipelines.data.records import Document
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Judgements
from pipelines.evidence.labeller import ClaimAndDocument, Labeller
from serving.calls import Anew

Condition = Literal["unchanged", "alone", "shuffled", "company", "warm", "cold", "replica"]

CONDITIONS: Final[tuple[Condition, ...]] = get_args(Condition)

FIRST: Final = "first"
"""In place of a condition: the run that all others are compared with."""

MEANING: Final[Mapping[Condition, str]] = {
    "unchanged": "as in the first run: the control",
    "alone": "one pair in flight at a time",
    "shuffled": "claims in an order drawn by seed",
    "company": "one pair at a time, beside it others, drawn by seed",
    "warm": "each prompt asked twice in a row; the second reply counts",
    "cold": "nothing of a prompt from the prefix cache",
    "replica": "one server answers everything",
}

OF_A_MODEL: Final = frozenset[Condition]({"warm", "cold", "replica"})
"""Those that change nothing for a tagger."""

COMPANIONS: Final = 7
"""Pairs beside each one, in `company`."""

Companions = Callable[[str, Document], Sequence[ClaimAndDocument]]
"""Who is asked about at the same time as a claim and a document."""


@dataclass(frozen=True)
class Rerun:
    """One of the runs under a condition.

    Attributes:
        number: From 1; the seed of what is drawn, and of `replica` which server.
    """

    condition: Condition
    number: int

    @property
    def how(self) -> Anew:
        """How its requests are asked."""
        own = self.condition == "replica"
        return Anew(cold=self.condition == "cold", replica=self.number - 1 if own else None)

    def order(self, claims: Sequence[ContestedClaim]) -> list[ContestedClaim]:
        """The claims in the order in which they are begun."""
        if self.condition != "shuffled":
            return list(claims)
        return self._random("order").sample(claims, len(claims))

    def labeller(
        self, inner: Labeller, claims: Sequence[ContestedClaim], *, together: bool
    ) -> Labeller:
        """The labeller that keeps to the condition.

        One that reads documents `together` is asked about one claim at a time, and not about one
        document.
        """
        match self.condition:
            case "alone":
                return OneAtATime(inner, together)
            case "company":
                return OneAtATime(inner, together, self._companions(claims))
            case "warm":
                return Twice(inner)
        return inner

    def _companions(self, claims: Sequence[ContestedClaim]) -> Companions:
        every = [(each.claim, document) for each in claims for document in each.documents]

        def drawn(claim: str, document: Document) -> Sequence[ClaimAndDocument]:
            text = document.as_read()
            others = [pair for pair in every if (pair[0], pair[1].as_read()) != (claim, text)]
            chosen = self._random(f"{claim}/{text}")
            return chosen.sample(others, min(COMPANIONS, len(others)))

        return drawn

    def _random(self, what: str) -> random.Random:
        return random.Random(f"{self.number}/{what}")  # noqa: S311  an order, not a secret


def nobody(_claim: str, _document: Document) -> Sequence[ClaimAndDocument]:
    """There is no company."""
    return ()


@dataclass(frozen=True)
class OneAtATime:
    """A labeller that is asked about one pair at a time, beside it about its companions.

    What it says of companions is not looked at, nor whether it can judge them.
    """

    inner: Labeller
    together: bool
    companions: Companions = nobody
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def identity(self) -> str:
        """The labeller's own: no condition should change a judgement."""
        return self.inner.identity

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document."""
        groups = [documents] if self.together else [[document] for document in documents]
        async with self._turn:
            answers = [await self._one(claim, group) for claim in claims for group in groups]
        return Judgements(
            tuple(judgement for answer in answers for judgement in answer.judgements),
            tuple(dict.fromkeys(cut for answer in answers for cut in answer.truncations)),
        )

    async def _one(self, claim: str, group: Sequence[Document]) -> Judgements:
        beside = self.companions(claim, group[0])
        asked = [self.inner([claim], group), *(self.inner([one], [text]) for one, text in beside)]
        own, *_ = await asyncio.gather(*asked, return_exceptions=True)
        if isinstance(own, BaseException):
            raise own
        return own


@dataclass(frozen=True)
class Twice:
    """A labeller that is asked twice in a row; its second answer counts."""

    inner: Labeller

    @property
    def identity(self) -> str:
        """The labeller's own."""
        return self.inner.identity

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document."""
        await self.inner(claims, documents)
        return await self.inner(claims, documents)
