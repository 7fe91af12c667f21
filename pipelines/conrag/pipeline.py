"""ConRAG over one query: from retrieved passages to an answer that shows the disagreement."""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.conrag import template
from pipelines.conrag.answer import Answer, problems
from pipelines.conrag.answer_worth import RecordingJudge, answer_worth, supporting
from pipelines.conrag.data import GoldAnswer, Query
from pipelines.conrag.evidence import TaggedPassage
from pipelines.conrag.generation import FirstAnswer, GeneratedAnswer, Generator, first_answer, write
from pipelines.conrag.methods import Case, analyse, by_model, by_template, readings
from pipelines.conrag.result import ClaimResult, JudgedAnswers
from pipelines.conrag.settings import ConragSettings
from pipelines.judge.judgement import Judgement, Relation, Truncation, nearly_tied
from pipelines.judge.protocol import Judge, PairError
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
        retrieved: Passages, the best first; at most `depth` are used.
        judge: Tags them.
        settings: All parameters.
        generator: The language model that writes, and also sorts if the settings say so; None uses
            the template. Either way, the stance comes from the tags.
        question: Whether the query is a question, which needs a generator; see
            `pipelines.conrag.generation`.

    Raises:
        PairError: The claim cannot be judged.
        RequestError, ServingError: From the judge or the generator.
        ValueError: A question without a generator.
    """
    found, first = retrieved[: settings.depth], FirstAnswer((query,))
    if question:
        generator = replace(generator, form="question") if generator else None
        first = await first_answer(query, found[: settings.packet.size], generator)
    everything, truncations = await tag(first.claims, found, judge)
    tagged = [passage for passage in everything if passage.relation is not Relation.INVALID]
    analysis = analyse(tagged, settings)
    table, adjudication = analysis.table, analysis.adjudication
    if generator is not None:
        written = await write(query, table, settings.policy, generator, first, sort=settings.sort)
    else:
        said = template.write(adjudication.stance, table)
        bound = (
            statement.faulty(*problems(statement, table, settings.policy)) for statement in said
        )
        written = GeneratedAnswer(tuple(bound), table=table)
    disagreement = template.conflict_statement(written.table)
    return Answer(
        query=query,
        first_answer=first.claims if question else (),
        stance=adjudication.stance,
        status=adjudication.status,
        kappa=adjudication.kappa,
        disputed=adjudication.disputed,
        support=adjudication.support,
        refute=adjudication.refute,
        model_stance=written.stance,
        evidence=written.table,
        clusters=analysis.clusters,
        # The table alone decides whether passages disagree, never the model's text.
        conflict=(written.conflict or disagreement) if disagreement else None,
        sentences=written.sentences,
        cut=written.cut or first.cut,
        problem=written.problem,
        raw=written.raw,
        tags={passage.id: passage.relation for passage in everything},
        unsure=sum(nearly_tied(passage.probabilities) for passage in tagged),
        truncations=truncations,
    )


async def tag(
    claims: Sequence[str], retrieved: Sequence[Retrieved], judge: Judge
) -> tuple[list[TaggedPassage], tuple[Truncation, ...]]:
    """The relation t_i and confidence u_i of every passage (ConRAG, section 2, relation tagging).

    Claims are hypotheses, passages premises. Several claims are parts of one answer. Without any
    claim, passages are irrelevant. The judge is asked once.

    Returns:
        One tagged passage per passage, `INVALID` if its label was unreadable; and truncations.

    Raises:
        PairError: No claim can be judged.
    """
    if not retrieved or not claims:
        return [
            TaggedPassage(hit.passage, hit.relevance, Relation.IRRELEVANT, 0) for hit in retrieved
        ], ()
    labelled = await judge(claims, [hit.passage for hit in retrieved])
    refusals = [said.refusal for said in labelled.judgements if said.refusal]
    if len(refusals) == len(labelled.judgements):
        raise PairError(refusals[0])
    decided = (
        deciding(labelled.judgements[place :: len(retrieved)]) for place in range(len(retrieved))
    )
    tagged = [
        TaggedPassage(
            hit.passage,
            hit.relevance,
            said.relation,
            tag_confidence(said),
            rationale=said.snippet if said.snippet_found else None,
            probabilities=said.probabilities,
            label_mass=said.label_mass,
        )
        for hit, said in zip(retrieved, decided, strict=True)
    ]
    return tagged, labelled.truncations


def deciding(judgements: Sequence[Judgement]) -> Judgement:
    """The judgement to use for a passage, out of those on the parts of an answer.

    The paper's query is one statement, so the paper has no rule for this (ConRAG, section 2). The
    surest judgement that takes a side decides, so that weak support cannot hide a sure
    contradiction; in a tie support wins. If no judgement takes a side, the passage is irrelevant,
    unless all labels are unreadable. `judgements` is not empty.
    """
    rank = {Relation.INVALID: 0, Relation.IRRELEVANT: 1, Relation.CONTRADICTS: 2}

    def weight(said: Judgement) -> tuple[int, float, bool]:
        supports = said.relation is Relation.SUPPORTS
        return rank.get(said.relation, 2), tag_confidence(said), supports

    return max(judgements, key=weight)


def tag_confidence(judgement: Judgement) -> float:
    """u_i, the probability of the label; 1 if the judge gives none, 0 without a label."""
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
    """Tag a claim's passages once, and run every method on them.

    A question is answered first, so that passages can be tagged against the answer. The
    `citation_judge` (by default the judge) judges answers to questions and a language model's texts
    on sentences of responses, and decides which passages back gold claims. The first k passages are
    used, the most relevant first. Without a generator the template writes; it cannot answer
    questions.

    Raises:
        PairError: The claim cannot be judged.
        RequestError, ServingError: From the judges or the language model.
        ValueError: A question without a generator to answer it.
    """
    generator = replace(generator, form=query.form) if generator else None
    found, first = retrieved[: settings.depth], FirstAnswer((query.claim,))
    documents = [hit.passage for hit in found]
    known, judging = query.gold_answer or GoldAnswer(), RecordingJudge(citation_judge or judge)
    gold, truth = first, query.relations
    if query.gold_answer is not None:
        first = await first_answer(query.claim, found[: settings.packet.size], generator)
        gold = FirstAnswer(known.statements(query.claim, documents))
        truth = {**truth, **await supporting(known.claims, documents, judging)}
    everything, truncations = await tag(first.claims, found, judge)
    tagged = [passage for passage in everything if passage.relation is not Relation.INVALID]
    case = Case(query.claim, tagged, truth, settings)
    if generator is None:
        outcomes = by_template(case, *await readings(case, judge))
    else:
        outcomes = await by_model(case, generator, first=first, gold=gold)
    judged = None
    if generator is not None and (query.gold_answer or query.response):
        asked = first if query.gold_answer else FirstAnswer(())
        judged = JudgedAnswers(
            worth=await answer_worth(query.claim, outcomes, documents, known, judging),
            unreadable=judging.unreadable,
            truncations=tuple(judging.truncations),
            first_answer=asked.claims,
            problem=asked.problem,
            raw=asked.raw,
            cut=asked.cut,
        )
    return ClaimResult.of(
        query,
        "answered",
        question=judged if query.gold_answer else None,
        generated=None if query.gold_answer else judged,
        passages=tuple(everything),
        truth={passage.id: truth[passage.id] for passage in everything if passage.id in truth},
        kappa=case.analysis.adjudication.kappa,
        outcomes=outcomes,
        truncations=truncations,
    )
