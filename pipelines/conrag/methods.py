"""ConRAG, its four baselines and its four ablations, from a claim's tagged passages.

The paper gives each baseline a sentence (section 2, baselines and experimental comparisons). All
methods retrieve the same k passages and show at most k'. What a method does depends on the writer:
a template that quotes (`by_template`), or a language model (`by_model`). RelRAG and ConRAG without
tags never mention a contradiction; all their sentences speak for their one stance.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.conrag import evidence, generation, template
from pipelines.conrag.answer import ABOUT, Outcome, Sorted, Statement, evidence_table, source
from pipelines.conrag.evidence import AGAINST, SIDES, STANCE_OF, Cluster, Stance, TaggedPassage
from pipelines.conrag.generation import FirstAnswer, GeneratedAnswer, Generator, PlainPrompt
from pipelines.conrag.packet import select
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation
from pipelines.judge.protocol import Judge
from pipelines.metrics.alce import AT_MOST
from pipelines.text.words import content_words

if TYPE_CHECKING:
    import networkx as nx

METHODS = ("RelRAG", "NLI-RAG", "CiteRAG", "ConRAG", "Oracle")
"""Methods of Table IV, in its order."""

ABLATIONS = (
    "w/o conflict tagging",
    "w/o evidence clustering",
    "w/o uncertainty policy",
    "w/o citation binding",
)
"""Methods of Table VII, in its order."""

Grouping = Callable[["nx.Graph"], Sequence[frozenset[str]]]
"""Partitions the nodes of a graph."""


@dataclass(frozen=True)
class Analysis:
    """The evidence that the generation stage starts from.

    Clusters partition the passages; the table has those of the packet, sorted and numbered.
    """

    clusters: tuple[Cluster, ...]
    packet: Sequence[TaggedPassage]
    table: tuple[TaggedPassage, ...]
    adjudication: evidence.Adjudication


def analyse(
    tagged: Sequence[TaggedPassage],
    settings: ConragSettings,
    grouping: Grouping = evidence.communities,
) -> Analysis:
    """Cluster, score, select and adjudicate (ConRAG, section 2, pseudocode, steps 3 to 8).

    All passages have a label. `grouping` partitions the graph into clusters.
    """
    tagged = [
        replace(
            passage, quality=passage.quality * settings.weights.get(source(passage.passage), 1.0)
        )
        for passage in tagged
    ]
    graph = evidence.similarity_graph(tagged, settings.edges)
    groups = tuple(evidence.clusters(tagged, grouping(graph)))
    kappa = evidence.conflict_score(tagged)
    packet = select(tagged, groups, kappa, settings.packet)
    adjudication = evidence.adjudicate(tagged, kappa, delta=settings.delta, tau=settings.packet.tau)
    return Analysis(groups, packet, evidence_table(packet, groups), adjudication)


@dataclass(frozen=True)
class Case:
    """The input of every method, computed once.

    Attributes:
        tagged: The k passages with their labels, the most relevant first.
        truth: Passage id -> its gold relation; passages not listed count as irrelevant.
    """

    claim: str
    tagged: Sequence[TaggedPassage]
    truth: Mapping[str, Relation]
    settings: ConragSettings

    @cached_property
    def relevant(self) -> list[TaggedPassage]:
        """The packet of the baselines: the k' most relevant passages, whatever they say."""
        ordered = sorted(self.tagged, key=lambda passage: (-passage.relevance, passage.id))
        return ordered[: self.settings.packet.size]

    @cached_property
    def untagged(self) -> list[TaggedPassage]:
        """The packet of ConRAG without tags: by relevance, with clusters by words and names."""
        blind = [
            replace(passage, relation=Relation.IRRELEVANT, confidence=0.0)
            for passage in self.tagged
        ]
        graph = evidence.similarity_graph(blind, self.settings.edges)
        groups = evidence.clusters(blind, evidence.communities(graph))
        return select(blind, groups, 0.0, self.settings.packet)

    @cached_property
    def analysis(self) -> Analysis:
        """ConRAG's evidence."""
        return analyse(self.tagged, self.settings)

    @cached_property
    def gold(self) -> Analysis:
        """ConRAG's evidence with gold relations in place of tags, for Oracle."""
        known = [
            replace(
                passage, relation=self.truth.get(passage.id, Relation.IRRELEVANT), confidence=1.0
            )
            for passage in self.tagged
        ]
        return analyse(known, self.settings)

    @cached_property
    def apart(self) -> Analysis:
        """ConRAG's evidence with one cluster per passage, near-duplicates included."""
        repeats = self.settings.packet.model_copy(update={"near_duplicate": None})
        settings = self.settings.model_copy(update={"packet": repeats})
        return analyse(self.tagged, settings, lambda graph: [frozenset({node}) for node in graph])


