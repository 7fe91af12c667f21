"""ConRAG, its four baselines and its four ablations, each from a claim's tagged passages alone.

The paper describes the baselines in a sentence each (section 2, baselines and experimental
comparisons). What they are here stands in the docstring of each function. All of them retrieve the
same k passages, show at most the same k', and write with the same template.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.conrag import template
from pipelines.conrag.analysis import Analysis, analyse
from pipelines.conrag.clusters import clusters, communities
from pipelines.conrag.evaluation.outcome import Outcome, Statement
from pipelines.conrag.graph import similarity_graph
from pipelines.conrag.packet import PacketSettings, select
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.stance import Stance, delta_rule
from pipelines.conrag.tagged import Tagged, evidence_mass
from pipelines.data.words import content_words
from pipelines.evidence.judgement import Relation
from pipelines.metrics.citations import AT_MOST

if TYPE_CHECKING:
    import networkx as nx

STANCE_OF = {
    Relation.SUPPORTS: Stance.SUPPORT,
    Relation.CONTRADICTS: Stance.REFUTE,
    Relation.IRRELEVANT: Stance.NOT_ENOUGH_INFO,
    Relation.INVALID: Stance.NOT_ENOUGH_INFO,
}


@dataclass(frozen=True)
class Reading:
    """What the tagger says of several passages that it reads as one text.

    Attributes:
        relation: Its label; irrelevant where there is nothing to read.
        support: Its probability that the claim is supported, in [0, 1]; where it gives labels
            alone, 1 for that one and 0 for the others.
    """

    relation: Relation
    support: float


@dataclass(frozen=True)
class Given:
    """What every method starts from.

    Attributes:
        claim: The claim, or the question.
        tagged: The k passages, the most relevant first, each with a label.
        read_together: What the tagger says of the most relevant k' passages, read as one text.
        read_without_tags: What it says of the packet that is chosen without tags, likewise.
        truth: Passage id -> what it says of the claim, as far as the data say.
    """

    claim: str
    tagged: tuple[Tagged, ...]
    read_together: Reading
    read_without_tags: Reading
    truth: Mapping[str, Relation]


NOTHING = Reading(Relation.IRRELEVANT, 0.0)
"""The reading of no text."""


Method = Callable[[Given, ConragSettings], Outcome]


def support_share(support: float, refute: float) -> float:
    """How far a method holds a claim to be supported, from what it has for and against it.

    Each method weighs what its stance rests on: NLI-RAG votes, CiteRAG the confidences of its
    packet, ConRAG, Oracle and the other ablations U_sup and U_ref. RelRAG and ConRAG without tags
    have a single label, of the joined text, and take the tagger's probability of support
    (`Reading.support`) in place of a share.

    Args:
        support: What speaks for it, at least 0.
        refute: What speaks against it, at least 0.

    Returns:
        support / (support + refute), in [0, 1]; 0 without evidence, which supports nothing.
    """
    return support / (support + refute) if support > 0 else 0.0


def most_relevant(tagged: Sequence[Tagged], settings: ConragSettings) -> list[Tagged]:
    """The packet of the baselines: the k' most relevant passages, whatever they say."""
    return sorted(tagged, key=lambda each: (-each.relevance, each.id))[: settings.packet.size]


def without_tags(tagged: Sequence[Tagged], settings: ConragSettings) -> list[Tagged]:
    """The packet of ConRAG without tags: the most relevant, with clusters by words and names."""
    blind = [replace(each, relation=Relation.IRRELEVANT, confidence=0.0) for each in tagged]
    groups = clusters(blind, communities(similarity_graph(blind, settings.edges)))
    return list(select(blind, groups, 0.0, settings.packet).passages)


def relrag(given: Given, settings: ConragSettings) -> Outcome:
    """RelRAG: the most relevant passages, read as one text; no word of a contradiction.

    What the tagger says of the joined text is the stance. Which passages made it say so is not
    known, so the verdict cites them all, and the most relevant ones are quoted for it.
    """
    packet = most_relevant(given.tagged, settings)
    return _read_as_one(given.read_together, packet)


def nli_rag(given: Given, settings: ConragSettings) -> Outcome:
    """NLI-RAG: the most relevant passages, and a vote of tags after the fact.

    Each of the k passages with a side has one vote; equal votes give no stance. Passages without a
    side do not vote, since they are most of what is retrieved and would always win. The verdict
    cites the passages of the packet on its side.
    """
    stance, support = vote(given.tagged)
    packet = most_relevant(given.tagged, settings)
    side = [each for each in packet if STANCE_OF[each.relation] is stance]
    return _one_narrative(stance, packet, side, support)


def vote(tagged: Sequence[Tagged]) -> tuple[Stance, float]:
    """NLI-RAG's stance: the side that more passages take, and its support share."""
    votes = [sum(each.relation is side for each in tagged) for side in _SIDES]
    return delta_rule(*votes, delta=0), support_share(*votes)


def citerag(given: Given, settings: ConragSettings) -> Outcome:
    """CiteRAG: citations in every sentence, bound to it by shared words; no abstention.

    The side of the packet with the larger sum of confidences is the stance, however narrow. Each
    sentence cites the passages that have most words in common with it, whatever they say.
    """
    packet = most_relevant(given.tagged, settings)
    stance, support = heavier_side(packet)
    outcome = _one_narrative(stance, packet, packet, support)
    return cited_by_words(given.claim, outcome, packet)


def heavier_side(packet: Sequence[Tagged]) -> tuple[Stance, float]:
    """CiteRAG's stance: the side with the larger sum of confidences, and its support share."""
    masses = [evidence_mass(packet, side) for side in _SIDES]
    return delta_rule(*masses, delta=0), support_share(*masses)


