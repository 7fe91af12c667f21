"""ConRAG, its four baselines and its four ablations, each from a claim's tagged passages alone.

The paper describes the baselines in a sentence each (section 2, baselines and experimental
comparisons). What they are here stands beside each: the passages that it shows, the rule for its
stance, and how it cites. All of them retrieve the same k passages and show at most the same k'. Who
writes is a parameter: a template that quotes, or a language model; see `pipelines.conrag.methods`.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from pipelines.conrag import template
from pipelines.conrag.answer import (
    ABOUT,
    AnswerSentence,
    Evidence,
    Outcome,
    Sorted,
    Statement,
    evidence_table,
    source,
)
from pipelines.conrag.evidence import (
    SIDES,
    STANCE_OF,
    Adjudication,
    Cluster,
    Stance,
    TaggedPassage,
    adjudicate,
    clusters,
    communities,
    conflict_score,
    delta_rule,
    evidence_mass,
    similarity_graph,
)
from pipelines.conrag.generation import (
    FirstAnswer,
    GeneratedAnswer,
    Generator,
    PlainPrompt,
    nothing_found,
    write,
    write_plainly,
)
from pipelines.conrag.packet import Packet, select
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judge import Judge
from pipelines.judge.judgement import Judgement, Relation
from pipelines.metrics.alce import AT_MOST
from pipelines.text.words import content_words

if TYPE_CHECKING:
    import networkx as nx


Grouping = Callable[["nx.Graph"], Sequence[frozenset[str]]]
"""The nodes of a graph, each in one group."""


@dataclass(frozen=True)
class Analysis:
    """What the generation stage starts from.

    Clusters are a partition of the graph's passages; the table has the packet's, sorted and
    numbered.
    """

    graph: "nx.Graph"
    clusters: tuple[Cluster, ...]
    packet: Packet
    table: tuple[Evidence, ...]
    adjudication: Adjudication


def analyse(
    tagged: Sequence[TaggedPassage],
    settings: ConragSettings,
    grouping: Grouping = communities,
) -> Analysis:
    """Cluster, score, select and adjudicate (ConRAG, section 2, pseudocode, steps 3 to 8).

    All passages have a label. `grouping` makes clusters of the graph.
    """
    tagged = [
        replace(each, quality=each.quality * settings.weights.get(source(each.passage), 1.0))
        for each in tagged
    ]
    graph = similarity_graph(tagged, settings.edges)
    groups = tuple(clusters(tagged, grouping(graph)))
    kappa = conflict_score(tagged)
    packet = select(tagged, groups, kappa, settings.packet)
    adjudication = adjudicate(tagged, kappa, delta=settings.delta, tau=settings.packet.tau)
    return Analysis(graph, groups, packet, evidence_table(packet, groups), adjudication)


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

    def dense(self, ruling: Ruling) -> Outcome:
        """A text from the most relevant passages with many citations (CiteRAG).

        The ruling is for a writer that takes no stance of its own.
        """
        ...


Method = Callable[[Case, Writer], Outcome]


def nli_rag(case: Case, writer: Writer) -> Outcome:
    """NLI-RAG: the most relevant passages, and a vote of tags after the fact.

    Each of the k passages has one vote, irrelevant ones too: they "can dominate" (section 3). The
    template rests its verdict on the packet's passages of the side that wins; citations of a
    passage on the side that lost are dropped, and counted as dropped.
    """
    tags = [passage.relation for passage in case.tagged]
    stance = majority(tags)
    support = tags.count(Relation.SUPPORTS)
    grounds = (each for each in case.packets["relevant"] if STANCE_OF[each.relation] is stance)
    share = support_share(support, len(tags) - support)
    text = writer.narrative("relevant", Ruling(stance, share, tuple(grounds)))
    lost = _against(stance, case.tagged)
    kept = tuple(_without(lost, each) for each in text.statements)
    return text.model_copy(update={"statements": kept})


def majority(tags: Sequence[Relation]) -> Stance:
    """The stance of the tag that most passages have; without a single such tag, none."""
    votes = Counter(tags).most_common(2)
    tied = len(votes) == 2 and votes[0][1] == votes[1][1]
    return STANCE_OF[votes[0][0]] if votes and not tied else Stance.NOT_ENOUGH_INFO


def citerag(case: Case, writer: Writer) -> Outcome:
    """CiteRAG: many citations in every sentence, whatever the passages say; no abstention.

    A language model is asked for them by a prompt of their own, and takes the stance. With the
    template the side of the packet with the larger sum of confidences is the stance, however
    narrow, and each sentence cites the passages that have most words in common with it.
    """
    packet = case.packets["relevant"]
    masses = [evidence_mass(packet, side) for side in SIDES]
    return writer.dense(Ruling(delta_rule(*masses, delta=0), support_share(*masses)))


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

    Each method weighs what its stance rests on: NLI-RAG the votes for support and all others,
    CiteRAG the confidences of its packet, ConRAG, Oracle and the other ablations U_sup and U_ref.
    RelRAG and ConRAG without tags have a single label, of the joined text, and take the tagger's
    probability of support in place of a share.

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
    """The analysis where every passage is a cluster, and repeats are kept."""
    packet = settings.packet.model_copy(update={"near_duplicate": None})
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


@dataclass(frozen=True)
class TemplateWriter:
    """The template; readings are what the tagger says of each packet, read as one text."""

    case: Case
    readings: Mapping[PacketName, Ruling]

    def narrative(self, packet: PacketName, ruling: Ruling | None = None) -> Outcome:
        """A verdict, and the most relevant of its grounds quoted; without a stance, neither."""
        passages = self.case.packets[packet]
        ruling = ruling or self.readings[packet]
        own = Outcome(stance=ruling.stance, packet=_ids(passages), support=ruling.support)
        if ruling.stance not in ABOUT:
            return _with_text(own, nothing_found(question=False), {})
        about, text = ABOUT[ruling.stance], template.VERDICT[ruling.stance]
        grounds = passages if ruling.grounds is None else ruling.grounds
        verdict = Statement(text=text, about=about, cites=_ids(grounds))
        quoted = (
            Statement(text=each.passage.text, about=about, cites=(each.id,))
            for each in grounds[: template.QUOTED]
        )
        return own.model_copy(update={"statements": (verdict, *quoted)})

    def answer(self, analysis: AnalysisName, stance: Stance | None = None) -> Outcome:
        """The template's answer, with passage ids in place of numbers."""
        found = self.case.analyses[analysis]
        stance = stance or found.adjudication.stance
        text = GeneratedAnswer(template.write(stance, found.table))
        return _bound(found, text).model_copy(update={"stance": stance})

    def dense(self, ruling: Ruling) -> Outcome:
        """The narrative, each sentence cited by shared words."""
        text = self.narrative("relevant", ruling)
        return _cited_by_words(self.case.claim, text, self.case.packets["relevant"])