class Ruling(NamedTuple):
    """A stance, and how strongly the claim is held to be supported, in [0, 1]."""

    stance: Stance
    support: float


UNDECIDED: Final = Ruling(Stance.NOT_ENOUGH_INFO, 0.0)


def support_share(support: float, refute: float) -> float:
    """How strongly a method holds a claim to be supported: support / (support + refute), in [0, 1].

    NLI-RAG weighs votes for support against all others, CiteRAG the confidences in its packet, and
    ConRAG, Oracle and the other ablations U_sup and U_ref.
    RelRAG and ConRAG without tags have one label, of the joined text, and use the tagger's
    probability of support instead. Without evidence the share is 0.
    """
    return support / (support + refute) if support > 0 else 0.0


def majority(tags: Sequence[Relation]) -> Stance:
    """The stance of the most common tag; not enough information in a tie."""
    votes = Counter(tags).most_common(2)
    tied = len(votes) == 2 and votes[0][1] == votes[1][1]
    return STANCE_OF[votes[0][0]] if votes and not tied else Stance.NOT_ENOUGH_INFO


def vote(case: Case) -> Ruling:
    """NLI-RAG's stance: each of the k passages has one vote.

    Irrelevant passages vote too: they "can dominate" (section 3).
    """
    tags = [passage.relation for passage in case.tagged]
    support = tags.count(Relation.SUPPORTS)
    return Ruling(majority(tags), support_share(support, len(tags) - support))


def by_template(case: Case, relevant: Ruling, untagged: Ruling) -> dict[str, Outcome]:
    """The outcome of each method on a claim if the template writes.

    `relevant` and `untagged` are the tagger's rulings on these packets, each read as one text.
    Which passages decided is unknown, so the verdicts of RelRAG and of ConRAG without tags cite
    them all. NLI-RAG cites the packet's passages of the side that wins. CiteRAG takes the side
    of its packet with the larger sum of confidences, however narrow, and cites by shared words.
    """
    masses = [evidence.evidence_mass(case.relevant, side) for side in SIDES]
    larger = Ruling(evidence.delta_rule(*masses, delta=0), support_share(*masses))
    voted = vote(case)
    winners = [passage for passage in case.relevant if STANCE_OF[passage.relation] is voted.stance]
    ours = _quoted(case.analysis)
    return {
        "RelRAG": _narrative(relevant, case.relevant),
        "NLI-RAG": _narrative(voted, case.relevant, winners),
        "CiteRAG": _cited_by_words(case.claim, _narrative(larger, case.relevant), case.relevant),
        "ConRAG": ours,
        "Oracle": _quoted(case.gold),
        "w/o conflict tagging": _narrative(untagged, case.untagged),
        "w/o evidence clustering": _quoted(case.apart),
        "w/o uncertainty policy": _one_sided(case, _quoted(case.analysis, _larger_side(case))),
        "w/o citation binding": _cited_by_words(case.claim, ours, case.analysis.packet),
    }


