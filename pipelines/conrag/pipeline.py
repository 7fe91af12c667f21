"""ConRAG over one query: from retrieved passages to an answer that shows the disagreement."""

from collections.abc import Sequence

from pipelines.conrag import template
from pipelines.conrag.analysis import analyse
from pipelines.conrag.answer import Answer
from pipelines.conrag.generator import Generator, Written, write
from pipelines.conrag.graph import Similarity, word_cosine
from pipelines.conrag.policies import SIDE, problems
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.tagged import Tagged
from pipelines.evidence.judgement import Judgement, Relation, Truncation
from pipelines.evidence.labeller import Labeller
from pipelines.retrieval.index import Retrieved


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
    found = analyse(tagged, settings, topical=topical)
    disagreement = template.conflict_statement(found.table)
    if generator is not None and any(each.relation in SIDE.values() for each in found.table):
        written = await write(query, found.table, settings.policy, generator)
    else:
        written = Written(
            tuple(
                sentence.model_copy(
                    update={"problems": problems(sentence, found.table, settings.policy)}
                )
                for sentence in template.write(found.decided, found.table)
            ),
        )
    return Answer(
        query=query,
        stance=found.decided.stance,
        model_stance=written.stance,
        status=found.decided.status,
        kappa=found.kappa,
        disputed=found.decided.disputed,
        support=found.decided.support,
        refute=found.decided.refute,
        evidence=found.table,
        clusters=found.clusters,
        edges=tuple(
            (one, other, data["weight"]) for one, other, data in found.graph.edges(data=True)
        ),
        # Whether passages disagree is read off the table, never off what a model writes.
        conflict=(written.conflict or disagreement) if disagreement else None,
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
            probabilities=judgement.probabilities,
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
