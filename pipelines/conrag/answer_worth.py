"""What an answer to a question is worth: its citations, its contradictions, what it names.

No data say what every passage says of every sentence that a model may write. So a judge is asked,
where ALCE asks an entailment model (Gao et al. 2023, section 3.3).
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from pipelines.conrag.answer import About
from pipelines.conrag.listing import hypotheses, list_worth
from pipelines.conrag.outcome import Outcome, Statement
from pipelines.conrag.query import GoldAnswer
from pipelines.conrag.result import AnswerWorth
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgements, Relation, Truncation
from pipelines.evidence.labeller import Labeller
from pipelines.metrics.alce_output import as_scored
from pipelines.metrics.citations import AT_MOST, CitationCounts, CitedSentence, citation_counts
from pipelines.metrics.str_em import str_em

Group = tuple[str, ...]
"""Ids of passages that are read together, in order."""

Relations = Mapping[tuple[str, Group], Relation]
"""(sentence, passages) -> what they say of it."""

NEUTRAL: tuple[About, ...] = ("conflict", "none")
"""What sentences are about that contradict nothing."""


class RecordingLabeller:
    """A labeller that keeps what could not be read, or not whole."""

    def __init__(self, labeller: Labeller) -> None:
        self._labeller = labeller
        self.identity = labeller.identity
        self.unreadable = 0
        self.truncations: list[Truncation] = []

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """As the labeller."""
        labelled = await self._labeller(claims, documents)
        self.unreadable += sum(each.relation is Relation.INVALID for each in labelled.judgements)
        self.truncations += labelled.truncations
        return labelled


async def answer_worth(
    question: str,
    outcomes: Mapping[str, Outcome],
    passages: Mapping[str, Document],
    gold: GoldAnswer,
    labeller: Labeller,
) -> dict[str, AnswerWorth]:
    """Judge the answers of all methods to one question; what they share is asked once.

    Outcomes are by method, passages by id. The labeller says what passages say of a sentence, of a
    list of each item, which stands behind the question; errors are its own.
    """
    judged = {
        name: hypotheses(question, outcome) if gold.listed else outcome
        for name, outcome in outcomes.items()
    }
    relations = await _relations(judged.values(), passages, labeller)
    texts = {name: _text(outcome) for name, outcome in outcomes.items()}
    distinct = list(dict.fromkeys(texts.values()))
    recalls = await asyncio.gather(*(_recall(text, gold, labeller) for text in distinct))
    recall_of = dict(zip(distinct, recalls, strict=True))
    return {
        name: _worth(outcome, judged[name], relations, gold, recall_of[texts[name]])
        for name, outcome in outcomes.items()
    }


async def supporting(
    claims: Sequence[str], passages: Sequence[Document], labeller: Labeller
) -> dict[str, Relation]:
    """The passages that support one of several claims, by the labeller, whose errors it has."""
    if not claims or not passages:
        return {}
    judged = (await labeller(claims, passages)).judgements
    return {
        each.document: Relation.SUPPORTS for each in judged if each.relation is Relation.SUPPORTS
    }


async def _relations(
    outcomes: Iterable[Outcome], passages: Mapping[str, Document], labeller: Labeller
) -> Relations:
    """What every group of passages that matters says of every sentence."""
    wanted: dict[str, dict[Group, None]] = {}
    for outcome in outcomes:
        for statement in outcome.statements:
            if statement.about != "none":
                groups = wanted.setdefault(statement.text, {})
                groups.update(dict.fromkeys([(name,) for name in outcome.packet]))
                groups.update(dict.fromkeys(_groups(statement.cites[:AT_MOST])))

    async def ask(sentence: str, groups: Iterable[Group]) -> list[Relation]:
        read = [
            Document(id=f"group {n}", text="\n\n".join(passages[name].as_read() for name in group))
            for n, group in enumerate(groups)
        ]
        if not read:
            return []
        return [each.relation for each in (await labeller([sentence], read)).judgements]

    answers = await asyncio.gather(*(ask(text, groups) for text, groups in wanted.items()))
    return {
        (text, group): relation
        for (text, groups), labels in zip(wanted.items(), answers, strict=True)
        for group, relation in zip(groups, labels, strict=True)
    }


def _groups(cites: Group) -> list[Group]:
    """The groups that ALCE's rules may ask about: all, each alone, and all but each."""
    without = (cites[:n] + cites[n + 1 :] for n in range(len(cites)))
    return [group for group in (cites, *((name,) for name in cites), *without) if group]


def _worth(
    outcome: Outcome,
    judged: Outcome,
    relations: Relations,
    gold: GoldAnswer,
    recall: float | None,
) -> AnswerWorth:
    opposed = [
        (statement, _opposed(statement, judged, relations))
        for statement in judged.statements
        if statement.about not in NEUTRAL
    ]
    listed = list_worth(outcome, gold) if gold.listed else None
    by_parts = None if listed else str_em(gold.answers, _text(outcome), rule="substrings")
    return AnswerWorth(
        citations=_citations(judged, relations),
        statements=len(opposed),
        contradicting=sum(
            bool(passages - _disclosed(statement, judged, relations))
            for statement, passages in opposed
        ),
        contradicting_strict=sum(bool(passages) for _, passages in opposed),
        recall=listed.recall_5 if listed else recall,
        str_em=by_parts,
        listed=listed,
    )


def _citations(outcome: Outcome, relations: Relations) -> CitationCounts:
    """Every sentence asks for a citation, also one that says that nothing was found."""
    place = {name: position for position, name in enumerate(outcome.packet)}

    def supports(positions: Sequence[int], text: str) -> bool:
        group = tuple(outcome.packet[position] for position in positions)
        return relations[text, group] is Relation.SUPPORTS

    sentences = [
        CitedSentence(each.text, tuple(place[name] for name in each.cites), len(each.dropped))
        for each in outcome.statements
    ]
    return citation_counts(sentences, len(outcome.packet), supports)


def _opposed(statement: Statement, outcome: Outcome, relations: Relations) -> set[str]:
    """Passages of the packet that contradict a statement."""
    return {
        name
        for name in outcome.packet
        if relations[statement.text, (name,)] is Relation.CONTRADICTS
    }


def _disclosed(statement: Statement, outcome: Outcome, relations: Relations) -> set[str]:
    """Passages whose own version the answer gives in another sentence, citing them for it."""
    return {
        name
        for other in outcome.statements
        if other is not statement and other.about != "none"
        for name in other.cites
        if other.about == "conflict" or relations[other.text, (name,)] is Relation.SUPPORTS
    }


async def _recall(text: str, gold: GoldAnswer, labeller: Labeller) -> float | None:
    """Short answers are looked for, claims are to be entailed (ALCE, section 3.2)."""
    if gold.answers:
        return str_em(gold.answers, text)
    if not gold.claims:
        return None
    if not text:
        return 0.0
    judged = (await labeller(gold.claims, [Document(id="answer", text=text)])).judgements
    return sum(each.relation is Relation.SUPPORTS for each in judged) / len(judged)


def _text(outcome: Outcome) -> str:
    return as_scored(" ".join(each.text for each in outcome.statements if each.about != "none"))
