"""The debate: one agent per document, an aggregator, rounds (MADAM-RAG, section 4)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pipelines import prompts
from pipelines.data.records import Document
from pipelines.madam_rag.replies import (
    AgentReply,
    Conclusion,
    Debate,
    Round,
    ask_agent,
    ask_conclusion,
)
from pipelines.madam_rag.settings import Agreement, DebateSettings, Replies
from pipelines.metrics.alce import normalised
from pipelines.metrics.answers import canonical
from pipelines.prompts import Prompt
from pipelines.text.refusals import is_unknown
from serving.client import Client

NAMELESS: Final = "the released code names no final answer after a single round"
"""Why a debate of one round has none as released; its aggregate stands in the round."""

_VARIABLES: Final = {
    "agent": {"question", "document", "heard", "form"},
    "aggregator": {"question", "responses", "form"},
    "agent_released": {"question", "document", "heard"},
    "aggregator_released": {"question", "responses"},
}
"""Prompt -> what it is given."""


@dataclass(frozen=True)
class Panel:
    """Who debates: one model with an agent's prompt and an aggregator's."""

    client: Client
    prompts: Mapping[str, Prompt]

    def prompt(self, role: Literal["agent", "aggregator"], replies: Replies) -> Prompt:
        """The prompt of a role, as such replies need it."""
        return self.prompts[f"{role}_released" if replies == "released" else role]


@dataclass(frozen=True)
class Statement:
    """What an agent is told that the "AGGREGATOR" or "AGENT 2" said in the round before.

    As the released code has it, agents are told the reply as it came, which is `raw`.
    """

    speaker: str
    answer: str
    explanation: str
    raw: str | None = None


def panel(client: Client, overrides: Path | None = None) -> Panel:
    """A panel with its prompts.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    loaded = {
        name: prompts.load(f"madam_rag/{name}", variables, overrides)
        for name, variables in _VARIABLES.items()
    }
    return Panel(client, loaded)


async def debate(
    question: str,
    documents: Sequence[Document],
    panel: Panel,
    settings: DebateSettings = DebateSettings(),  # noqa: B008  (frozen)
) -> Debate:
    """Let one agent per document answer, hear of the others and answer again (section 4).

    Round t: every agent replies, r_i(t) = L_i(q, d_i, y(t-1), e(t-1)), without the latter two in
    the first round; the aggregator makes (y(t), e(t)) = A(R(t)) of the replies. The debate ends
    when all agents keep their answers, or with round T. One document and one round are legal.

    Documents have distinct ids.

    Raises:
        RequestError: A document does not fit the model's context.
        ServingError: No server can be had.
    """
    rounds: list[Round] = []
    agreed = False
    while len(rounds) < settings.rounds and not agreed:
        before = rounds[-1] if rounds else None
        replies = await asyncio.gather(
            *(
                _agent(question, document, heard(before, number, settings), panel, settings)
                for number, document in enumerate(documents)
            )
        )
        agreed = before is not None and all_kept(before.agents, replies, settings.agreement)
        if not settings.aggregator or (agreed and settings.closing == "previous"):
            rounds.append(Round(agents=tuple(replies)))
            continue
        aggregate = await _aggregate(question, replies, panel, settings)
        rounds.append(Round(agents=tuple(replies), aggregate=aggregate))
    nameless = settings.replies == "released" and settings.aggregator and settings.rounds == 1
    return Debate(rounds=tuple(rounds), agreed=agreed, problem=NAMELESS if nameless else None)


def heard(before: Round | None, agent: int, settings: DebateSettings) -> tuple[Statement, ...]:
    """What an agent is told of the round before; nothing in the first round.

    By default the aggregator's answers and explanation (section 4); with `history` "agents", or
    where the aggregator could not be read, the replies of all other agents (appendix C). Replies
    that could not be read are not told; as the released code has it, all can. Agents are numbered
    from 0.
    """
    if before is None:
        return ()
    aggregate = before.aggregate
    if settings.history == "aggregate" and aggregate is not None and aggregate.problem is None:
        answers = "; ".join(aggregate.answers) or "unknown"
        return (Statement("AGGREGATOR", answers, aggregate.explanation, aggregate.raw),)
    return tuple(
        Statement(f"AGENT {number}", reply.answer, reply.explanation, reply.raw)
        for number, reply in enumerate(before.agents, start=1)
        if number != agent + 1 and reply.answer is not None
    )


def all_kept(
    before: Sequence[AgentReply], after: Sequence[AgentReply], agreement: Agreement
) -> bool:
    """Whether every agent kept its answer from a round to the next: the end (section 4)."""
    return all(
        kept(one.answer, other.answer, agreement) for one, other in zip(before, after, strict=True)
    )


def kept(before: str | None, after: str | None, agreement: Agreement) -> bool:
    """Whether two answers of one agent are the same.

    An unreadable one (None) is never the same as another. By `same` answers are compared in
    canonical form, so that "The 1,856" is "1856"; two that say that there is no answer are the
    same. By `contained`, the released code's rule, one is part of the other in lower case, without
    ASCII punctuation and articles: 19 of 1911, nothing at all of everything.
    """
    if before is None or after is None:
        return False
    if agreement == "contained":
        one, other = normalised(before), normalised(after)
        return one in other or other in one
    if is_unknown(before) or is_unknown(after):
        return is_unknown(before) and is_unknown(after)
    return canonical(before) == canonical(after)


async def _agent(
    question: str,
    document: Document,
    told: Sequence[Statement],
    panel: Panel,
    settings: DebateSettings,
) -> AgentReply:
    text = document.text if settings.replies == "released" else document.as_read()
    messages = panel.prompt("agent", settings.replies).messages(
        question=question, document=text, heard=told, form=settings.form
    )
    return await ask_agent(panel.client, messages, settings, affinity=text)


async def _aggregate(
    question: str,
    replies: Sequence[AgentReply],
    panel: Panel,
    settings: DebateSettings,
) -> Conclusion:
    responses = [
        {
            "speaker": f"AGENT {number}",
            "answer": "(could not be read)" if reply.answer is None else reply.answer or "unknown",
            "explanation": reply.explanation,
            "raw": reply.raw,
        }
        for number, reply in enumerate(replies, start=1)
    ]
    messages = panel.prompt("aggregator", settings.replies).messages(
        question=question, responses=responses, form=settings.form
    )
    return await ask_conclusion(panel.client, messages, settings, affinity=question)
