"""ConRAG, its four baselines and its four ablations, each from a claim's tagged passages alone.

The paper describes the baselines in a sentence each (section 2, baselines and experimental
comparisons). All of them retrieve the same k passages and show at most the same k'. What a method
does depends on who writes: a template that quotes (`by_template`), or a language model
(`by_model`). RelRAG and ConRAG without tags say nothing of a contradiction, and their sentences all
speak for their one stance.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from pipelines.conrag.packet import select
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judge import Judge
from pipelines.judge.judgement import Judgement, Relation
from pipelines.metrics.alce import AT_MOST
from pipelines.text.words import content_words

if TYPE_CHECKING:
    import networkx as nx

METHODS = ("RelRAG", "NLI-RAG", "CiteRAG", "ConRAG", "Oracle")
"""Table IV, in its order."""

ABLATIONS = (
    "w/o conflict tagging",
    "w/o evidence clustering",
    "w/o uncertainty policy",
    "w/o citation binding",
)
"""Table VII, in its order."""

ALL_METHODS = (*METHODS, *ABLATIONS)

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
    packet: Sequence[TaggedPassage]
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
        replace(one, quality=one.quality * settings.weights.get(source(one.passage), 1.0))
        for one in tagged
    ]
    graph = similarity_graph(tagged, settings.edges)
    groups = tuple(clusters(tagged, grouping(graph)))
    kappa = conflict_score(tagged)
    packet = select(tagged, groups, kappa, settings.packet)
    adjudication = adjudicate(tagged, kappa, delta=settings.delta, tau=settings.packet.tau)
    return Analysis(graph, groups, packet, evidence_table(packet, groups), adjudication)


@dataclass(frozen=True)
class Case:
    """What every method starts from.

    Attributes:
        tagged: The k passages, the most relevant first, each with a label.
        relevant: The packet of the baselines: the k' most relevant.
        untagged: The packet that ConRAG chooses without tags.
        analysis: ConRAG's evidence.
        gold: The same with gold relations in place of tags, for Oracle.
        apart: The same with every passage by itself, near-duplicates included.
    """

    claim: str
    tagged: tuple[TaggedPassage, ...]
    relevant: Sequence[TaggedPassage]
    untagged: Sequence[TaggedPassage]
    analysis: Analysis
    gold: Analysis
    apart: Analysis


def case_of(
    claim: str,
    tagged: Sequence[TaggedPassage],
    truth: Mapping[str, Relation],
    settings: ConragSettings,
) -> Case:
    """What every method starts from, worked out once.

    `truth` is what passages say of the claim by their ids; those that it lacks count as irrelevant.
    """
    gold = [
        replace(
            passage,
            relation=truth.get(passage.id, Relation.IRRELEVANT),
            confidence=1.0,
            probabilities=None,
        )
        for passage in tagged
    ]
    repeats = settings.packet.model_copy(update={"near_duplicate": None})
    return Case(
        claim,
        tuple(tagged),
        relevant=most_relevant(tagged, settings),
        untagged=without_tags(tagged, settings),
        analysis=analyse(tagged, settings),
        gold=analyse(gold, settings),
        apart=analyse(
            tagged,
            settings.model_copy(update={"packet": repeats}),
            grouping=lambda graph: [frozenset({node}) for node in graph],
        ),
    )


def most_relevant(tagged: Sequence[TaggedPassage], settings: ConragSettings) -> list[TaggedPassage]:
    """The packet of the baselines: the k' most relevant passages, whatever they say."""
    return sorted(tagged, key=lambda one: (-one.relevance, one.id))[: settings.packet.size]


def without_tags(tagged: Sequence[TaggedPassage], settings: ConragSettings) -> list[TaggedPassage]:
    """The packet of ConRAG without tags: the most relevant, with clusters by words and names."""
    blind = [replace(one, relation=Relation.IRRELEVANT, confidence=0.0) for one in tagged]
    groups = clusters(blind, communities(similarity_graph(blind, settings.edges)))
    return select(blind, groups, 0.0, settings.packet)


