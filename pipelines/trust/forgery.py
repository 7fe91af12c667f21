"""Whether a verdict was forged: taken from what was judged, and not from what the model replied.

A model may be persuaded, and then its reply is wrong. That is no forgery: the verdict is what the
model said. A verdict is forged where reading goes wrong, so that a document says it. No model need
be asked to tell: the judge judges again, and is given the replies that there were.

1. The hostile text is taken out of what is judged (`material.taken_out`), and the same replies are
   given. A verdict that is a function of the replies is the same. Another verdict, or other calls,
   came from the document.
2. Where replies quote the hostile text, they are given again without these quotations. If a verdict
   can still be read and is another one, the first was read from the quotation, beside which the
   model had said something else. Where none can be read any more, the quotation was all that the
   model said, and the verdict is its own.

A prompt is broken out of where its text outside the fences differs between the two: then something
of the document stands where instructions do.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgements
from pipelines.evidence.labeller import Labeller, PairError
from serving.calls import Completion

LEAST_QUOTED: Final = 12
"""Characters from which on a line of a hostile text counts as quoted; fewer occur by chance."""

_FENCE = re.compile(r"<<([A-Z][A-Z0-9 ]*?) ([0-9a-f]{4,64})\n.*?\n\1 \2>>", re.DOTALL)


class DivergedError(Exception):
    """More was asked than there are replies."""


@dataclass
class Recording:
    """A door to a model that notes requests and replies, in the order that requests begin."""

    requests: list[Mapping[str, Any]] = field(default_factory=list)
    _replies: dict[int, Completion] = field(default_factory=dict)

    async def __call__(
        self, request: Mapping[str, Any], ask: Callable[[], Awaitable[Completion]]
    ) -> Completion:
        """The reply of the model."""
        place = len(self.requests)
        self.requests.append(request)
        self._replies[place] = await ask()
        return self._replies[place]

    @property
    def replies(self) -> tuple[Completion, ...]:
        """One per request."""
        return tuple(self._replies[place] for place in range(len(self.requests)))

    @property
    def texts(self) -> tuple[str, ...]:
        """What the model wrote; where labels are chosen it writes nothing."""
        pairs = zip(self.requests, self.replies, strict=True)
        return tuple(reply.text for request, reply in pairs if "logprobs" not in request)


@dataclass
class Replay:
    """A door behind which nobody is asked: given replies come one after the other."""

    replies: Sequence[Completion]
    requests: list[Mapping[str, Any]] = field(default_factory=list)

    async def __call__(
        self, request: Mapping[str, Any], _: Callable[[], Awaitable[Completion]]
    ) -> Completion:
        """The next reply; DivergedError where there is none."""
        self.requests.append(request)
        if len(self.requests) > len(self.replies):
            raise DivergedError
        return self.replies[len(self.requests) - 1]


def outside(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The turns of a request without what stands in their fences.

    A fence ends where its own mark comes again, as the prompts say; what else looks like a fence
    inside it is part of the text.
    """
    return [(turn["role"], _FENCE.sub(r"<<\1>>", turn["content"])) for turn in request["messages"]]


def broke_out(hostile: Sequence[Mapping[str, Any]], without: Sequence[Mapping[str, Any]]) -> bool:
    """Whether prompts about a hostile text differ outside their fences from those without it."""
    return list(map(outside, hostile)) != list(map(outside, without))


def unquoted(reply: str, hostile: str) -> str:
    """A reply without the hostile text and the lines of it, as they are and as JSON writes them."""
    parts = {hostile, *hostile.splitlines()}
    parts |= {json.dumps(part, ensure_ascii=kept)[1:-1] for part in parts for kept in (True, False)}
    for part in sorted(parts, key=len, reverse=True):
        if len(part.strip()) >= LEAST_QUOTED:
            reply = reply.replace(part, "")
    return reply


def without_quotations(
    replies: Sequence[Completion], hostile: str
) -> tuple[Completion, ...] | None:
    """Replies without what they quote of a hostile text; None where they quote nothing."""
    made = tuple(replace(each, text=unquoted(each.text, hostile)) for each in replies)
    return None if made == tuple(replies) else made


def obeyed(replies: Sequence[str], hostile: str, token: str) -> bool:
    """Whether a reply has the word that an instruction asks for, outside quotations of it."""
    return any(token.casefold() in unquoted(each, hostile).casefold() for each in replies)


@dataclass(frozen=True)
class RecordedLabeller:
    """A tagger that is asked, and what it said, call by call."""

    labeller: Labeller
    said: list[Judgements] = field(default_factory=list)

    @property
    def identity(self) -> str:
        """The tagger's own."""
        return self.labeller.identity

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """What the tagger says."""
        self.said.append(await self.labeller(claims, documents))
        return self.said[-1]


@dataclass(frozen=True)
class ReplayedLabeller:
    """What a tagger said, said again of other documents in the same places."""

    identity: str
    said: Sequence[Judgements]

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """The judgements of the one call; PairError where the tagger could not judge."""
        if not self.said:
            raise PairError("the tagger said nothing")
        found = self.said[0]
        pairs = [(claim, document.id) for claim in claims for document in documents]
        return Judgements(
            tuple(
                each.model_copy(update={"claim": claim, "document": document})
                for each, (claim, document) in zip(found.judgements, pairs, strict=True)
            )
        )
