"""ConRAG over one query: from retrieved passages to an answer that shows the disagreement."""

from collections.abc import Sequence

from pipelines.conrag import template
from pipelines.conrag.answer import Answer, problems
from pipelines.conrag.citations import RecordingJudge, answer_worth, supporting
from pipelines.conrag.evidence import TaggedPassage
from pipelines.conrag.generation import FirstAnswer, GeneratedAnswer, Generator, first_answer, write
from pipelines.conrag.methods import (
    analyse,
    by_model,
    by_template,
    case_of,
    readings,
)
from pipelines.conrag.query import GoldAnswer, Query, in_lists
from pipelines.conrag.result import AnsweredQuestion, ClaimResult, JudgedAnswers, Passage
from pipelines.conrag.settings import ConragSettings
from pipelines.judge.judge import Judge, PairError
from pipelines.judge.judgement import Judgement, Relation, Truncation
from pipelines.retrieval.index import Retrieved


async def conrag(
    query: str,
    retrieved: Sequence[Retrieved],
    *,
    judge: Judge,
    settings: ConragSettings,
    generator: Generator | None = None,
    question: bool = False,
) -> Answer:
    """Structure the evidence, decide, and answer (ConRAG, section 2, pseudocode).

    Args:
        query: A claim, or a question.
        retrieved: Passages, the best first; at most `depth` of them are used.
        judge: Tags them.
        settings: Every parameter.
        generator: The language model that writes, and sorts if the settings say so; None takes the
            template. The stance is by the tags, whoever sorts.
        question: Whether the query is a question; see `pipelines.conrag.generation`. That asks for
            a generator.

    Raises:
        PairError: The claim cannot be judged.
        RequestError, ServingError: As of the judge and the generator.
        ValueError: A question, and no generator.
    """
    found = retrieved[: settings.depth]
    first = None
    if question:
        first = await first_answer(query, found[: settings.packet.size], generator)
    everything, truncations = await tag(first.claims if first else (query,), found, judge)
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
    claims: Sequence[str], retrieved: Sequence[Retrieved], judge: Judge
) -> tuple[list[TaggedPassage], tuple[Truncation, ...]]:
    """The relation t_i and confidence u_i of every passage (ConRAG, section 2, relation tagging).

    Claims are hypotheses, passages premises. Several claims are parts of one answer; without any,
    no passage says anything of it. The judge is asked once, for all of them.

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
    labelled = await judge(claims, [each.passage for each in retrieved])
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
    """u_i, the probability of the label; 1 where the judge gives none, 0 of no label."""
    if judgement.relation is Relation.INVALID:
        return 0.0
    probabilities = judgement.probabilities
    return probabilities[judgement.relation] if probabilities else 1.0


async def evaluate(
    query: Query,
    retrieved: Sequence[Retrieved],
    judge: Judge,
    settings: ConragSettings,
    generator: Generator | None = None,
    *,
    citation_judge: Judge | None = None,
) -> ClaimResult:
    """Tag a claim's passages once, and put every method to work on them.

    A question is answered first, so that there is something to tag passages by. The
    `citation_judge`, the judge unless given, says what methods' answers are worth and which
    passages really bear gold claims out. It also says what a language model's texts on sentences of
    responses are worth. Of the passages, the most relevant first, the first k are used. Without a
    generator the template writes, which cannot answer questions.

    Raises:
        PairError: The claim cannot be judged.
        RequestError, ServingError: As of the judges and of the language model.
        ValueError: A question, and nobody to answer it.
    """
    if generator is not None and query.gold_answer is not None and query.gold_answer.listed:
        generator = in_lists(generator)
    found = retrieved[: settings.depth]
    documents = {each.passage.id: each.passage for each in found}
    gold_answer, judging = query.gold_answer, RecordingJudge(citation_judge or judge)
    first, gold, truth = None, None, query.relations
    if gold_answer is not None:
        first = await first_answer(query.claim, found[: settings.packet.size], generator)
        gold = FirstAnswer(gold_answer.statements(query.claim, found))
        borne_out = await supporting(gold_answer.claims, list(documents.values()), judging)
        truth = {**truth, **borne_out}
    everything, truncations = await tag(first.claims if first else (query.claim,), found, judge)
    tagged = tuple(each for each in everything if each.relation is not Relation.INVALID)
    case = case_of(query.claim, tagged, truth, settings)
    if generator is None:
        outcomes = by_template(case, *await readings(case, judge))
    else:
        outcomes = await by_model(case, settings, generator, first=first, gold=gold)
    question, generated = None, None
    if first is not None and gold_answer is not None:
        worth = await answer_worth(query.claim, outcomes, documents, gold_answer, judging)
        question = AnsweredQuestion(
            first_answer=first.claims,
            problem=first.problem,
            raw=first.raw,
            worth=worth,
            cut=first.cut,
            unreadable=judging.unreadable,
            truncations=tuple(judging.truncations),
        )
    elif query.response is not None and generator is not None:
        generated = JudgedAnswers(
            worth=await answer_worth(query.claim, outcomes, documents, GoldAnswer(), judging),
            unreadable=judging.unreadable,
            truncations=tuple(judging.truncations),
        )
    return ClaimResult(
        id=query.id,
        claim=query.claim,
        status="answered",
        stance=query.stance,
        disputed=query.disputed,
        evidence=query.evidence,
        response=query.response,
        question=question,
        generated=generated,
        passages=tuple(
            Passage(
                id=each.id,
                title=each.passage.title,
                text=each.passage.text,
                relevance=each.relevance,
                tag=each.relation,
                confidence=each.confidence,
                truth=truth.get(each.id),
                label_mass=each.label_mass,
                rationale=each.rationale,
                unsure=each.unsure,
            )
            for each in everything
        ),
        kappa=case.analysis.adjudication.kappa,
        outcomes=outcomes,
        truncations=truncations,
    )
