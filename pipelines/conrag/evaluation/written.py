"""The methods of `methods`, where a language model writes in place of the template.

Each has the packet and the rule of its namesake there. Five texts are written: from the most
relevant passages and from the packet without tags, with nothing said of relations; and from the
evidence table of ConRAG, of Oracle, and of ConRAG without clusters. The other methods are made of
these: that is what they are, a rule or a way to cite that comes after the text.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.conrag.analysis import Analysis, analyse
from pipelines.conrag.answer import About
from pipelines.conrag.evaluation import methods
from pipelines.conrag.evaluation.methods import STANCE_OF, Given
from pipelines.conrag.evaluation.outcome import Outcome, Statement
from pipelines.conrag.evaluation.plain import PlainAnswer, PlainWriter, plain_answer
from pipelines.conrag.generator import Generator, write
from pipelines.conrag.policies import SIDE
from pipelines.conrag.question import FirstAnswer
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.stance import Adjudicated, Stance, delta_rule
from pipelines.conrag.tagged import Tagged
from pipelines.conrag.template import NO_ANSWER, NOTHING_FOUND
from pipelines.prompts import Prompt


@dataclass(frozen=True)
class Writers:
    """Who writes: the same model, bound to evidence and not.

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


async def written(
    given: Given,
    settings: ConragSettings,
    by: Writers,
    *,
    first: FirstAnswer | None = None,
    gold_answer: Sequence[str] = (),
) -> dict[str, Outcome]:
    """What every method makes of a claim or a question, in the order of Tables IV and VII.

    - RelRAG: the text from the most relevant passages, with the stance that the model gives.
    - NLI-RAG: the same text. The stance is the vote of tags; a citation of a passage that is
      tagged as the side that lost is taken away.
    - CiteRAG: the same text, every sentence cited by the words it shares; no abstention.
    - ConRAG: the text from its evidence table, with its rule for the stance.
    - Oracle: likewise, from the gold relations.
    - Without tags: the text from the packet that is chosen without them, with the model's stance.
    - Without clusters: as ConRAG, from its packet.
    - Without the uncertainty policy: ConRAG's text, of which what speaks of the conflict or of the
      smaller side, or cites that side alone, is left away.
    - Without binding: ConRAG's text, cited by shared words.

    Args:
        given: Passages with their tags, and what the data say of them.
        settings: Every parameter.
        by: Who writes.
        first: Of a question, the answer that tags are relations to; None of a claim. Where it could
            not be read there are no tags, and what is made of them is unreadable, too.
        gold_answer: Of a question, the statements that gold relations are to.

    Raises:
        RequestError: A packet does not fit the model's context.
        ServingError: No server can be had.
    """
    question = first is not None
    relevant = methods.most_relevant(given.tagged, settings)
    blind = methods.without_tags(given.tagged, settings)
    ours = analyse(given.tagged, settings)
    gold = analyse(methods.with_gold_tags(given), settings)
    apart = methods.analyse_apart(given, settings)

    async def bound(found: Analysis, answer: FirstAnswer | None) -> Outcome:
        return await _bound(given.claim, found, settings, by.bound, answer)

    plain, untagged, conrag, oracle, unclustered = await asyncio.gather(
        plain_answer(given.claim, relevant, by.plain, question=question),
        plain_answer(given.claim, blind, by.plain, question=question),
        bound(ours, first),
        bound(gold, FirstAnswer(tuple(gold_answer)) if question else None),
        bound(apart, first),
    )
    relrag = _unbound(plain, relevant, question=question)
    return {
        "RelRAG": relrag,
        "NLI-RAG": _voted(relrag, given.tagged),
        "CiteRAG": _densely_cited(relrag, relevant, given.claim),
        "ConRAG": conrag,
        "Oracle": oracle,
        "w/o conflict tagging": _unbound(untagged, blind, question=question),
        "w/o evidence clustering": unclustered,
        "w/o uncertainty policy": _one_sided(conrag, ours.decided, given.tagged),
        "w/o citation binding": methods.cited_by_words(given.claim, conrag, ours.packet.passages),
    }


async def _bound(
    query: str,
    found: Analysis,
    settings: ConragSettings,
    by: Generator,
    first: FirstAnswer | None,
) -> Outcome:
    """ConRAG's protocol. A sentence whose citations stay wrong does not count as cited."""
    outcome = Outcome(
        stance=found.decided.stance,
        packet=tuple(each.id for each in found.packet.passages),
        statements=(),
        support=methods.support_share(found.decided.support, found.decided.refute),
    )
    if first is not None and first.problem is not None:
        return outcome.model_copy(update={"problem": first.problem, "raw": first.raw})
    if not any(row.relation in SIDE.values() for row in found.table):
        return outcome.model_copy(update={"statements": _nothing(question=first is not None)})
    claims = None if first is None else first.claims
    text = await write(query, found.table, settings.policy, by, first_answer=claims)
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


def _nothing(*, question: bool) -> tuple[Statement, ...]:
    return (Statement(text=NO_ANSWER if question else NOTHING_FOUND, about="none"),)


_ABOUT: dict[Stance | None, About] = {Stance.SUPPORT: "support", Stance.REFUTE: "refute"}


def _unbound(text: PlainAnswer, packet: Sequence[Tagged], *, question: bool) -> Outcome:
    """A text without relations: all of it speaks for the stance that its writer gives."""
    about = _ABOUT.get(text.stance, "answer")
    return Outcome(
        stance=text.stance or Stance.NOT_ENOUGH_INFO,
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


def _voted(relrag: Outcome, tagged: Sequence[Tagged]) -> Outcome:
    stance, support = methods.vote(tagged)
    lost = {each.id for each in tagged if _against(STANCE_OF[each.relation], stance)}
    return relrag.model_copy(
        update={
            "stance": stance,
            "undecided": False,
            "support": support,
            "statements": tuple(
                each.model_copy(update={"cites": tuple(n for n in each.cites if n not in lost)})
                for each in relrag.statements
            ),
        }
    )


def _densely_cited(relrag: Outcome, packet: Sequence[Tagged], query: str) -> Outcome:
    stance, support = methods.heavier_side(packet)
    return methods.cited_by_words(query, relrag, packet).model_copy(
        update={"stance": stance, "undecided": False, "support": support}
    )


def _one_sided(conrag: Outcome, decided: Adjudicated, tagged: Sequence[Tagged]) -> Outcome:
    stance = delta_rule(decided.support, decided.refute, delta=0)
    about = {_ABOUT.get(stance, "none"), "answer", "none"}
    lost = {each.id for each in tagged if _against(STANCE_OF[each.relation], stance)}
    return conrag.model_copy(
        update={
            "stance": stance,
            "statements": tuple(
                each
                for each in conrag.statements
                if each.about in about and not (each.cites and lost.issuperset(each.cites))
            ),
        }
    )


def _against(side: Stance, stance: Stance) -> bool:
    return {side, stance} == {Stance.SUPPORT, Stance.REFUTE}
