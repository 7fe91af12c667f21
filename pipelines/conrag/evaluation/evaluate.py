"""Every method on one claim: the passages are retrieved and tagged once, for all of them."""

from collections.abc import Mapping, Sequence

from pipelines.conrag.analysis import analyse
from pipelines.conrag.conflict import cluster_conflict_score, kappa
from pipelines.conrag.evaluation.methods import (
    ABLATIONS,
    METHODS,
    Given,
    Method,
    Reading,
    most_relevant,
    without_tags,
)
from pipelines.conrag.evaluation.queries import Query
from pipelines.conrag.evaluation.result import ClaimResult, Passage
from pipelines.conrag.pipeline import tag
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.tagged import Tagged, expected_mass
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.labeller import Labeller
from pipelines.retrieval.index import Retrieved

ALL_METHODS: Mapping[str, Method] = {**METHODS, **ABLATIONS}


async def evaluate(
    query: Query, retrieved: Sequence[Retrieved], labeller: Labeller, settings: ConragSettings
) -> ClaimResult:
    """Tag a claim's passages once, and put every method to work on them.

    The labeller is asked twice: for the passages one by one, and for the two packets that methods
    without tags read as one text.

    Args:
        query: The claim, and what is known of it.
        retrieved: Its passages, the most relevant first; the first k of them are used.
        labeller: Tags.
        settings: Every parameter.

    Raises:
        PairError: The claim or a passage cannot be judged.
        RequestError, ServingError: As of the labeller.
    """
    everything, truncations = await tag(query.claim, retrieved[: settings.depth], labeller)
    tagged = tuple(each for each in everything if each.relation is not Relation.INVALID)
    packets = [most_relevant(tagged, settings), without_tags(tagged, settings)]
    together, untagged = await _read_together(query.claim, packets, labeller)
    given = Given(query.claim, tagged, together, untagged, query.relations)
    found = analyse(tagged, settings)
    return ClaimResult(
        id=query.id,
        claim=query.claim,
        status="answered",
        stance=query.stance,
        disputed=query.disputed,
        evidence=query.evidence,
        response=query.response,
        passages=tuple(
            Passage(
                id=each.id,
                title=each.passage.title,
                text=each.passage.text,
                relevance=each.relevance,
                tag=each.relation,
                confidence=each.confidence,
                truth=query.relations.get(each.id),
            )
            for each in everything
        ),
        kappa=found.kappa,
        kappa_clusters=cluster_conflict_score(found.clusters),
        kappa_expected=kappa(
            expected_mass(tagged, Relation.SUPPORTS), expected_mass(tagged, Relation.CONTRADICTS)
        ),
        outcomes={name: method(given, settings) for name, method in ALL_METHODS.items()},
        truncations=truncations,
    )


async def _read_together(
    claim: str, packets: Sequence[Sequence[Tagged]], labeller: Labeller
) -> list[Reading]:
    """What the labeller says of each packet, read as one text; nothing, of an empty one."""
    texts = ["\n\n".join(each.passage.as_read() for each in packet) for packet in packets]
    # Equal packets are one document, so that a language model is not asked twice.
    wanted = {text: Document(id=f"packet {n}", text=text) for n, text in enumerate(texts) if text}
    if not wanted:
        return [_NOTHING] * len(packets)
    labelled = await labeller([claim], list(wanted.values()))
    readings = dict(zip(wanted, map(_reading, labelled.judgements), strict=True))
    return [readings.get(text, _NOTHING) for text in texts]


_NOTHING = Reading(Relation.IRRELEVANT, 0.0)


def _reading(judgement: Judgement) -> Reading:
    given = judgement.probabilities or {judgement.relation: 1.0}
    return Reading(judgement.relation, given.get(Relation.SUPPORTS, 0.0))
