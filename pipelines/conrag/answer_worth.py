"""The quality of an answer to a question: its citations, as judged, and the answers it names."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipelines.conrag.answer import About, Outcome, Statement
from pipelines.conrag.data import GoldAnswer
from pipelines.conrag.result import AnswerWorth
from pipelines.conrag.settings import CitationJudgeSettings
from pipelines.data.records import Document
from pipelines.experiment.experiment import Models
from pipelines.judge.judgement import Judgements, Relation, Truncation
from pipelines.judge.protocol import Judge, label_pairs
from pipelines.judge.run_judge import RunJudge, judge_of
from pipelines.judge.settings import JudgeSettings
from pipelines.metrics import alce
from pipelines.metrics.alce import AT_MOST, as_scored


def citation_judge(
    settings: CitationJudgeSettings, models: Models, selector: RunJudge, *, cut: bool
) -> RunJudge:
    """The judge of citations; `selector`, the judge that selects the evidence, if it is the same.

    A language model gives a reason with every label. With `cut` it sees only the beginning of a
    text that is too long.
    """
    if settings.judged_by == "model":
        asked = JudgeSettings(judge="model", evidence="json", cut=cut)
        return judge_of(asked, models.judging, models.prompts, store=models.store)
    tagger = models.judge_tagger
    if tagger is not None and selector.label.identity == tagger.identity:
        return selector
    return judge_of(JudgeSettings(judge="tagger"), tagger=tagger, store=models.store)


def judge_told(config: Mapping[str, Any]) -> str:
    """Who judged the citations of a run, by its configuration, and whether it judged itself.

    Empty if no judge was needed, because the data have labels.
    """
    if "citations" not in config:
        return ""
    judge = config["citations"]["model"]
    named = f"citations judged by {judge['name']}"
    tagging = [config[key]["digest"] for key in ("model", "tagger") if config.get(key)]
    if judge["digest"] in tagging:
        return f"{named}, which also selected the evidence and so grades itself"
    if "writer" in config and judge["digest"] == config["writer"]["digest"]:
        return f"{named}, which also wrote the answers"
    return named


Group = tuple[str, ...]
"""Ids of passages that the judge reads as one text, in order."""

Relations = Mapping[tuple[str, Group], Relation]
"""(sentence, passages) -> their relation to it."""

NEUTRAL: tuple[About, ...] = ("conflict", "none")
"""Sentences about these cannot contradict the packet."""


class RecordingJudge:
    """A judge that counts unreadable labels, and keeps truncations."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.identity = judge.identity
        self.unreadable = 0
        self.truncations: list[Truncation] = []

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """Judge, and record."""
        labelled = await self._judge(claims, documents)
        self.unreadable += sum(said.relation is Relation.INVALID for said in labelled.judgements)
        self.truncations += labelled.truncations
        return labelled


async def answer_worth(
    question: str,
    outcomes: Mapping[str, Outcome],
    passages: Sequence[Document],
    gold: GoldAnswer,
    judge: Judge,
) -> dict[str, AnswerWorth]:
    """Judge the answers of all methods to one question, asking shared pairs only once.

    `outcomes` maps methods to answers. The judge compares passages with a sentence, or with the
    question followed by a list item. Errors are the judge's.
    """
    judged = {
        name: hypotheses(question, outcome) if gold.listed else outcome
        for name, outcome in outcomes.items()
    }
    relations = await _relations(judged.values(), passages, judge)
    texts = {name: _text(outcome) for name, outcome in outcomes.items()}
    distinct = list(dict.fromkeys(texts.values()))
    recalls = await asyncio.gather(*(_recall(text, gold, judge) for text in distinct))
    recall_of = dict(zip(distinct, recalls, strict=True))

    def worth(name: str) -> AnswerWorth:
        counted = _worth(judged[name], relations)
        if not gold.listed:
            by_parts = alce.str_em(gold.answers, texts[name], substrings=True)
            recall = recall_of[texts[name]]
            return counted.model_copy(update={"recall": recall, "str_em": by_parts})
        items = [item for said in outcomes[name].statements for item in items_of(said)]
        return counted.model_copy(
            update={
                "recall": alce.list_recall(items, gold.answers, most=alce.ENOUGH),
                "list_precision": alce.list_precision(items, gold.answers),
            }
        )

    return {name: worth(name) for name in outcomes}