@dataclass(frozen=True)
class Ruling:
    """A stance, and what it rests on.

    Attributes:
        support: How far the claim is held to be supported, in [0, 1].
        grounds: The passages that it rests on; None for all of the packet.
    """

    stance: Stance
    support: float
    grounds: Sequence[TaggedPassage] | None = None


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


def majority(tags: Sequence[Relation]) -> Stance:
    """The stance of the tag that most passages have; without a single such tag, none."""
    votes = Counter(tags).most_common(2)
    tied = len(votes) == 2 and votes[0][1] == votes[1][1]
    return STANCE_OF[votes[0][0]] if votes and not tied else Stance.NOT_ENOUGH_INFO


def vote(case: Case) -> Ruling:
    """NLI-RAG's stance: each of the k passages has one vote.

    Irrelevant ones vote, too: they "can dominate" (section 3). It rests on the packet's passages of
    the side that wins.
    """
    tags = [passage.relation for passage in case.tagged]
    stance = majority(tags)
    support = tags.count(Relation.SUPPORTS)
    grounds = [one for one in case.relevant if STANCE_OF[one.relation] is stance]
    return Ruling(stance, support_share(support, len(tags) - support), grounds)


def by_template(case: Case, relevant: Ruling, untagged: Ruling) -> dict[str, Outcome]:
    """What each method makes of a claim where the template writes.

    `relevant` and `untagged` are what the tagger says of these packets, each read as one text. No
    one knows which passages made it say so, so the verdicts of RelRAG and of ConRAG without tags
    cite them all. CiteRAG takes the side of its packet with the larger sum of confidences, however
    narrow, and cites by shared words.
    """
    masses = [evidence_mass(case.relevant, side) for side in SIDES]
    larger = Ruling(delta_rule(*masses, delta=0), support_share(*masses))
    packet = case.analysis.packet
    ours = _quoted(case.analysis)
    return {
        "RelRAG": _narrative(case.relevant, relevant),
        "NLI-RAG": _narrative(case.relevant, vote(case)),
        "CiteRAG": _cited_by_words(case.claim, _narrative(case.relevant, larger), case.relevant),
        "ConRAG": ours,
        "Oracle": _quoted(case.gold),
        "w/o conflict tagging": _narrative(case.untagged, untagged),
        "w/o evidence clustering": _quoted(case.apart),
        "w/o uncertainty policy": _one_sided(case, _quoted(case.analysis, _side_of(case))),
        "w/o citation binding": _cited_by_words(case.claim, ours, packet),
    }


async def readings(case: Case, judge: Judge) -> tuple[Ruling, Ruling]:
    """What the judge says of the packets `relevant` and `untagged`, each read as one text.

    Errors are those of the judge.
    """
    texts = [
        "\n\n".join(passage.passage.as_read() for passage in packet)
        for packet in (case.relevant, case.untagged)
    ]
    # Equal packets are one document, so that a language model is not asked twice.
    wanted = [text for text in dict.fromkeys(texts) if text]
    known = {"": Ruling(Stance.NOT_ENOUGH_INFO, 0.0)}
    if wanted:
        documents = [Document(id=f"packet {n}", text=text) for n, text in enumerate(wanted)]
        labelled = await judge([case.claim], documents)
        known |= dict(zip(wanted, map(_reading, labelled.judgements), strict=True))
    return known[texts[0]], known[texts[1]]


def _reading(judgement: Judgement) -> Ruling:
    given = judgement.probabilities or {judgement.relation: 1.0}
    return Ruling(STANCE_OF[judgement.relation], given.get(Relation.SUPPORTS, 0.0))


