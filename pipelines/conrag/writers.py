"""Who writes the texts of the methods: the template, or a language model.

Five texts are written for all nine methods: from the most relevant passages and from the packet
without tags, with nothing said of relations; and from the evidence table of ConRAG, of Oracle, and
of ConRAG without clusters. The other methods are a rule or a way to cite that comes after the text.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.conrag import template
from pipelines.conrag.analysis import Analysis
from pipelines.conrag.generator import Generator, generator, write
from pipelines.conrag.methods import (
    ABOUT,
    STANCE_OF,
    AnalysisName,
    Case,
    PacketName,
    Ruling,
    support_share,
)
from pipelines.conrag.outcome import Outcome, Statement
from pipelines.conrag.plain import PlainAnswer, PlainWriter, plain_answer, plain_writer
from pipelines.conrag.policies import SIDE, CitationPolicy
from pipelines.conrag.question import FirstAnswer
from pipelines.conrag.stance import Stance
from pipelines.conrag.tagged import TaggedPassage
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.labeller import Labeller
from pipelines.prompts import Prompt
from serving.client import Client

NOTHING = Ruling(Stance.NOT_ENOUGH_INFO, 0.0)
"""What no text says."""


@dataclass(frozen=True)
class TemplateWriter:
    """The template.

    Attributes:
        case: What there is to write from.
        readings: What the tagger says of each packet, read as one text.
    """

    case: Case
    readings: Mapping[PacketName, Ruling]

    def narrative(self, packet: PacketName, ruling: Ruling | None = None) -> Outcome:
        """A verdict, and the most relevant of its grounds quoted; without a stance, neither."""
        passages = self.case.packets[packet]
        ruling = ruling or self.readings[packet]
        grounds = passages if ruling.grounds is None else ruling.grounds
        statements = _nothing(question=False)
        if ruling.stance in template.VERDICT:
            about, text = template.VERDICT[ruling.stance]
            verdict = Statement(text=text, about=about, cites=tuple(each.id for each in grounds))
            quoted = (
                Statement(text=each.passage.text, about=about, cites=(each.id,))
                for each in grounds[: template.QUOTED]
            )
            statements = (verdict, *quoted)
        return Outcome(
            stance=ruling.stance,
            packet=tuple(each.id for each in passages),
            statements=statements,
            support=ruling.support,
        )

    def answer(self, analysis: AnalysisName, stance: Stance | None = None) -> Outcome:
        """The template's answer, with passage ids in place of numbers."""
        found = self.case.analyses[analysis]
        decided = replace(found.decided, stance=stance) if stance else found.decided
        ids = {row.number: row.passage.id for row in found.table}
        statements = (
            Statement(
                text=each.text, about=each.about, cites=tuple(ids[number] for number in each.cites)
            )
            for each in template.write(decided, found.table)
        )
        return _of(found).model_copy(
            update={"stance": decided.stance, "statements": tuple(statements)}
        )


async def template_writer(case: Case, labeller: Labeller) -> TemplateWriter:
    """A template that knows what the labeller says of each packet, read as one text.

    Raises:
        PairError, RequestError, ServingError: As of the labeller.
    """
    texts = {
        name: "\n\n".join(each.passage.as_read() for each in packet)
        for name, packet in case.packets.items()
    }
    # Equal packets are one document, so that a language model is not asked twice.
    wanted = {
        text: Document(id=f"packet {n}", text=text) for n, text in enumerate(texts.values()) if text
    }
    readings = {"": NOTHING}
    if wanted:
        labelled = await labeller([case.claim], list(wanted.values()))
        readings |= dict(zip(wanted, map(_reading, labelled.judgements), strict=True))
    return TemplateWriter(case, {name: readings[text] for name, text in texts.items()})


def _reading(judgement: Judgement) -> Ruling:
    given = judgement.probabilities or {judgement.relation: 1.0}
    return Ruling(STANCE_OF[judgement.relation], given.get(Relation.SUPPORTS, 0.0))


@dataclass(frozen=True)
class Generators:
    """The same language model, bound to evidence and not.

    Attributes:
        bound: With ConRAG's protocol.
        plain: Without.
    """

    bound: Generator
    plain: PlainWriter

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        own = self.bound
        return (
            own.answer, own.question, own.first_answer, own.repair,
            self.plain.claim, self.plain.question,
        )  # fmt: skip