def items_of(statement: Statement) -> list[str]:
    """The items of a sentence; empty if it is about the conflict, or about nothing."""
    return [] if statement.about in NEUTRAL else alce.list_items(as_scored(statement.text))


def hypotheses(question: str, outcome: Outcome) -> Outcome:
    """The answer with its items appended to the question, as ALCE does for its entailment model.

    Items keep the citations of their sentence; sentences without items stay unchanged.
    """
    extended = (
        said.model_copy(update={"text": text})
        for said in outcome.statements
        for text in [f"{question} {item}" for item in items_of(said)] or [said.text]
    )
    return outcome.model_copy(update={"statements": tuple(extended)})


async def supporting(
    claims: Sequence[str], passages: Sequence[Document], judge: Judge
) -> dict[str, Relation]:
    """The passages that support at least one of several claims; errors are the judge's."""
    if not claims or not passages:
        return {}
    judged = (await judge(claims, passages)).judgements
    return {
        said.document: Relation.SUPPORTS for said in judged if said.relation is Relation.SUPPORTS
    }


async def _relations(
    outcomes: Iterable[Outcome], passages: Sequence[Document], judge: Judge
) -> Relations:
    """The relation of every relevant group of passages to every sentence."""
    text_of = {passage.id: passage.as_read() for passage in passages}
    read: dict[Group, Document] = {}
    wanted: dict[tuple[str, Group], None] = {}
    for outcome in outcomes:
        for said in outcome.statements:
            if said.about != "none":
                groups = [*((name,) for name in outcome.packet), *_groups(said.cites[:AT_MOST])]
                wanted |= dict.fromkeys((said.text, group) for group in groups)
    for _, group in wanted:
        text = "\n\n".join(text_of[name] for name in group)
        read.setdefault(group, Document(id=f"group {len(read)}", text=text))
    judged, _ = await label_pairs(judge, [(text, read[group]) for text, group in wanted])
    return {(text, group): judged[text, read[group].id].relation for text, group in wanted}


def _groups(cites: Group) -> list[Group]:
    """The groups that ALCE's rules may ask about: all citations, each alone, and all but one."""
    without = (cites[:n] + cites[n + 1 :] for n in range(len(cites)))
    return [group for group in (cites, *((name,) for name in cites), *without) if group]


def _worth(answer: Outcome, relations: Relations) -> AnswerWorth:
    """Citations and contradictions of an answer, without its recall."""

    def opposed(said: Statement) -> set[str]:
        """Passages of the packet that contradict it."""
        return {
            name for name in answer.packet if relations[said.text, (name,)] is Relation.CONTRADICTS
        }

    def disclosed(said: Statement) -> set[str]:
        """Passages whose version another sentence states and cites."""
        return {
            name
            for other in answer.statements
            if other is not said and other.about != "none"
            for name in other.cites
            if other.about == "conflict" or relations[other.text, (name,)] is Relation.SUPPORTS
        }

    asserted = [said for said in answer.statements if said.about not in NEUTRAL]
    return AnswerWorth(
        # Every sentence needs a citation, even one that says that nothing was found.
        citations=alce.citation_counts(
            answer.statements,
            answer.packet,
            lambda group, text: relations[text, group] is Relation.SUPPORTS,
        ),
        statements=len(asserted),
        contradicting=sum(bool(opposed(said) - disclosed(said)) for said in asserted),
        contradicting_strict=sum(bool(opposed(said)) for said in asserted),
        recall=None,
    )


async def _recall(text: str, gold: GoldAnswer, judge: Judge) -> float | None:
    """Share of short answers named, or of claims entailed (ALCE, section 3.2)."""
    if gold.answers:
        return alce.str_em(gold.answers, text)
    if not gold.claims:
        return None
    if not text:
        return 0.0
    judged = (await judge(gold.claims, [Document(id="answer", text=text)])).judgements
    return sum(said.relation is Relation.SUPPORTS for said in judged) / len(judged)


def _text(outcome: Outcome) -> str:
    return as_scored(" ".join(said.text for said in outcome.statements if said.about != "none"))