async def by_model(
    case: Case,
    settings: ConragSettings,
    generator: Generator,
    *,
    first: FirstAnswer | None = None,
    gold: FirstAnswer | None = None,
) -> dict[str, Outcome]:
    """What each method makes of a claim where a language model writes; it writes six texts.

    The stance is the model's own of RelRAG, CiteRAG and ConRAG without tags, and by a rule of the
    others. CiteRAG asks for many citations by a prompt of its own. Where the model sorts evidence
    before it writes, it does so for ConRAG and for ConRAG without clusters: Oracle knows what
    passages say, the others do not ask.

    Of a question, `first` is the answer that tags are relations to, `gold` the one that gold
    relations are to. Where the first could not be read there are no tags, and what is made of them
    is unreadable, too. Errors are those of `Generator.ask`.
    """

    async def plainly(packet: Sequence[TaggedPassage], prompt: PlainPrompt = "plain") -> Outcome:
        question = first is not None
        text = await write_plainly(case.claim, packet, generator, prompt, question=question)
        outcome = Outcome(
            stance=text.stance or Stance.NOT_ENOUGH_INFO,
            packet=_ids(packet),
            support=float(text.stance is Stance.SUPPORT),
            undecided=text.problem is not None,
        )
        return _with_text(outcome, text, dict(enumerate(outcome.packet, 1)))

    async def bound(analysis: Analysis) -> Outcome:
        known = analysis is case.gold
        text = await write(
            case.claim,
            analysis.table,
            settings.policy,
            generator,
            gold if known else first,
            sort=settings.sort,
            gold=known,
        )
        return _bound(analysis, text)

    relevant, untagged, ours, oracle, apart, cited = await asyncio.gather(
        plainly(case.relevant),
        plainly(case.untagged),
        bound(case.analysis),
        bound(case.gold),
        bound(case.apart),
        plainly(case.relevant, "cite"),
    )
    voted = vote(case)
    ruled = {"stance": voted.stance, "support": voted.support, "undecided": False}
    forced = ours.model_copy(update={"stance": _side_of(case)})
    return {
        "RelRAG": relevant,
        "NLI-RAG": _without_losers(case, relevant.model_copy(update=ruled)),
        "CiteRAG": cited,
        "ConRAG": ours,
        "Oracle": oracle,
        "w/o conflict tagging": untagged,
        "w/o evidence clustering": apart,
        "w/o uncertainty policy": _one_sided(case, forced),
        "w/o citation binding": _cited_by_words(case.claim, ours, case.analysis.packet),
    }


def _without_losers(case: Case, outcome: Outcome) -> Outcome:
    """NLI-RAG's text: citations of the side that lost are dropped, and counted as dropped."""
    lost = _against(outcome.stance, case.tagged)
    statements = (
        said.model_copy(
            update={
                "cites": tuple(name for name in said.cites if name not in lost),
                "dropped": (*said.dropped, *(name for name in said.cites if name in lost)),
            }
        )
        for said in outcome.statements
    )
    return outcome.model_copy(update={"statements": tuple(statements)})


def _side_of(case: Case) -> Stance:
    """The side with more evidence, however little more."""
    adjudication = case.analysis.adjudication
    return delta_rule(adjudication.support, adjudication.refute, delta=0)


def _one_sided(case: Case, outcome: Outcome) -> Outcome:
    """ConRAG without its uncertainty policy keeps to the side that it takes.

    What speaks of the disagreement or of the other side, or cites that one alone, is left out.
    """
    lost = _against(outcome.stance, case.tagged, outcome.sorted)
    statements = (
        said
        for said in outcome.statements
        if said.about in {ABOUT.get(outcome.stance, "none"), "answer"}
        and not (said.cites and lost.issuperset(said.cites))
    )
    return outcome.model_copy(update={"statements": tuple(statements)})


