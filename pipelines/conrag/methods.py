"""ConRAG, its four baselines and its four ablations, each from a claim's tagged passages alone.

The paper describes the baselines in a sentence each (section 2, baselines and experimental
comparisons). What they are here stands beside each: the passages that it shows, the rule for its
stance, and how it cites. All of them retrieve the same k passages and show at most the same k'. Who
writes is a parameter: a template that quotes, or a language model; see `pipelines.conrag.writers`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from pipelines.conrag import template
from pipelines.conrag.analysis import Analysis, analyse
from pipelines.conrag.answer import ABOUT
from pipelines.conrag.clusters import clusters, communities
from pipelines.conrag.graph import similarity_graph
from pipelines.conrag.outcome import Outcome, Sorted, Statement
from pipelines.conrag.packet import select
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.stance import STANCE_OF, Stance, delta_rule
from pipelines.conrag.tagged import SIDES, TaggedPassage, evidence_mass
from pipelines.evidence.judgement import Relation
from pipelines.metrics.citations import AT_MOST
from pipelines.text.words import content_words

PacketName = Literal["relevant", "untagged"]
"""The most relevant passages, or the packet that ConRAG chooses without tags."""

AnalysisName = Literal["tagged", "gold", "apart"]
"""ConRAG's analysis of the tags, of the gold relations, or with every passage by itself."""


@dataclass(frozen=True)
class Case:
    """What every method starts from.

    Attributes:
        tagged: The k passages, the most relevant first, each with a label.
        packets: Passages to be written from with nothing said of relations.
        analyses: Evidence to be written from with its relations.
    """

    claim: str
    tagged: tuple[TaggedPassage, ...]
    packets: Mapping[PacketName, Sequence[TaggedPassage]]
    analyses: Mapping[AnalysisName, Analysis]


def case_of(
    claim: str,
    tagged: Sequence[TaggedPassage],
    truth: Mapping[str, Relation],
    settings: ConragSettings,
) -> Case:
    """What every method starts from, worked out once.

    `truth` is what passages say of the claim by their ids; those that it does not know count as
    irrelevant.
    """
    gold = [
        replace(
            each,
            relation=truth.get(each.id, Relation.IRRELEVANT),
            confidence=1.0,
            probabilities=None,
        )
        for each in tagged
    ]
    return Case(
        claim,
        tuple(tagged),
        packets={
            "relevant": most_relevant(tagged, settings),
            "untagged": without_tags(tagged, settings),
        },
        analyses={
            "tagged": analyse(tagged, settings),
            "gold": analyse(gold, settings),
            "apart": _analyse_apart(tagged, settings),
        },
    )


@dataclass(frozen=True)
class Ruling:
    """A stance, and what it rests on.

    Attributes:
        support: How far the claim is held to be supported, in [0, 1].
        grounds: The passages that it rests on; None for all of the packet.
    """

    stance: Stance
    support: float
    grounds: tuple[TaggedPassage, ...] | None = None


class Writer(Protocol):
    """Who writes the texts; each may be wanted by several methods."""

    def narrative(self, packet: PacketName, ruling: Ruling | None = None) -> Outcome:
        """A text from passages, with nothing said of relations.

        The ruling is the method's; the writer takes a stance of its own where there is none.
        """
        ...

    def answer(self, analysis: AnalysisName, stance: Stance | None = None) -> Outcome:
        """A text from ConRAG's evidence table, each sentence bound to it.

        The stance is the method's; that of the analysis unless given.
        """
        ...


Method = Callable[[Case, Writer], Outcome]


def nli_rag(case: Case, writer: Writer) -> Outcome:
    """NLI-RAG: the most relevant passages, and a vote of tags after the fact.

    Each of the k passages with a side has one vote; equal votes give no stance. Passages without a
    side do not vote, since they are most of what is retrieved and would always win. The template
    rests its verdict on the packet's passages of that side; citations of a passage on the side
    that lost are dropped, and counted as dropped.
    """
    votes = [sum(each.relation is side for each in case.tagged) for side in SIDES]
    stance = delta_rule(*votes, delta=0)
    grounds = (each for each in case.packets["relevant"] if STANCE_OF[each.relation] is stance)
    text = writer.narrative("relevant", Ruling(stance, support_share(*votes), tuple(grounds)))
    lost = _against(stance, case.tagged)
    kept = tuple(_without(lost, each) for each in text.statements)
    return text.model_copy(update={"statements": kept})


def citerag(case: Case, writer: Writer) -> Outcome:
    """CiteRAG: citations in every sentence, bound to it by shared words; no abstention.

    The side of the packet with the larger sum of confidences is the stance, however narrow. Each
    sentence cites the passages that have most words in common with it, whatever they say.
    """
    packet = case.packets["relevant"]
    masses = [evidence_mass(packet, side) for side in SIDES]
    ruling = Ruling(delta_rule(*masses, delta=0), support_share(*masses))
    return _cited_by_words(case.claim, writer.narrative("relevant", ruling), packet)


def without_uncertainty(case: Case, writer: Writer) -> Outcome:
    """ConRAG without its uncertainty policy: it always takes the side with more evidence.

    And it keeps to that side: what speaks of the disagreement or of the other side, or cites that
    one alone, is left out.
    """
    adjudication = case.analyses["tagged"].adjudication
    stance = delta_rule(adjudication.support, adjudication.refute, delta=0)
    text = writer.answer("tagged", stance)
    lost = _against(stance, case.tagged, text.sorted)
    kept = (
        each
        for each in text.statements
        if each.about in {ABOUT.get(stance, "none"), "answer"}
        and not (each.cites and lost.issuperset(each.cites))
    )
    return text.model_copy(update={"statements": tuple(kept)})