async def template_writer(case: Case, judge: Judge) -> TemplateWriter:
    """A template that knows what the judge says of each packet, read as one text.

    Errors are those of the judge.
    """
    texts = {
        name: "\n\n".join(each.passage.as_read() for each in packet)
        for name, packet in case.packets.items()
    }
    # Equal packets are one document, so that a language model is not asked twice.
    wanted = [text for text in dict.fromkeys(texts.values()) if text]
    readings = {"": Ruling(Stance.NOT_ENOUGH_INFO, 0.0)}
    if wanted:
        documents = [Document(id=f"packet {n}", text=text) for n, text in enumerate(wanted)]
        labelled = await judge([case.claim], documents)
        readings |= dict(zip(wanted, map(_reading, labelled.judgements), strict=True))
    return TemplateWriter(case, {name: readings[text] for name, text in texts.items()})


def _reading(judgement: Judgement) -> Ruling:
    given = judgement.probabilities or {judgement.relation: 1.0}
    return Ruling(STANCE_OF[judgement.relation], given.get(Relation.SUPPORTS, 0.0))


@dataclass(frozen=True)
class ModelWriter:
    """A language model that has written; what its texts say does not depend on a method's stance.

    Narratives are its texts from passages, answers those from evidence tables; `cited` is
    CiteRAG's.
    """

    narratives: Mapping[PacketName, Outcome]
    answers: Mapping[AnalysisName, Outcome]
    cited: Outcome

    def narrative(self, packet: PacketName, ruling: Ruling | None = None) -> Outcome:
        """The text from a packet, with its own stance unless a method has one."""
        text = self.narratives[packet]
        if ruling is None:
            return text
        return text.model_copy(
            update={"stance": ruling.stance, "support": ruling.support, "undecided": False}
        )

    def answer(self, analysis: AnalysisName, stance: Stance | None = None) -> Outcome:
        """The text from an evidence table, with ConRAG's stance unless a method has one."""
        text = self.answers[analysis]
        return text.model_copy(update={"stance": stance}) if stance else text

    def dense(self, ruling: Ruling) -> Outcome:
        """The text, with the model's own stance."""
        return self.cited