def generators(client: Client, overrides: Path | None = None) -> Generators:
    """A language model with its prompts.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    return Generators(generator(client, overrides), plain_writer(client, overrides))


@dataclass(frozen=True)
class ModelWriter:
    """A language model that has written; what its texts say does not depend on a method's stance.

    Attributes:
        narratives: Its texts from passages.
        answers: Its texts from evidence tables.
    """

    narratives: Mapping[PacketName, Outcome]
    answers: Mapping[AnalysisName, Outcome]

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


async def model_writer(
    case: Case,
    policy: CitationPolicy,
    by: Generators,
    *,
    first: FirstAnswer | None = None,
    gold_answer: Sequence[str] = (),
) -> ModelWriter:
    """Have a language model write the five texts.

    Args:
        case: What there is to write from.
        policy: What a sentence must cite.
        by: Who writes.
        first: Of a question, the answer that tags are relations to; None of a claim. Where it could
            not be read there are no tags, and what is made of them is unreadable, too.
        gold_answer: Of a question, the statements that gold relations are to.

    Raises:
        RequestError: A packet does not fit the model's context.
        ServingError: No server can be had.
    """
    question = first is not None
    gold = FirstAnswer(tuple(gold_answer)) if question else None

    async def narrative(packet: Sequence[TaggedPassage]) -> Outcome:
        text = await plain_answer(case.claim, packet, by.plain, question=question)
        return _unbound(text, packet, question=question)

    async def answer(name: AnalysisName, found: Analysis) -> Outcome:
        about = gold if name == "gold" else first
        return await _bound(case.claim, found, policy, by.bound, about)

    narratives, answers = await asyncio.gather(
        asyncio.gather(*(narrative(packet) for packet in case.packets.values())),
        asyncio.gather(*(answer(name, found) for name, found in case.analyses.items())),
    )
    return ModelWriter(
        dict(zip(case.packets, narratives, strict=True)),
        dict(zip(case.analyses, answers, strict=True)),
    )


async def _bound(
    query: str,
    found: Analysis,
    policy: CitationPolicy,
    by: Generator,
    first: FirstAnswer | None,
) -> Outcome:
    """ConRAG's protocol. A sentence whose citations stay wrong does not count as cited."""
    outcome = _of(found)
    if first is not None and first.problem is not None:
        return outcome.model_copy(update={"problem": first.problem, "raw": first.raw})
    if not any(row.relation in SIDE.values() for row in found.table):
        return outcome.model_copy(update={"statements": _nothing(question=first is not None)})
    claims = None if first is None else first.claims
    text = await write(query, found.table, policy, by, first_answer=claims)
    ids = {row.number: row.passage.id for row in found.table}
    return outcome.model_copy(
        update={
            "statements": tuple(
                Statement(
                    text=each.text,
                    about=each.about,
                    cites=() if each.problems else tuple(ids[number] for number in each.cites),
                )
                for each in text.sentences
                if each.text
            ),
            "unbound": sum(bool(each.problems) for each in text.sentences),
            "problem": text.problem,
            "raw": text.raw,
        }
    )


def _unbound(text: PlainAnswer, packet: Sequence[TaggedPassage], *, question: bool) -> Outcome:
    """A text without relations: all of it speaks for the stance that its writer gives."""
    stance = text.stance or Stance.NOT_ENOUGH_INFO
    about = ABOUT.get(stance, "answer")
    return Outcome(
        stance=stance,
        packet=tuple(each.id for each in packet),
        statements=tuple(
            Statement(text=sentence, about=about, cites=cites) for sentence, cites in text.sentences
        )
        if packet
        else _nothing(question=question),
        support=float(text.stance is Stance.SUPPORT),
        undecided=text.problem is not None,
        unbound=text.unbound,
        problem=text.problem,
        raw=text.raw,
    )


def _of(found: Analysis) -> Outcome:
    """Stance and packet of an analysis; nothing is written yet."""
    return Outcome(
        stance=found.decided.stance,
        packet=tuple(each.id for each in found.packet.passages),
        statements=(),
        support=support_share(found.decided.support, found.decided.refute),
    )


def _nothing(*, question: bool) -> tuple[Statement, ...]:
    text = template.NO_ANSWER if question else template.NOTHING_FOUND
    return (Statement(text=text, about="none"),)