def without_binding(case: Case, writer: Writer) -> Outcome:
    """ConRAG without citation binding: citations are added afterwards, by shared words."""
    packet = case.analyses["tagged"].packet.passages
    return _cited_by_words(case.claim, writer.answer("tagged"), packet)


METHODS: Mapping[str, Method] = {
    # The most relevant passages, and no word of a contradiction. The template's stance is what the
    # tagger says of the passages read as one text; which of them made it say so is not known, so
    # its verdict cites them all.
    "RelRAG": lambda _, writer: writer.narrative("relevant"),
    "NLI-RAG": nli_rag,
    "CiteRAG": citerag,
    # Clusters, conflict score, a packet with both sides, a stance, a bound answer.
    "ConRAG": lambda _, writer: writer.answer("tagged"),
    # The same with the gold relation of every passage in place of the tag.
    "Oracle": lambda _, writer: writer.answer("gold"),
}
"""Table IV, in its order."""

ABLATIONS: Mapping[str, Method] = {
    # Clusters by words and names, and no sides. The packet is then written from as in RelRAG.
    "w/o conflict tagging": lambda _, writer: writer.narrative("untagged"),
    # Every passage by itself, near-duplicates included.
    "w/o evidence clustering": lambda _, writer: writer.answer("apart"),
    "w/o uncertainty policy": without_uncertainty,
    "w/o citation binding": without_binding,
}
"""Table VII, in its order."""

ALL_METHODS: Mapping[str, Method] = {**METHODS, **ABLATIONS}


def support_share(support: float, refute: float) -> float:
    """How far a method holds a claim to be supported, from what it has for and against it.

    Each method weighs what its stance rests on: NLI-RAG votes, CiteRAG the confidences of its
    packet, ConRAG, Oracle and the other ablations U_sup and U_ref. RelRAG and ConRAG without tags
    have a single label, of the joined text, and take the tagger's probability of support in place
    of a share.

    The share is support / (support + refute), in [0, 1]; 0 without evidence, which supports
    nothing.
    """
    return support / (support + refute) if support > 0 else 0.0


def most_relevant(tagged: Sequence[TaggedPassage], settings: ConragSettings) -> list[TaggedPassage]:
    """The packet of the baselines: the k' most relevant passages, whatever they say."""
    return sorted(tagged, key=lambda each: (-each.relevance, each.id))[: settings.packet.size]


def without_tags(tagged: Sequence[TaggedPassage], settings: ConragSettings) -> list[TaggedPassage]:
    """The packet of ConRAG without tags: the most relevant, with clusters by words and names."""
    blind = [replace(each, relation=Relation.IRRELEVANT, confidence=0.0) for each in tagged]
    groups = clusters(blind, communities(similarity_graph(blind, settings.edges)))
    return list(select(blind, groups, 0.0, settings.packet).passages)


def _analyse_apart(tagged: Sequence[TaggedPassage], settings: ConragSettings) -> Analysis:
    """The analysis where every passage is a cluster and none is a near-duplicate."""
    packet = settings.packet.model_copy(update={"near_duplicate": 1.0})
    return analyse(
        tagged,
        settings.model_copy(update={"packet": packet}),
        grouping=lambda graph: [frozenset({node}) for node in graph],
    )


def _cited_by_words(claim: str, outcome: Outcome, packet: Sequence[TaggedPassage]) -> Outcome:
    """The outcome with every citation replaced by what shares most words with its sentence.

    A verdict has no words of its own, and stands for the claim.
    """
    words = {each.id: content_words(each.passage.text) for each in packet}
    verdicts = {*template.VERDICT.values(), template.DISAGREE}

    def nearest(statement: Statement) -> tuple[str, ...]:
        wanted = content_words(claim if statement.text in verdicts else statement.text)
        shared = {name: len(wanted & own) for name, own in words.items()}
        ranked = sorted((name for name in shared if shared[name]), key=lambda name: -shared[name])
        return tuple(ranked[:AT_MOST])

    statements = tuple(
        each
        if each.about == "none"
        else each.model_copy(update={"cites": nearest(each), "dropped": ()})
        for each in outcome.statements
    )
    return outcome.model_copy(update={"statements": statements, "unbound": 0})


def _without(lost: set[str], statement: Statement) -> Statement:
    """The statement with citations of such passages dropped."""
    cites = tuple(name for name in statement.cites if name not in lost)
    dropped = tuple(name for name in statement.cites if name in lost)
    return statement.model_copy(update={"cites": cites, "dropped": statement.dropped + dropped})


def _against(
    stance: Stance, tagged: Sequence[TaggedPassage], placed: Sequence[Sorted] = ()
) -> set[str]:
    """Ids of the passages on the other side; none where the stance takes no side.

    Passages that a language model sorted are on the side where it put them.
    """
    lost = {Stance.SUPPORT: Relation.CONTRADICTS, Stance.REFUTE: Relation.SUPPORTS}.get(stance)
    relations = {each.id: each.relation for each in tagged}
    relations |= {each.id: each.relation for each in placed}
    return {name for name, relation in relations.items() if relation is lost}
