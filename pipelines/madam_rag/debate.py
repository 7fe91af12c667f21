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
"""Why a debate of one round has no final answer as released; its round still has an aggregate."""

_VARIABLES: Final = {
    "agent": {"question", "document", "heard", "form"},
    "aggregator": {"question", "responses", "form"},
    "agent_released": {"question", "document", "heard"},
    "aggregator_released": {"question", "responses"},
}
"""Prompt -> its variables."""


@dataclass(frozen=True)
class Panel:
    """The debaters: one model with prompts for an agent and for the aggregator."""

    client: Client
    prompts: Mapping[str, Prompt]

    def prompt(self, role: Literal["agent", "aggregator"], replies: Replies) -> Prompt:
        """The prompt of a role for this kind of replies."""
        return self.prompts[f"{role}_released" if replies == "released" else role]


@dataclass(frozen=True)
class Statement:
    """A reply from the previous round that an agent reads, by the "AGGREGATOR" or "AGENT 2".

    In the released code's variant, agents read the unchanged reply, `raw`.
    """

    speaker: str
    answer: str
    explanation: str
    raw: str | None = None


def panel(client: Client, overrides: Path | None = None) -> Panel:
    """A panel with its prompts.

    Raises:
        InputError: A user's prompt cannot be used.
    """
    return Panel(client, prompts.load_all("madam_rag", _VARIABLES, overrides))


async def debate(
    question: str,
    documents: Sequence[Document],
    panel: Panel,
    settings: DebateSettings = DebateSettings(),  # noqa: B008  (frozen)
) -> Debate:
    """Let one agent per document answer, hear from the others and answer again (section 4).

    Round t: every agent replies, r_i(t) = L_i(q, d_i, y(t-1), e(t-1)), without the latter two in
    the first round; the aggregator makes (y(t), e(t)) = A(R(t)) from the replies. The debate ends
    when all agents keep their answers, or with round T. One document and one round are allowed.

    Documents have distinct ids.

    Raises:
        RequestError: A document does not fit the model's context.
        ServingError: No server is available.
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
    """The statements of the previous round that an agent reads; empty in the first round.

    By default these are the aggregator's answers and explanation (section 4); with `history`
    "agents", or if the aggregate could not be read, the replies of all other agents (appendix C).
    Unreadable replies are left out; in the released code's variant, every reply is readable. Agents
    are numbered from 0.
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
    """Whether every agent kept its answer from one round to the next: the end (section 4)."""
    return all(
        kept(one.answer, other.answer, agreement) for one, other in zip(before, after, strict=True)
    )


def kept(before: str | None, after: str | None, agreement: Agreement) -> bool:
    """Whether two answers of an agent are the same.

    An unreadable answer (None) never equals another. With `same`, answers are compared in canonical
    form, so that "The 1,856" is "1856"; any two refusals to answer are the same. With `contained`,
    the released code's rule, one must be part of the other in lower case, without ASCII punctuation
    and articles: 19 matches 1911, and an empty answer matches everything.
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