async def readings(case: Case, judge: Judge) -> tuple[Ruling, Ruling]:
    """The judge's rulings on the packets `relevant` and `untagged`, each read as one text.

    Errors are the judge's.
    """
    texts = [
        "\n\n".join(passage.passage.as_read() for passage in packet)
        for packet in (case.relevant, case.untagged)
    ]
    # Equal packets become one document, so that a language model is not asked twice.
    wanted = [text for text in dict.fromkeys(texts) if text]
    documents = [Document(id=f"packet {n}", text=text) for n, text in enumerate(wanted)]
    judged = (await judge([case.claim], documents)).judgements if documents else ()
    given = (said.probabilities or {said.relation: 1.0} for said in judged)
    known = {
        text: Ruling(STANCE_OF[said.relation], shares.get(Relation.SUPPORTS, 0.0))
        for text, said, shares in zip(wanted, judged, given, strict=True)
    }
    return known.get(texts[0], UNDECIDED), known.get(texts[1], UNDECIDED)


async def by_model(
    case: Case, generator: Generator, *, first: FirstAnswer, gold: FirstAnswer
) -> dict[str, Outcome]:
    """The outcome of each method on a claim if a language model writes; it writes six texts.

    RelRAG, CiteRAG and ConRAG without tags take the model's stance, the others one by a rule.
    CiteRAG has a prompt that asks for many citations. If the model sorts evidence before it writes,
    it does so for ConRAG with and without clusters: Oracle knows the relations, and the others do
    not use them.

    `first` is the answer that tags refer to, `gold` the one that gold relations refer to. If
    `first` was unreadable, tags are missing, and so are the answers made from them. Errors are
    those of `Generator.ask`.
    """

    async def plainly(packet: Sequence[TaggedPassage], prompt: PlainPrompt = "plain") -> Outcome:
        text = await generation.write_plainly(case.claim, packet, generator, prompt)
        ruling = UNDECIDED
        if text.stance is not None:
            ruling = Ruling(text.stance, float(text.stance is Stance.SUPPORT))
        outcome = _outcome(ruling, packet, text)
        return outcome.model_copy(update={"undecided": text.problem is not None})

    async def bound(analysis: Analysis) -> Outcome:
        known = analysis is case.gold
        text = await generation.write(
            case.claim,
            analysis.table,
            case.settings.policy,
            generator,
            gold if known else first,
            sort=case.settings.sort,
            gold=known,
        )
        return _outcome(_ruled(analysis), analysis.packet, text)

    relevant, untagged, ours, oracle, apart, cited = await asyncio.gather(
        plainly(case.relevant),
        plainly(case.untagged),
        bound(case.analysis),
        bound(case.gold),
        bound(case.apart),
        plainly(case.relevant, "cite"),
    )
    voted = relevant.model_copy(update=vote(case)._asdict() | {"undecided": False})
    forced = ours.model_copy(update={"stance": _larger_side(case)})
    return {
        "RelRAG": relevant,
        "NLI-RAG": _without_losers(case, voted),
        "CiteRAG": cited,
        "ConRAG": ours,
        "Oracle": oracle,
        "w/o conflict tagging": untagged,
        "w/o evidence clustering": apart,
        "w/o uncertainty policy": _one_sided(case, forced),
        "w/o citation binding": _cited_by_words(case.claim, ours, case.analysis.packet),
    }


def _outcome(ruling: Ruling, packet: Sequence[TaggedPassage], text: GeneratedAnswer) -> Outcome:
    return Outcome(
        stance=ruling.stance,
        packet=_ids(packet),
        statements=tuple(said for said in text.sentences if said.text),
        sorted=tuple(
            Sorted(id=row.id, relation=row.relation, reason=row.reason)
            for row in text.table
            if row.tag is not None
        ),
        support=ruling.support,
        cut=text.cut,
        problem=text.problem,
        raw=text.raw,
    )


def _ruled(analysis: Analysis) -> Ruling:
    decision = analysis.adjudication
    return Ruling(decision.stance, support_share(decision.support, decision.refute))