def _cited_by_words(claim: str, outcome: Outcome, packet: Sequence[TaggedPassage]) -> Outcome:
    """The outcome with every citation replaced by what shares most words with its sentence.

    A verdict has no words of its own, and stands for the claim.
    """
    words = {passage.id: content_words(passage.passage.text) for passage in packet}
    verdicts = {*template.VERDICT.values(), template.DISAGREE}

    def nearest(said: Statement) -> tuple[str, ...]:
        wanted = content_words(claim if said.text in verdicts else said.text)
        shared = {name: len(wanted & there) for name, there in words.items()}
        ranked = sorted((name for name in shared if shared[name]), key=lambda name: -shared[name])
        return tuple(ranked[:AT_MOST])

    statements = (
        said
        if said.about == "none"
        else said.model_copy(update={"cites": nearest(said), "dropped": ()})
        for said in outcome.statements
    )
    return outcome.model_copy(update={"statements": tuple(statements), "unbound": 0})


def _against(
    stance: Stance, tagged: Sequence[TaggedPassage], placed: Sequence[Sorted] = ()
) -> set[str]:
    """Ids of the passages on the other side; empty where the stance takes no side.

    Passages that a language model sorted are on the side where it put them.
    """
    lost = {Stance.SUPPORT: Relation.CONTRADICTS, Stance.REFUTE: Relation.SUPPORTS}.get(stance)
    relations = {passage.id: passage.relation for passage in tagged}
    relations |= {passage.id: passage.relation for passage in placed}
    return {name for name, relation in relations.items() if relation is lost}


def _narrative(packet: Sequence[TaggedPassage], ruling: Ruling) -> Outcome:
    """A verdict, and the most relevant of its grounds quoted; without a stance, neither."""
    outcome = Outcome(stance=ruling.stance, packet=_ids(packet), support=ruling.support)
    if ruling.stance not in ABOUT:
        return _with_text(outcome, nothing_found(question=False), {})
    about = ABOUT[ruling.stance]
    grounds = packet if ruling.grounds is None else ruling.grounds
    said = [Statement(text=template.VERDICT[ruling.stance], about=about, cites=_ids(grounds))]
    said += [
        Statement(text=passage.passage.text, about=about, cites=(passage.id,))
        for passage in grounds[: template.QUOTED]
    ]
    return outcome.model_copy(update={"statements": tuple(said)})


def _quoted(analysis: Analysis, stance: Stance | None = None) -> Outcome:
    """The template's answer from an evidence table, by the analysis's stance unless given."""
    stance = stance or analysis.adjudication.stance
    text = GeneratedAnswer(template.write(stance, analysis.table))
    return _bound(analysis, text).model_copy(update={"stance": stance})


def _bound(analysis: Analysis, text: GeneratedAnswer) -> Outcome:
    """A text by ConRAG's protocol, with the stance of the analysis."""
    decision = analysis.adjudication
    outcome = Outcome(
        stance=decision.stance,
        packet=_ids(analysis.packet),
        support=support_share(decision.support, decision.refute),
        sorted=tuple(
            Sorted(id=row.passage.id, relation=row.relation, reason=row.reason)
            for row in text.table
            if row.tag is not None
        ),
    )
    table = text.table or analysis.table
    return _with_text(outcome, text, {row.number: row.passage.id for row in table})


def _with_text(outcome: Outcome, text: GeneratedAnswer, ids: Mapping[int, str]) -> Outcome:
    """The outcome with what was written; a sentence whose citations are wrong cites nothing.

    `ids` are those of passages by the numbers that they are cited by. A citation of what is not
    there names no passage that could be kept as dropped; ALCE's code counts it nowhere, either.
    """

    def stated(sentence: AnswerSentence) -> Statement:
        named = tuple(ids[number] for number in sentence.cites if number in ids)
        cites, dropped = ((), named) if sentence.problems else (named, ())
        return Statement(text=sentence.text, about=sentence.about, cites=cites, dropped=dropped)

    statements = (stated(sentence) for sentence in text.sentences if sentence.text)
    return outcome.model_copy(
        update={
            "statements": tuple(statements),
            "unbound": sum(bool(sentence.problems) for sentence in text.sentences),
            "cut": text.cut,
            "problem": text.problem,
            "raw": text.raw,
        }
    )


def _ids(passages: Sequence[TaggedPassage]) -> tuple[str, ...]:
    return tuple(passage.id for passage in passages)
