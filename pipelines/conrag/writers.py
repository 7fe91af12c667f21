"""Who writes the texts of the methods: the template, or a language model.

Five texts are written for all nine methods: from the most relevant passages and from the packet
without tags, with nothing said of relations; and from the evidence table of ConRAG, of Oracle, and
of ConRAG without clusters. The other methods are a rule or a way to cite that comes after the text.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipelines.conrag import template
from pipelines.conrag.analysis import Analysis
from pipelines.conrag.answer import ABOUT, AnswerSentence
from pipelines.conrag.generation import GeneratedAnswer, nothing_found, write, write_plainly
from pipelines.conrag.generator import Generator
from pipelines.conrag.methods import AnalysisName, Case, PacketName, Ruling, support_share
from pipelines.conrag.outcome import Outcome, Sorted, Statement
from pipelines.conrag.question import FirstAnswer
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.stance import STANCE_OF, Stance
from pipelines.conrag.tagged import TaggedPassage
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.labeller import Labeller


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


async def template_writer(case: Case, labeller: Labeller) -> TemplateWriter:
    """A template that knows what the labeller says of each packet, read as one text.

    Errors are those of the labeller.
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
        labelled = await labeller([case.claim], documents)
        readings |= dict(zip(wanted, map(_reading, labelled.judgements), strict=True))
    return TemplateWriter(case, {name: readings[text] for name, text in texts.items()})


def _reading(judgement: Judgement) -> Ruling:
    given = judgement.probabilities or {judgement.relation: 1.0}
    return Ruling(STANCE_OF[judgement.relation], given.get(Relation.SUPPORTS, 0.0))


@dataclass(frozen=True)
class ModelWriter:
    """A language model that has written; what its texts say does not depend on a method's stance.

    Narratives are its texts from passages, answers those from evidence tables.
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
    settings: ConragSettings,
    generator: Generator,
    *,
    first: FirstAnswer | None = None,
    gold: FirstAnswer | None = None,
) -> ModelWriter:
    """Have a language model write the five texts.

    Where it sorts evidence before, it does so for ConRAG and for ConRAG without clusters: Oracle
    knows what passages say, the others do not ask.

    Of a question, `first` is the answer that tags are relations to, `gold` the one that gold
    relations are to. Where the first could not be read there are no tags, and what is made of them
    is unreadable, too. Errors are those of `Generator.ask`.
    """

    async def narrative(packet: Sequence[TaggedPassage]) -> Outcome:
        question = first is not None
        text = await write_plainly(case.claim, packet, generator, question=question)
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

    narratives, answers = await asyncio.gather(
        asyncio.gather(*map(narrative, case.packets.values())),
        asyncio.gather(*(answer(name, found) for name, found in case.analyses.items())),
    )
    return ModelWriter(
        dict(zip(case.packets, narratives, strict=True)),
        dict(zip(case.analyses, answers, strict=True)),
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