def _quoted(analysis: Analysis, stance: Stance | None = None) -> Outcome:
    """The template's answer from an evidence table, with the analysis's stance by default."""
    ruling = _ruled(analysis)
    ruling = ruling._replace(stance=stance or ruling.stance)
    text = GeneratedAnswer(template.write(ruling.stance, analysis.table))
    return _outcome(ruling, analysis.packet, text)


def _narrative(
    ruling: Ruling, packet: Sequence[TaggedPassage], grounds: Sequence[TaggedPassage] | None = None
) -> Outcome:
    """A verdict that cites its grounds (by default the packet) and quotes the most relevant."""
    about = ABOUT.get(ruling.stance)
    if about is None:
        return _outcome(ruling, packet, generation.nothing_found())
    grounds = packet if grounds is None else grounds
    said = [Statement(text=template.VERDICT[ruling.stance], about=about, cites=_ids(grounds))]
    said += [
        Statement(text=passage.passage.text, about=about, cites=(passage.id,))
        for passage in grounds[: template.QUOTED]
    ]
    return _outcome(ruling, packet, GeneratedAnswer(tuple(said)))


def _larger_side(case: Case) -> Stance:
    """The side with more evidence, however small the difference."""
    adjudication = case.analysis.adjudication
    return evidence.delta_rule(adjudication.support, adjudication.refute, delta=0)


def _losers(case: Case, outcome: Outcome) -> set[str]:
    """Ids of the passages on the other side; empty if the stance takes no side.

    Passages that a language model sorted are on the side where it put them.
    """
    lost = AGAINST.get(outcome.stance)
    relations = {passage.id: passage.relation for passage in case.tagged}
    relations |= {passage.id: passage.relation for passage in outcome.sorted}
    return {name for name, relation in relations.items() if relation is lost}


def _saying(outcome: Outcome, statements: Iterable[Statement]) -> Outcome:
    return outcome.model_copy(update={"statements": tuple(statements)})


def _without_losers(case: Case, outcome: Outcome) -> Outcome:
    """NLI-RAG's text: citations of the losing side are dropped, and counted as dropped."""
    lost = _losers(case, outcome)

    def kept(said: Statement) -> Statement:
        cites = tuple(name for name in said.cites if name not in lost)
        dropped = (*said.dropped, *(name for name in said.cites if name in lost))
        return said.model_copy(update={"cites": cites, "dropped": dropped})

    return _saying(outcome, map(kept, outcome.statements))


def _one_sided(case: Case, outcome: Outcome) -> Outcome:
    """ConRAG without its uncertainty policy keeps to the side that it takes.

    Sentences about the disagreement or the other side, or that cite only the latter, are left out.
    """
    lost = _losers(case, outcome)
    about = {ABOUT.get(outcome.stance, "none"), "answer"}
    return _saying(
        outcome,
        (
            said
            for said in outcome.statements
            if said.about in about and not (said.cites and lost.issuperset(said.cites))
        ),
    )


def _cited_by_words(claim: str, outcome: Outcome, packet: Sequence[TaggedPassage]) -> Outcome:
    """The outcome with citations replaced by the passages that share most words with a sentence.

    A verdict is matched by the claim's words, since its wording does not tell passages apart.
    """
    words = {passage.id: content_words(passage.passage.text) for passage in packet}
    verdicts = {*template.VERDICT.values(), template.DISAGREE}

    def nearest(said: Statement) -> Statement:
        if said.about == "none":
            return said
        wanted = content_words(claim if said.text in verdicts else said.text)
        shared = {name: len(wanted & there) for name, there in words.items()}
        ranked = sorted((name for name in shared if shared[name]), key=lambda name: -shared[name])
        cites = tuple(ranked[:AT_MOST])
        return said.model_copy(update={"cites": cites, "dropped": (), "problems": ()})

    return _saying(outcome, map(nearest, outcome.statements))


def _ids(passages: Sequence[TaggedPassage]) -> tuple[str, ...]:
    return tuple(passage.id for passage in passages)
