"""Every method on one claim or question: its passages are tagged once, for all of them."""

from collections.abc import Mapping, Sequence

from pipelines.conrag.analysis import analyse
from pipelines.conrag.conflict import cluster_conflict_score, kappa
from pipelines.conrag.evaluation.answers import (
    AnsweredQuestion,
    Recorded,
    answer_worth,
    supporting,
)
from pipelines.conrag.evaluation.methods import (
    ABLATIONS,
    METHODS,
    NOTHING,
    Given,
    Method,
    Reading,
    most_relevant,
    without_tags,
)
from pipelines.conrag.evaluation.outcome import Outcome
from pipelines.conrag.evaluation.queries import Query
from pipelines.conrag.evaluation.result import ClaimResult, Passage
from pipelines.conrag.evaluation.written import Writers, written
from pipelines.conrag.pipeline import tag
from pipelines.conrag.question import FirstAnswer, first_answer
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.tagged import Tagged, expected_mass
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.labeller import Labeller
from pipelines.retrieval.index import Retrieved

ALL_METHODS: Mapping[str, Method] = {**METHODS, **ABLATIONS}


async def evaluate(
    query: Query,
    retrieved: Sequence[Retrieved],
    labeller: Labeller,
    settings: ConragSettings,
    writers: Writers | None = None,
) -> ClaimResult:
    """Tag a claim's passages once, and put every method to work on them.

    A question is answered first, so that there is something to tag passages by; and what methods
    answer is judged by the labeller.

    Args:
        query: The claim or question, and what is known of it.
        retrieved: Its passages, the most relevant first; the first k of them are used.
        labeller: Tags.
        settings: Every parameter.
        writers: The language model that writes answers; None takes the template, which cannot
            answer questions.

    Raises:
        PairError: The claim or a passage cannot be judged.
        RequestError, ServingError: As of the labeller and of the language model.
        ValueError: A question, and nobody to answer it.
    """
    found = retrieved[: settings.depth]
    documents = {each.passage.id: each.passage for each in found}
    first, truth = FirstAnswer((query.claim,)), query.relations
    judge = Recorded(labeller)
    if query.asked is not None:
        if writers is None:
            raise ValueError("a question needs a language model, which answers it")
        shown = [each.passage for each in found[: settings.packet.size]]
        first = await first_answer(query.claim, shown, writers.bound)
        truth = {
            **truth,
            **await supporting(query.asked.claims, list(documents.values()), judge),
        }
    everything, truncations = await tag(first.claims, found, labeller)
    tagged = tuple(each for each in everything if each.relation is not Relation.INVALID)
    question = None
    if writers is None:
        outcomes = await _by_template(query, tagged, labeller, settings)
    else:
        given = Given(query.claim, tagged, NOTHING, NOTHING, truth)
        outcomes = await written(
            given,
            settings,
            writers,
            first=first if query.asked else None,
            gold_answer=query.asked.statements(query.claim, found) if query.asked else (),
        )
    if query.asked is not None:
        worth = await answer_worth(outcomes, documents, query.asked, judge)
        question = AnsweredQuestion(
            first_answer=first.claims,
            problem=first.problem,
            raw=first.raw,
            worth=worth,
            unreadable=judge.unreadable,
            truncations=tuple(judge.truncations),
        )
    analysis = analyse(tagged, settings)
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
            )
            for each in everything
        ),
        kappa=analysis.kappa,
        kappa_clusters=cluster_conflict_score(analysis.clusters),
        kappa_expected=kappa(
            expected_mass(tagged, Relation.SUPPORTS), expected_mass(tagged, Relation.CONTRADICTS)
        ),
        outcomes=outcomes,
        truncations=truncations,
    )


async def _by_template(
    query: Query, tagged: tuple[Tagged, ...], labeller: Labeller, settings: ConragSettings
) -> dict[str, Outcome]:
    """Every method's outcome; the two packets of those without tags are read as one text each."""
    packets = [most_relevant(tagged, settings), without_tags(tagged, settings)]
    together, untagged = await _read_together(query.claim, packets, labeller)
    given = Given(query.claim, tagged, together, untagged, query.relations)
    return {name: method(given, settings) for name, method in ALL_METHODS.items()}


async def _read_together(
    claim: str, packets: Sequence[Sequence[Tagged]], labeller: Labeller
) -> list[Reading]:
    """What the labeller says of each packet, read as one text; nothing, of an empty one."""
    texts = ["\n\n".join(each.passage.as_read() for each in packet) for packet in packets]
    # Equal packets are one document, so that a language model is not asked twice.
    wanted = {text: Document(id=f"packet {n}", text=text) for n, text in enumerate(texts) if text}
    if not wanted:
        return [NOTHING] * len(packets)
    labelled = await labeller([claim], list(wanted.values()))
    readings = dict(zip(wanted, map(_reading, labelled.judgements), strict=True))
    return [readings.get(text, NOTHING) for text in texts]


def _reading(judgement: Judgement) -> Reading:
    given = judgement.probabilities or {judgement.relation: 1.0}
    return Reading(judgement.relation, given.get(Relation.SUPPORTS, 0.0))