def conrag(given: Given, settings: ConragSettings) -> Outcome:
    """ConRAG: clusters, conflict score, a packet with both sides, a stance, a bound answer."""
    return _answered(analyse(given.tagged, settings))


def oracle(given: Given, settings: ConragSettings) -> Outcome:
    """ConRAG with the gold relation of every passage in place of the tag."""
    return _answered(analyse(with_gold_tags(given), settings))


def with_gold_tags(given: Given) -> list[Tagged]:
    """The passages with their gold relations; of what the data do not say, irrelevant."""
    return [
        replace(
            each,
            relation=given.truth.get(each.id, Relation.IRRELEVANT),
            confidence=1.0,
            probabilities=None,
        )
        for each in given.tagged
    ]


def without_tagging(given: Given, settings: ConragSettings) -> Outcome:
    """ConRAG without conflict tagging: clusters by words and names, and no sides.

    The packet is then read as one text, as in RelRAG.
    """
    packet = without_tags(given.tagged, settings)
    return _read_as_one(given.read_without_tags, packet)


def without_clustering(given: Given, settings: ConragSettings) -> Outcome:
    """ConRAG without evidence clustering: every passage by itself, near-duplicates included."""
    return _answered(analyse_apart(given, settings))


def analyse_apart(given: Given, settings: ConragSettings) -> Analysis:
    """The analysis stage where every passage is a cluster and none is a near-duplicate."""

    def apart(graph: "nx.Graph") -> list[frozenset[str]]:
        return [frozenset({node}) for node in graph]

    packet = PacketSettings(**settings.packet.model_dump() | {"near_duplicate": 1.0})
    return analyse(given.tagged, settings.model_copy(update={"packet": packet}), grouping=apart)


def without_uncertainty(given: Given, settings: ConragSettings) -> Outcome:
    """ConRAG without its uncertainty policy: it always takes the side with more evidence.

    And it keeps to that side: the other one and the disagreement are not spoken of.
    """
    found = analyse(given.tagged, settings)
    stance = delta_rule(found.decided.support, found.decided.refute, delta=0)
    answer = _answered(replace(found, decided=replace(found.decided, stance=stance)))
    about = template.VERDICT[stance][0] if stance in template.VERDICT else "none"
    kept = tuple(each for each in answer.statements if each.about == about)
    return answer.model_copy(update={"statements": kept})


def without_binding(given: Given, settings: ConragSettings) -> Outcome:
    """ConRAG without citation binding: citations are added afterwards, by shared words."""
    found = analyse(given.tagged, settings)
    return cited_by_words(given.claim, _answered(found), found.packet.passages)


METHODS: Mapping[str, Method] = {
    "RelRAG": relrag,
    "NLI-RAG": nli_rag,
    "CiteRAG": citerag,
    "ConRAG": conrag,
    "Oracle": oracle,
}
"""Table IV, in its order."""

ABLATIONS: Mapping[str, Method] = {
    "w/o conflict tagging": without_tagging,
    "w/o evidence clustering": without_clustering,
    "w/o uncertainty policy": without_uncertainty,
    "w/o citation binding": without_binding,
}
"""Table VII, in its order."""

_SIDES = (Relation.SUPPORTS, Relation.CONTRADICTS)


def _answered(found: Analysis) -> Outcome:
    """The template's answer, with passage ids in place of numbers."""
    ids = {row.number: row.passage.id for row in found.table}
    return Outcome(
        stance=found.decided.stance,
        packet=tuple(each.id for each in found.packet.passages),
        statements=tuple(
            Statement(
                text=each.text, about=each.about, cites=tuple(ids[number] for number in each.cites)
            )
            for each in template.write(found.decided, found.table)
        ),
        support=support_share(found.decided.support, found.decided.refute),
    )


def _read_as_one(reading: Reading, packet: Sequence[Tagged]) -> Outcome:
    return _one_narrative(STANCE_OF[reading.relation], packet, packet, reading.support)


def _one_narrative(
    stance: Stance, packet: Sequence[Tagged], grounds: Sequence[Tagged], support: float
) -> Outcome:
    """A verdict, and the most relevant of its grounds quoted; without a stance, nothing to say."""
    statements = [Statement(text=template.NOTHING_FOUND, about="none")]
    if stance in template.VERDICT:
        about, text = template.VERDICT[stance]
        verdict = Statement(text=text, about=about, cites=tuple(each.id for each in grounds))
        quoted = [
            Statement(text=each.passage.text, about=about, cites=(each.id,))
            for each in grounds[: template.QUOTED]
        ]
        statements = [verdict, *quoted]
    return Outcome(
        stance=stance,
        packet=tuple(each.id for each in packet),
        statements=tuple(statements),
        support=support,
    )


def cited_by_words(claim: str, outcome: Outcome, packet: Sequence[Tagged]) -> Outcome:
    """The outcome with every citation replaced by what shares most words with its sentence.

    A verdict has no words of its own, and stands for the claim.
    """
    words = {each.id: content_words(each.passage.text) for each in packet}
    verdicts = {text for _, text in template.VERDICT.values()} | {template.DISAGREE}

    def nearest(statement: Statement) -> tuple[str, ...]:
        wanted = content_words(claim if statement.text in verdicts else statement.text)
        shared = {name: len(wanted & own) for name, own in words.items()}
        ranked = sorted((name for name in shared if shared[name]), key=lambda name: -shared[name])
        return tuple(ranked[:AT_MOST])

    return outcome.model_copy(
        update={
            "statements": tuple(
                each if each.about == "none" else each.model_copy(update={"cites": nearest(each)})
                for each in outcome.statements
            ),
            "unbound": 0,
        }
    )
