"""Judges of an answer: behaviour, answer recall, factual grounding (CONFLICTS, section 4)."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, StrictBool

from pipelines import prompts
from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.result import (
    Adherence,
    Answer,
    Grounding,
    Grounds,
    Inclusion,
    Sentence,
    SentenceGrounding,
    Verdicts,
)
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.taxonomy import ANSWERABLE, CATEGORY, ConflictType
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.judgement import Judgement, Relation
from pipelines.judge.model import contains
from pipelines.judge.protocol import Judge
from pipelines.metrics.alce import named_answers, normalised
from pipelines.prompts import Prompt
from pipelines.text.citations import without_marks
from pipelines.text.declarative import NO, YES, as_claim
from pipelines.text.refusals import SOURCES, THIS, clauses, is_unknown
from serving.calls import Sampling, Structured
from serving.client import Client
from serving.schemas import told

REMARK_CHARACTERS: Final = 200
"""Longer sentences are never treated as mere remarks on the sources."""

_NO_NUMBER = r"[^0-9]*"
"""Opinions and advice that contain a number can be looked up, so they must not match."""
_REMARKS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # The sources disagree about this. Search results vary widely.
        rf"{SOURCES} (?:do not agree|disagree|agree|differ|vary|conflict|"
        rf"contradict (?:each other|one another)|are (?:divided|in conflict|in agreement|mixed)|"
        rf"give (?:different|conflicting|various) (?:answers|information|accounts|figures|dates))"
        r"(?: (?:widely|greatly|considerably|strongly|slightly|somewhat|a lot))?"
        rf"(?: (?:on|about|over|in|here|with each other|with one another)(?: {THIS})?)?",
        # The results answer the query.
        rf"{SOURCES} answers?(?: {THIS})?",
        # Here is a summary of the sources.
        r"(?:here|below|this|the following) (?:is|are) (?:an?|the|my|their) (?:\w+ )?"
        rf"(?:summary|overview|answers?|list|views?|points)(?: of (?:{SOURCES}|the views|"
        r"the debate))?",
        r"(?:it|that|this|the answer) depends",
        # I think it is worth a visit. In my view it is overrated.
        rf"(?:i|we) (?:think|believe|feel|hope|recommend|suggest|advise)\b{_NO_NUMBER}",
        rf"in (?:my|our) (?:opinion|view)\b{_NO_NUMBER}",
        # Please ask an engineer. It is best to consult a doctor.
        r"(?:please\b|it is (?:best|advisable|wise|important) to "
        r"(?:ask|consult|check|verify|seek|see)\b|"
        rf"always (?:ask|consult|check)\b|consult\b){_NO_NUMBER}",
    )
)


def states_a_fact(sentence: str) -> bool:
    """Whether a sentence states anything that could be looked up.

    A rule of this program: a tagger knows three relations, and none of them is the paper's "no
    factual information". These state no fact: questions; headings ("#", or a colon at the end);
    sentences only about the sources or the answer itself ("The sources disagree.", "Here is a
    summary.", "I could not find an answer."); opinions ("I think it is overrated.") and advice
    ("Please ask a doctor.") without a number; and remarks that something is unclear ("The exact
    origin is unclear."). Nor do remarks on what the sources leave out ("The results do not say when
    it opened."): the prompt asks for them if the sources do not answer. A sentence that goes on to
    report the sources ("The sources disagree whether the dam is safe.") states a fact like any
    other; so does every sentence that the rule does not recognise.

    Args:
        sentence: Without its citations.
    """
    bare = sentence.strip().strip("*_\"'“”‘’ ").strip()
    if not any(map(str.isalnum, bare)) or bare.startswith("#") or bare.endswith(("?", ":")):
        return False
    if len(bare) > REMARK_CHARACTERS:
        return True
    text = ", ".join(filter(None, clauses(bare)))
    return not (is_unknown(bare) or any(remark.fullmatch(text) for remark in _REMARKS))


BEHAVIOUR: Final = {kind: f"behaviour_{kind.replace('-', '_')}" for kind in ConflictType}
"""Type -> the prompt on its expected behaviour, with examples of answers that adhere or do not."""

VARIABLES: Final = {
    **{name: {"definition", "expected", "query", "answer"} for name in BEHAVIOUR.values()},
    "recall": {"query", "gold", "answer"},
    "grounding": {"evidence", "query", "answer", "sentence"},
}
"""Prompt -> its variables."""

REPLY_TOKENS: Final = 200

ReplyT = TypeVar("ReplyT", bound=BaseModel)


@dataclass(frozen=True)
class PromptedModel:
    """A language model with the prompts of `VARIABLES`."""

    client: Client
    templates: Mapping[str, Prompt]

    async def reply(
        self,
        template: str,
        schema: type[ReplyT],
        told: Mapping[str, object],
        *,
        affinity: str,
        tokens: int = REPLY_TOKENS,
    ) -> Structured[ReplyT]:
        """The reply to a prompt, of at most `tokens` tokens."""
        messages = self.templates[template].messages(**told)
        return await self.client.structured(messages, schema, Sampling(tokens), affinity=affinity)


def prompted_model(client: Client, overrides: Path | None = None) -> PromptedModel:
    """A language model with its prompts.

    Raises:
        InputError: A user's prompt cannot be used.
    """
    return PromptedModel(client, prompts.load_all("conflicts", VARIABLES, overrides))


class AdherenceJson(BaseModel):
    """The JSON reply; the reason comes first, so that the verdict follows from it."""

    reason: Annotated[str, told(maxLength=300)]
    adheres: StrictBool


async def behaviour(
    query: str,
    type: ConflictType,  # noqa: A002  (the paper's t)
    answer: str,
    judge: PromptedModel,
) -> Adherence:
    """Judge a non-empty answer by the expected behaviour s = f(t) of a type.

    The judge sees the question, the type's definition and behaviour, examples, and the answer with
    its citations; as in the paper, it sees neither the search results nor the gold answer.

    Raises:
        RequestError: The answer does not fit the model's context.
        ServingError: No server is available.
    """
    variables = {
        "definition": CATEGORY[type].definition,
        "expected": CATEGORY[type].expected,
        "query": query,
        "answer": answer,
    }
    # Queries of the same type share the prompt up to the query.
    affinity = f"behaviour {type}"
    reply = await judge.reply(BEHAVIOUR[type], AdherenceJson, variables, affinity=affinity)
    if reply.value is None:
        return Adherence(adheres=None, type=type, problem=reply.problem, raw=reply.raw)
    return Adherence(adheres=reply.value.adheres, type=type, reason=reply.value.reason.strip())


WORD_FOR_WORD: Final = "named word for word"
"""The reason for a verdict that needs no NLI judge."""


class InclusionJson(BaseModel):
    """The JSON reply."""

    reason: Annotated[str, told(maxLength=300)]
    included: StrictBool


async def inclusion(query: str, gold: str, answer: str, judge: PromptedModel | Judge) -> Inclusion:
    """Judge whether an answer, with its citations, includes the gold answer, in whatever words.

    Raises:
        RequestError: The answer does not fit the model's context.
        ServingError: No server is available.
    """
    if not isinstance(judge, PromptedModel):
        return await _included_by_judge(query, gold, answer, judge)
    variables = {"query": query, "gold": gold, "answer": answer}
    reply = await judge.reply("recall", InclusionJson, variables, affinity="recall")
    if reply.value is None:
        return Inclusion(included=None, gold=gold, problem=reply.problem, raw=reply.raw)
    return Inclusion(included=reply.value.included, gold=gold, reason=reply.value.reason.strip())


async def _included_by_judge(query: str, gold: str, answer: str, judge: Judge) -> Inclusion:
    """Included if the answer supports the statement made from question and gold answer."""
    # "According to [2]" must not count as naming the answer 2.
    plain = " ".join(without_marks(answer).split())
    if not any(map(str.isalnum, plain)):
        return Inclusion(included=False, gold=gold, reason="the answer has no text")
    if named(gold, plain):
        return Inclusion(included=True, gold=gold, reason=WORD_FOR_WORD)
    claim = as_claim(query, gold)
    (judgement,) = (await judge([claim], [Document(id="answer", text=plain)])).judgements
    unread = judgement.relation is Relation.INVALID
    problem = judgement.reasoning or "the judge's reply could not be read"
    return Inclusion(
        included=None if unread else judgement.relation is Relation.SUPPORTS,
        gold=gold,
        reason=claim,
        judgement=judgement,
        problem=problem if unread else None,
        raw=judgement.raw if unread else None,
    )


def named(gold: str, answer: str) -> bool:
    """Whether an answer contains the gold answer word for word, after normalisation.

    This is the rule of Mallen et al. (2023), which section 4 starts from but abandons since it
    misses paraphrases. An answer that it does find is in the text, so the NLI judge need not be
    asked, and a tagger that is unsure of names cannot overrule the plain text. Like the original
    rule, it counts an answer as named even if the text denies it or calls it outdated. "Yes" and
    "no" are too common to name anything, so they always go to the judge. The answer must have no
    citations, since "[2]" does not name "2".
    """
    return normalised(gold) not in YES | NO and named_answers([[gold]], answer)[0]


Against = Literal["cited", "all"]
"""The sources to judge a sentence by: those that it cites, or all of the query's."""

NOTHING_CITED: Final = "cites no source"
NO_FACT: Final = "states no fact"
GROUNDING_TOKENS: Final = 320

Reason = Annotated[str, told(maxLength=200)]


class GroundingJson(BaseModel):
    """The JSON reply: first the passage, then what it means."""

    quote: Annotated[str, told(maxLength=300)]
    reason: Reason
    verdict: Grounds


class UncitedJson(BaseModel):
    """The JSON reply of a sentence without sources: nothing can support or contradict it."""

    reason: Reason
    verdict: Literal[Grounds.UNSUPPORTED, Grounds.NO_FACT]


async def grounding(
    answer: Answer,
    query: Query,
    judge: PromptedModel | Judge,
    against: Against = "cited",
) -> Grounding:
    """Judge every sentence of an answer separately.

    A language model also sees the question and the whole answer, so that it can resolve pronouns;
    so it does in FACTS, which the paper follows. If sources disagree, one that supports the
    sentence is enough, for either kind of judge.

    By default a sentence is judged by the sources that it cites, since the paper measures citation
    quality. A sentence without citations has nothing that could support it: it is unsupported if it
    states a fact, and otherwise has no factual information.

    Raises:
        RequestError: The sources do not fit the model's context.
        ServingError: No server is available.
    """
    sources = query.sources

    async def verdict(sentence: Sentence) -> SentenceGrounding:
        numbers = sentence.cites if against == "cited" else tuple(range(1, len(sources) + 1))
        if isinstance(judge, PromptedModel):
            variables = {"query": query.query, "answer": answer.text, "sentence": sentence.text}
            return await _by_model(variables, numbers, sources, judge)
        return await _grounded_by_judge(sentence.text, numbers, sources, judge)

    return Grounding(sentences=tuple(await asyncio.gather(*map(verdict, answer.sentences))))


async def _by_model(
    told: Mapping[str, str],
    numbers: tuple[int, ...],
    sources: Sequence[Source],
    judge: PromptedModel,
) -> SentenceGrounding:
    evidence = [{"number": number, "text": sources[number - 1].as_read()} for number in numbers]
    texts = [str(passage["text"]) for passage in evidence]
    schema: type[GroundingJson | UncitedJson] = GroundingJson if evidence else UncitedJson
    asked = {"evidence": evidence, **told}
    # Sentences that cite the same sources share the prompt up to the sentence.
    affinity = "\n".join(texts) or "uncited"
    reply = await judge.reply(
        "grounding", schema, asked, affinity=affinity, tokens=GROUNDING_TOKENS
    )
    value = reply.value
    if value is None:
        return SentenceGrounding(
            grounds=None, sources=numbers, problem=reply.problem, raw=reply.raw
        )
    return SentenceGrounding(
        grounds=value.verdict,
        sources=numbers,
        reason=value.reason.strip(),
        quote=_passage(value.quote, texts) if isinstance(value, GroundingJson) else None,
    )


def _passage(quote: str, texts: Sequence[str]) -> str | None:
    """A quote that occurs in one of the texts; None for any other."""
    quote = quote.strip()
    return quote if quote and any(contains(text, quote) for text in texts) else None


async def _grounded_by_judge(
    sentence: str, numbers: tuple[int, ...], sources: Sequence[Source], judge: Judge
) -> SentenceGrounding:
    """The judge decides separately for each source whether it supports the sentence."""
    if not states_a_fact(sentence):
        return SentenceGrounding(grounds=Grounds.NO_FACT, reason=NO_FACT)
    if not numbers:
        return SentenceGrounding(grounds=Grounds.UNSUPPORTED, reason=NOTHING_CITED)
    documents = [sources[number - 1].as_evidence(number) for number in numbers]
    return decided((await judge([sentence], documents)).judgements, numbers)


def decided(judgements: Sequence[Judgement], numbers: tuple[int, ...]) -> SentenceGrounding:
    """The verdict on a sentence from its judgements by several sources, at least one.

    One source that supports the sentence is enough; without one, a source that contradicts it
    decides. If neither exists and a source could not be judged, there is no verdict.
    """
    for relation, grounds in (
        (Relation.SUPPORTS, Grounds.SUPPORTED),
        (Relation.CONTRADICTS, Grounds.CONTRADICTORY),
    ):
        if deciding := [judgement for judgement in judgements if judgement.relation is relation]:
            return SentenceGrounding(
                grounds=grounds,
                sources=numbers,
                quote=next(
                    (judgement.snippet for judgement in deciding if judgement.snippet), None
                ),
                judgements=tuple(judgements),
            )
    invalid = [judgement for judgement in judgements if judgement.relation is Relation.INVALID]
    problem = f"{len(invalid)} of {len(judgements)} sources could not be judged"
    problem += f": {invalid[0].refusal}" if invalid and invalid[0].refusal else ""
    return SentenceGrounding(
        grounds=None if invalid else Grounds.UNSUPPORTED,
        sources=numbers,
        judgements=tuple(judgements),
        problem=problem if invalid else None,
        raw=invalid[0].raw if invalid else None,
    )


@dataclass(frozen=True)
class AnswerJudge:
    """The judges of an answer.

    `behaviour`, always a language model, judges expected behaviour. `facts` judges whether the
    answer includes the gold answer, and the grounding of its sentences in the sources that
    `against` names.
    """

    behaviour: PromptedModel | None
    facts: PromptedModel | Judge
    against: Against = "cited"

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All prompts that may be used."""
        if isinstance(self.facts, PromptedModel):
            return tuple(self.facts.templates.values())
        model = self.behaviour
        return tuple(model.templates[name] for name in BEHAVIOUR.values()) if model else ()


def answer_judge(
    client: Client | None,
    settings: ConflictsSettings,
    overrides: Path | None = None,
    judge: Judge | None = None,
) -> AnswerJudge:
    """The judges with their prompts; `overrides` is a folder with the user's prompts.

    Without a client, behaviour is not judged. `judge` judges recall and grounding if the settings
    name the judge "tagger".

    Raises:
        InputError: A user's prompt cannot be used, or the judge is missing.
    """
    model = None if client is None else prompted_model(client, overrides)
    if settings.judge == "tagger":
        if judge is None:
            raise InputError("the judge 'tagger' needs a tagger; name one, or let a model judge")
        return AnswerJudge(model, judge, settings.against)
    if model is None:
        raise InputError("the judge 'model' needs a model; name one, or let the tagger judge")
    return AnswerJudge(model, model, settings.against)


async def judged(
    query: Query,
    answer: Answer,
    judge: AnswerJudge,
    *,
    type: ConflictType | None = None,  # noqa: A002  (the paper's t)
) -> Verdicts:
    """Judge an answer in every way that its query allows, all concurrently.

    That is behaviour if a type is known; answer recall if questions of that type have one right
    answer and the data give it; and the grounding of all sentences. An answer that is unreadable or
    empty is not judged at all. `type` decides the expected behaviour; by default it is the data's.

    Raises:
        RequestError: The answer or its sources do not fit the judging model's context.
        ServingError: No server is available.
    """
    if answer.problem is not None or not answer.text.strip():
        return Verdicts()
    expected = query.conflict_type if type is None else type

    async def adherence() -> Adherence | None:
        if expected is None or judge.behaviour is None:
            return None
        return await behaviour(query.query, expected, answer.text, judge.behaviour)

    async def included() -> Inclusion | None:
        if expected not in ANSWERABLE or query.gold_answer is None:
            return None
        return await inclusion(query.query, query.gold_answer, answer.text, judge.facts)

    behaves, includes, grounds = await asyncio.gather(
        adherence(),
        included(),
        grounding(answer, query, judge.facts, judge.against),
    )
    return Verdicts(adherence=behaves, inclusion=includes, grounding=grounds)
