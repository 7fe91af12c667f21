"""How far the other documents bear out an agent's answer: a signal that the paper does not have."""

from collections.abc import Sequence

from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.evidence.labeller import Labeller, label_pairs
from pipelines.madam_rag.transcript import AgentReply, Reliability
from pipelines.text.declarative import declarative
from pipelines.text.refusals import is_unknown


async def reliability(
    question: str, replies: Sequence[AgentReply], documents: Sequence[Document], labeller: Labeller
) -> tuple[Reliability | None, ...]:
    """Count for each agent which other documents support its answer and which contradict it.

    Question and answer are put as one statement, which every document but the agent's own is
    judged by. An answer that no other document knows of has neither, whether it is right for
    another entity of the name or not: the aggregator weighs it, nothing is left out.

    Agents have one document each, in their order; documents have distinct ids.

    Returns:
        One per agent; None of an agent that gives no answer.
    """
    claims = [
        None
        if reply.answer is None or is_unknown(reply.answer)
        else declarative(question, reply.answer)
        for reply in replies
    ]
    others = [[*documents[:agent], *documents[agent + 1 :]] for agent in range(len(documents))]
    wanted = dict.fromkeys(
        (claim, document)
        for claim, given in zip(claims, others, strict=True)
        if claim is not None
        for document in given
    )
    judged, _ = await label_pairs(labeller, list(wanted))

    def tally(claim: str, given: Sequence[Document]) -> Reliability:
        every = [judged[claim, document.id] for document in given]
        relations = [each.relation for each in every if each.refusal is None]
        return Reliability(
            support=relations.count(Relation.SUPPORTS),
            refute=relations.count(Relation.CONTRADICTS),
            others=len(relations),
        )

    return tuple(
        None if claim is None else tally(claim, given)
        for claim, given in zip(claims, others, strict=True)
    )
