"""ConRAG over one query: from retrieved passages to an answer that shows the disagreement."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.conrag import template
from pipelines.conrag.answer import Answer, evidence_table
from pipelines.conrag.clusters import clusters, communities
from pipelines.conrag.conflict import conflict_score
from pipelines.conrag.generator import Generator, Written, write
from pipelines.conrag.graph import EdgeWeights, Similarity, similarity_graph, word_cosine
from pipelines.conrag.packet import PacketSettings, select
from pipelines.conrag.policies import SIDE, CitationPolicy, problems
from pipelines.conrag.stance import DELTA, adjudicate
from pipelines.conrag.tagged import Tagged
from pipelines.evidence.judgement import Judgement, Relation, Truncation
from pipelines.evidence.labeller import Labeller
from pipelines.retrieval.index import DEPTH, Retrieved


class ConragSettings(BaseModel):
    """The parameters of ConRAG; defaults of Table III, where it gives one.

    Attributes:
        depth: k, passages retrieved.
        packet: Size k', threshold tau, passages per cluster m, budgets.
        edges: What joins passages in the similarity graph.
        delta: Margin of the stance decision.
        margin: Whether the margin is of sums, as in the paper, or of shares.
        policy: What a sentence must cite.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    depth: int = Field(DEPTH, ge=1)
    packet: PacketSettings = PacketSettings()
    edges: EdgeWeights = EdgeWeights()
    delta: float = Field(DELTA, ge=0)
    margin: Literal["sum", "share"] = "sum"
    policy: CitationPolicy = CitationPolicy()


async def conrag(
    query: str,
    retrieved: Sequence[Retrieved],
    *,
    labeller: Labeller,
    settings: ConragSettings,
    topical: Similarity = word_cosine,
    generator: Generator | None = None,
) -> Answer:
    """Structure the evidence, decide, and answer (ConRAG, section 2, pseudocode).

    Args:
        query: A claim.
        retrieved: Passages, the best first; at most `depth` of them are used.
        labeller: Tags them.
        settings: Every parameter.
        topical: Topical similarity of passages.
        generator: The language model that writes; None takes the template. Without evidence for
            either side there is nothing to write from, and the template says so.

    Raises:
        PairError: The claim or a passage cannot be judged.
        RequestError, ServingError: As of the labeller and the generator.
    """
    everything, truncations = await tag(query, retrieved[: settings.depth], labeller)
    tagged = [each for each in everything if each.relation is not Relation.INVALID]
    graph = similarity_graph(tagged, settings.edges, topical)
    groups = clusters(tagged, communities(graph))
    kappa = conflict_score(tagged)
    packet = select(tagged, groups, kappa, settings.packet)
    table = evidence_table(packet, groups)
    decided = adjudicate(
        tagged, kappa, delta=settings.delta, tau=settings.packet.tau, margin=settings.margin
    )
    if generator is not None and any(each.relation in SIDE.values() for each in table):
        written = await write(query, table, settings.policy, generator)
    else:
        written = Written(
            tuple(
                sentence.model_copy(update={"problems": problems(sentence, table, settings.policy)})
                for sentence in template.write(decided, table)
            ),
            conflict=template.conflict_statement(table),
        )
    return Answer(
        query=query,
        stance=decided.stance,
        model_stance=written.stance,
        status=decided.status,
        kappa=kappa,
        disputed=decided.disputed,
        support=decided.support,
        refute=decided.refute,
        evidence=table,
        clusters=tuple(groups),
        edges=tuple((one, other, data["weight"]) for one, other, data in graph.edges(data=True)),
        conflict=written.conflict,
        sentences=written.sentences,
        problem=written.problem,
        raw=written.raw,
        unreadable=tuple(each.id for each in everything if each.relation is Relation.INVALID),
        truncations=truncations,
    )


async def tag(
    query: str, retrieved: Sequence[Retrieved], labeller: Labeller
) -> tuple[list[Tagged], tuple[Truncation, ...]]:
    """The relation t_i and confidence u_i of every passage (ConRAG, section 2, relation tagging).

    Args:
        query: A claim, the hypothesis; passages are premises.
        retrieved: The passages.
        labeller: Asked once, for all of them.

    Returns:
        One per passage, `INVALID` where its label could not be read; and what was read in part.
    """
    if not retrieved:
        return [], ()
    labelled = await labeller([query], [each.passage for each in retrieved])
    tagged = [
        Tagged(
            each.passage,
            each.relevance,
            judgement.relation,
            confidence(judgement),
            rationale=judgement.snippet if judgement.snippet_found else None,
        )
        for each, judgement in zip(retrieved, labelled.judgements, strict=True)
    ]
    return tagged, labelled.truncations


def confidence(judgement: Judgement) -> float:
    """u_i, the probability of the label; 1 where the labeller gives none, 0 of no label."""
    if judgement.relation is Relation.INVALID:
        return 0.0
    probabilities = judgement.probabilities
    return probabilities[judgement.relation] if probabilities else 1.0