async def model_writer(
    case: Case,
    settings: ConragSettings,
    generator: Generator,
    *,
    first: FirstAnswer | None = None,
    gold: FirstAnswer | None = None,
) -> ModelWriter:
    """Have a language model write the six texts.

    Where it sorts evidence before, it does so for ConRAG and for ConRAG without clusters: Oracle
    knows what passages say, the others do not ask.

    Of a question, `first` is the answer that tags are relations to, `gold` the one that gold
    relations are to. Where the first could not be read there are no tags, and what is made of them
    is unreadable, too. Errors are those of `Generator.ask`.
    """

    async def narrative(packet: Sequence[TaggedPassage], prompt: PlainPrompt = "plain") -> Outcome:
        question = first is not None
        text = await write_plainly(case.claim, packet, generator, prompt, question=question)
        own = Outcome(
            stance=text.stance or Stance.NOT_ENOUGH_INFO,
            packet=_ids(packet),
            support=float(text.stance is Stance.SUPPORT),
            undecided=text.problem is not None,
        )
        return _with_text(own, text, dict(enumerate(own.packet, 1)))

    async def answer(name: AnalysisName, found: Analysis) -> Outcome:
        known = name == "gold"
        text = await write(
            case.claim,
            found.table,
            settings.policy,
            generator,
            gold if known else first,
            sort=settings.sort,
            gold=known,
        )
        return _bound(found, text)

    narratives, answers, cited = await asyncio.gather(
        asyncio.gather(*map(narrative, case.packets.values())),
        asyncio.gather(*(answer(name, found) for name, found in case.analyses.items())),
        narrative(case.packets["relevant"], "cite"),
    )
    return ModelWriter(
        dict(zip(case.packets, narratives, strict=True)),
        dict(zip(case.analyses, answers, strict=True)),
        cited,
    )


def _bound(found: Analysis, text: GeneratedAnswer) -> Outcome:
    """A text by ConRAG's protocol, with the stance of the analysis."""
    decision = found.adjudication
    own = Outcome(
        stance=decision.stance,
        packet=_ids(found.packet.passages),
        support=support_share(decision.support, decision.refute),
        sorted=tuple(
            Sorted(id=row.passage.id, relation=row.relation, reason=row.reason)
            for row in text.table
            if row.tag is not None
        ),
    )
    table = text.table or found.table
    return _with_text(own, text, {row.number: row.passage.id for row in table})


def _with_text(outcome: Outcome, text: GeneratedAnswer, ids: Mapping[int, str]) -> Outcome:
    """The outcome with what was written; a sentence whose citations are wrong cites nothing.

    `ids` are those of passages by the numbers that they are cited by. A citation of what is not
    there names no passage that could be kept as dropped; ALCE's code counts it nowhere, either.
    """

    def stated(each: AnswerSentence) -> Statement:
        named = tuple(ids[number] for number in each.cites if number in ids)
        cites, dropped = ((), named) if each.problems else (named, ())
        return Statement(text=each.text, about=each.about, cites=cites, dropped=dropped)

    statements = (stated(each) for each in text.sentences if each.text)
    return outcome.model_copy(
        update={
            "statements": tuple(statements),
            "unbound": sum(bool(each.problems) for each in text.sentences),
            "cut": text.cut,
            "problem": text.problem,
            "raw": text.raw,
        }
    )


def _ids(passages: Iterable[TaggedPassage]) -> tuple[str, ...]:
    return tuple(each.id for each in passages)
