"""What an answer to a question is worth: its citations, by whose judgement, and what it names."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from pipelines.conrag.answer import About, Outcome, Statement
from pipelines.conrag.query import GoldAnswer, hypotheses, list_worth
from pipelines.conrag.result import AnswerWorth
from pipelines.data.records import Document
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs, judge_source, refuse_no_judge
from pipelines.experiment.options import ServerOptions, judge_model_option, source_of, tagger_named
from pipelines.judge.judge import Judge
from pipelines.judge.judgement import Judgements, Relation, Truncation
from pipelines.judge.run_judge import RunJudge, judge_of
from pipelines.judge.settings import PANEL, JudgeSettings
from pipelines.metrics.alce import (
    AT_MOST,
    CitationCounts,
    CitedSentence,
    as_scored,
    citation_counts,
    str_em,
)
from pipelines.option import Only, Option


class CitationJudgeSettings(BaseModel, frozen=True, extra="forbid"):
    """Who judges; by default a tagger, whatever tags, so that the runs of two are comparable."""

    judged_by: Annotated[
        Literal["tagger", "model"],
        Option(
            "Of questions, and of what a language model writes on ragtruth: who judges whether "
            "passages bear answers out, the tagger or a language model. It "
            "should be none that selects the evidence.",
            name="--citation-judge",
            panel=PANEL,
        ),
    ] = "tagger"
    citation_tagger: Annotated[
        str | None,
        Option(
            "Folder or registered name of the tagger that judges, whatever --tagger is.",
            shown="the profile's, else the one that comes with the program",
            panel=PANEL,
            only=Only(lambda own: own.judged_by == "tagger", "--citation-judge model"),
        ),
    ] = None
    judge_model: Annotated[
        str | None,
        judge_model_option(
            PANEL, Only(lambda own: own.judged_by == "model", "--citation-judge tagger")
        ),
    ] = None


def needs_with(settings: CitationJudgeSettings, options: ServerOptions, needs: Needs) -> Needs:
    """What a run needs together with who judges its citations.

    Beside a language model that judges, the profile's generator tags and writes.

    Raises:
        InputError: The tagger that is to judge cannot be used.
        ServingError: There is no such model.
    """
    if settings.judged_by == "model":
        judge = judge_source(options, settings.judge_model)
        refuse_no_judge(
            options, judge or source_of(options, "generator"), "--citation-judge tagger"
        )
        return replace(needs, role="generator", judge=judge)
    where = source_of(options, needs.role or "generator")
    return replace(needs, judge_tagger=tagger_named(settings.citation_tagger, where))


def citation_judge(
    settings: CitationJudgeSettings, models: Models, selector: RunJudge, *, cut: bool
) -> RunJudge:
    """Who judges, ready to be asked; the one that selects the evidence, where that is the same.

    A language model gives a reason with every label. With `cut` it may be shown the beginning of a
    text that is too long.
    """
    if settings.judged_by == "model":
        asked = JudgeSettings(judge="model", evidence="json", cut=cut)
        return judge_of(asked, models.judging, models.prompts, store=models.store)
    tagger = models.judge_tagger
    if tagger is not None and selector.label.identity == tagger.identity:
        return selector
    return judge_of(JudgeSettings(judge="tagger"), tagger=tagger, store=models.store)


def about(judge: RunJudge) -> dict[str, Any]:
    """Who judges, for `run.json`."""
    return {"identity": judge.label.identity, **judge.about()}


def judge_told(config: Mapping[str, Any]) -> str:
    """Who judged the citations of a run, by its configuration, and whether it judged itself.

    Empty where the data say what passages bear out.
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
"""Ids of passages that are read together, in order."""

Relations = Mapping[tuple[str, Group], Relation]
"""(sentence, passages) -> what they say of it."""

NEUTRAL: tuple[About, ...] = ("conflict", "none")
"""What sentences are about that contradict nothing."""


class RecordingJudge:
    """A judge that keeps what could not be read, or not whole."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.identity = judge.identity
        self.unreadable = 0
        self.truncations: list[Truncation] = []

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """As the judge."""
        labelled = await self._judge(claims, documents)
        self.unreadable += sum(each.relation is Relation.INVALID for each in labelled.judgements)
        self.truncations += labelled.truncations
        return labelled


async def answer_worth(
    question: str,
    outcomes: Mapping[str, Outcome],
    passages: Mapping[str, Document],
    gold: GoldAnswer,
    judge: Judge,
) -> dict[str, AnswerWorth]:
    """Judge the answers of all methods to one question; what they share is asked once.

    Outcomes are by method, passages by id. The judge says what passages say of a sentence, of a
    list of each item, which stands behind the question; errors are its own.
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
    return {
        name: _worth(outcome, judged[name], relations, gold, recall_of[texts[name]])
        for name, outcome in outcomes.items()
    }


async def supporting(
    claims: Sequence[str], passages: Sequence[Document], judge: Judge
) -> dict[str, Relation]:
    """The passages that support one of several claims, by the judge, whose errors it has."""
    if not claims or not passages:
        return {}
    judged = (await judge(claims, passages)).judgements
    return {
        each.document: Relation.SUPPORTS for each in judged if each.relation is Relation.SUPPORTS
    }


async def _relations(
    outcomes: Iterable[Outcome], passages: Mapping[str, Document], judge: Judge
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
        return [each.relation for each in (await judge([sentence], read)).judgements]

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


async def _recall(text: str, gold: GoldAnswer, judge: Judge) -> float | None:
    """Short answers are looked for, claims are to be entailed (ALCE, section 3.2)."""
    if gold.answers:
        return str_em(gold.answers, text)
    if not gold.claims:
        return None
    if not text:
        return 0.0
    judged = (await judge(gold.claims, [Document(id="answer", text=text)])).judgements
    return sum(each.relation is Relation.SUPPORTS for each in judged) / len(judged)


def _text(outcome: Outcome) -> str:
    return as_scored(" ".join(each.text for each in outcome.statements if each.about != "none"))
