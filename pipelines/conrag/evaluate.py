"""A claim's passages, tagged once, under every method."""

from collections.abc import Sequence

from pipelines.conrag.answer_worth import RecordingLabeller, answer_worth, supporting
from pipelines.conrag.clusters import cluster_conflict_score
from pipelines.conrag.generator import Generator
from pipelines.conrag.listing import in_lists
from pipelines.conrag.methods import ALL_METHODS, Writer, case_of
from pipelines.conrag.pipeline import tag
from pipelines.conrag.query import Query
from pipelines.conrag.question import FirstAnswer, first_answer
from pipelines.conrag.result import AnsweredQuestion, ClaimResult, Passage
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.tagged import probability_of_both_sides
from pipelines.conrag.writers import model_writer, template_writer
from pipelines.evidence.judgement import Relation
from pipelines.evidence.labeller import Labeller
from pipelines.retrieval.index import Retrieved


async def evaluate(
    query: Query,
    retrieved: Sequence[Retrieved],
    labeller: Labeller,
    settings: ConragSettings,
    generator: Generator | None = None,
    *,
    judge: Labeller | None = None,
) -> ClaimResult:
    """Tag a claim's passages once, and put every method to work on them.

    A question is answered first, so that there is something to tag passages by; and `judge`, the
    labeller unless given, says what methods' answers are worth and which passages really bear gold
    claims out. Of the passages, the most relevant first, the first k are used. Without a generator
    the template writes, which cannot answer questions.

    Raises:
        PairError: The claim cannot be judged.
        RequestError, ServingError: As of the labellers and of the language model.
        ValueError: A question, and nobody to answer it.
    """
    if generator is not None and query.gold_answer is not None and query.gold_answer.listed:
        generator = in_lists(generator)
    found = retrieved[: settings.depth]
    documents = {each.passage.id: each.passage for each in found}
    gold_answer, judging = query.gold_answer, RecordingLabeller(judge or labeller)
    first, gold, truth = None, None, query.relations
    if gold_answer is not None:
        first = await first_answer(query.claim, found[: settings.packet.size], generator)
        gold = FirstAnswer(gold_answer.statements(query.claim, found))
        borne_out = await supporting(gold_answer.claims, list(documents.values()), judging)
        truth = {**truth, **borne_out}
    everything, truncations = await tag(first.claims if first else (query.claim,), found, labeller)
    tagged = tuple(each for each in everything if each.relation is not Relation.INVALID)
    case = case_of(query.claim, tagged, truth, settings)
    writer: Writer
    if generator is None:
        writer = await template_writer(case, labeller)
    else:
        writer = await model_writer(case, settings, generator, first=first, gold=gold)
    outcomes = {name: method(case, writer) for name, method in ALL_METHODS.items()}
    question = None
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
    analysis = case.analyses["tagged"]
    return ClaimResult(
        id=query.id,
        claim=query.claim,
        status="answered",
        stance=query.stance,
        disputed=query.disputed,
        evidence=query.evidence,
        response=query.response,
        question=question,
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
        kappa=analysis.adjudication.kappa,
        kappa_clusters=cluster_conflict_score(analysis.clusters),
        both_sides=probability_of_both_sides(tagged),
        outcomes=outcomes,
        truncations=truncations,
    )
