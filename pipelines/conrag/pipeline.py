"""ConRAG over one query: from retrieved passages to an answer that shows the disagreement."""

from collections.abc import Sequence

from pipelines.conrag import template
from pipelines.conrag.analysis import analyse
from pipelines.conrag.answer import Answer
from pipelines.conrag.generation import GeneratedAnswer, write
from pipelines.conrag.generator import Generator
from pipelines.conrag.policies import problems
from pipelines.conrag.question import first_answer
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.tagged import TaggedPassage
from pipelines.evidence.judgement import Judgement, Relation, Truncation
from pipelines.evidence.labeller import Labeller, PairError
from pipelines.retrieval.index import Retrieved


async def conrag(
    query: str,
    retrieved: Sequence[Retrieved],
    *,
    labeller: Labeller,
    settings: ConragSettings,
    generator: Generator | None = None,
    question: bool = False,
) -> Answer:
    """Structure the evidence, decide, and answer (ConRAG, section 2, pseudocode).

    Args:
        query: A claim, or a question.
        retrieved: Passages, the best first; at most `depth` of them are used.
        labeller: Tags them.
        settings: Every parameter.
        generator: The language model that writes, and sorts if the settings say so; None takes the
            template. The stance is by the tags, whoever sorts.
        question: Whether the query is a question; see `pipelines.conrag.question`. That asks for
            a generator.

    Raises:
        PairError: The claim cannot be judged.
        RequestError, ServingError: As of the labeller and the generator.
        ValueError: A question, and no generator.
    """
    found = retrieved[: settings.depth]
    first = None
    if question:
        first = await first_answer(query, found[: settings.packet.size], generator)
    everything, truncations = await tag(first.claims if first else (query,), found, labeller)
    tagged = [each for each in everything if each.relation is not Relation.INVALID]
    analysis = analyse(tagged, settings)
    table, adjudication = analysis.table, analysis.adjudication
    disagreement = template.conflict_statement(table)
    if generator is not None:
        written = await write(query, table, settings.policy, generator, first, sort=settings.sort)
        table, disagreement = written.table, template.conflict_statement(written.table)
    else:
        sentences = (
            sentence.model_copy(update={"problems": problems(sentence, table, settings.policy)})
            for sentence in template.write(adjudication.stance, table)
        )
        written = GeneratedAnswer(tuple(sentences))
    return Answer(
        query=query,
        first_answer=first.claims if first else (),
        stance=adjudication.stance,
        model_stance=written.stance,
        status=adjudication.status,
        kappa=adjudication.kappa,
        disputed=adjudication.disputed,
        support=adjudication.support,
        refute=adjudication.refute,
        evidence=table,
        clusters=analysis.clusters,
        edges=tuple(analysis.graph.edges(data="weight")),
        # Whether passages disagree is read off the table, never off what a model writes of it.
        conflict=(written.conflict or disagreement) if disagreement else None,
        sentences=written.sentences,
        cut=written.cut or (first is not None and first.cut),
        problem=written.problem,
        raw=written.raw,
        tags={each.id: each.relation for each in everything},
        unsure=sum(each.unsure for each in tagged),
        truncations=truncations,
    )


async def tag(
    claims: Sequence[str], retrieved: Sequence[Retrieved], labeller: Labeller
) -> tuple[list[TaggedPassage], tuple[Truncation, ...]]:
    """The relation t_i and confidence u_i of every passage (ConRAG, section 2, relation tagging).

    Claims are hypotheses, passages premises. Several claims are parts of one answer; without any,
    no passage says anything of it. The labeller is asked once, for all of them.

    Returns:
        One per passage, `INVALID` where its label could not be read; and what was read in part.

    Raises:
        PairError: No claim can be judged.
    """
    if not retrieved or not claims:
        return [
            TaggedPassage(each.passage, each.relevance, Relation.IRRELEVANT, 0)
            for each in retrieved
        ], ()
    labelled = await labeller(claims, [each.passage for each in retrieved])
    refusals = [each.refusal for each in labelled.judgements if each.refusal]
    if len(refusals) == len(labelled.judgements):
        raise PairError(refusals[0])
    tagged = []
    for place, each in enumerate(retrieved):
        judgement = deciding(labelled.judgements[place :: len(retrieved)])
        tagged.append(
            TaggedPassage(
                each.passage,
                each.relevance,
                judgement.relation,
                tag_confidence(judgement),
                rationale=judgement.snippet if judgement.snippet_found else None,
                probabilities=judgement.probabilities,
                label_mass=judgement.label_mass,
            )
        )
    return tagged, labelled.truncations


def deciding(judgements: Sequence[Judgement]) -> Judgement:
    """What a passage says of an answer in several parts: the judgement that decides.

    The paper's query is one statement, so that it has no rule for this (ConRAG, section 2). The
    surest that takes a side decides, so that a weak support hides no sure contradiction; of two
    as sure, the one that supports. Without a side the passage is irrelevant, unless nothing could
    be read. There is at least one.
    """
    rank = {Relation.INVALID: 0, Relation.IRRELEVANT: 1, Relation.CONTRADICTS: 2}

    def weight(each: Judgement) -> tuple[int, float, bool]:
        supports = each.relation is Relation.SUPPORTS
        return rank.get(each.relation, 2), tag_confidence(each), supports

    return max(judgements, key=weight)


def tag_confidence(judgement: Judgement) -> float:
    """u_i, the probability of the label; 1 where the labeller gives none, 0 of no label."""
    if judgement.relation is Relation.INVALID:
        return 0.0
    probabilities = judgement.probabilities
    return probabilities[judgement.relation] if probabilities else 1.0
