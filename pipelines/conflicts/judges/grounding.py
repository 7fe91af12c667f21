"""Whether sources say what each sentence says (CONFLICTS, section 4, factual grounding)."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from pipelines import prompts
from pipelines.conflicts.answer import Sentence
from pipelines.conflicts.judges.verdicts import Grounding, Grounds, SentenceGrounding
from pipelines.conflicts.question import Source
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.labeller import Labeller, PairError
from pipelines.evidence.llm import contains
from pipelines.prompts import Prompt
from serving.client import Client, Sampling

Against = Literal["cited", "all"]
"""Which sources a sentence is judged by: those that it cites, or all of the query's."""

REPLY_TOKENS: Final = 320

NOTHING_CITED: Final = "cites no source"
NO_FACT: Final = "states no fact"

REMARK_CHARACTERS: Final = 200
"""Longer sentences are never taken for a mere remark on the sources."""

Reason = Annotated[str, Field(json_schema_extra={"maxLength": 200})]


class GroundingJson(BaseModel):
    """The JSON reply: first the passage, then what it means."""

    quote: Annotated[str, Field(json_schema_extra={"maxLength": 300})]
    reason: Reason
    verdict: Grounds


class UncitedJson(BaseModel):
    """The JSON reply of a sentence without sources: nothing can support or contradict it."""

    reason: Reason
    verdict: Literal[Grounds.UNSUPPORTED, Grounds.NO_FACT]


@dataclass(frozen=True)
class GroundingModel:
    """A language model as the judge, as in the paper.

    Attributes:
        client: The model.
        prompt: How it is asked.
    """

    client: Client
    prompt: Prompt


def grounding_model(client: Client, overrides: Path | None = None) -> GroundingModel:
    """A judge of factual grounding with its prompt.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    return GroundingModel(
        client, prompts.load("conflicts/grounding", {"evidence", "sentence"}, overrides)
    )


async def grounding(
    sentences: Sequence[Sentence],
    sources: Sequence[Source],
    by: GroundingModel | Labeller,
    against: Against = "cited",
) -> Grounding:
    """Judge every sentence of an answer, each by itself.

    By default a sentence is judged by the sources that it cites, since the paper measures citation
    quality. One that cites none has nothing that could support it: it is unsupported if it states a
    fact, and else has no factual information.

    Args:
        sentences: The answer's, in order.
        sources: The query's.
        by: A language model, or a labeller.
        against: Which sources count.

    Raises:
        RequestError: The sources do not fit the model's context.
        ServingError: No server can be had.
    """

    async def judge(sentence: Sentence) -> SentenceGrounding:
        numbers = sentence.cites if against == "cited" else tuple(range(1, len(sources) + 1))
        if isinstance(by, GroundingModel):
            return await _by_model(sentence.text, numbers, sources, by)
        return await _by_labeller(sentence.text, numbers, sources, by)

    return Grounding(sentences=tuple(await asyncio.gather(*map(judge, sentences))))


async def _by_model(
    sentence: str, numbers: tuple[int, ...], sources: Sequence[Source], by: GroundingModel
) -> SentenceGrounding:
    evidence = [{"number": number, "text": sources[number - 1].as_read()} for number in numbers]
    messages = by.prompt.messages(evidence=evidence, sentence=sentence)
    sampling = Sampling(REPLY_TOKENS)
    if not evidence:
        bare = await by.client.structured(messages, UncitedJson, sampling, affinity="uncited")
        if bare.value is None:
            return SentenceGrounding(grounds=None, problem=bare.problem, raw=bare.raw)
        return SentenceGrounding(grounds=bare.value.verdict, reason=bare.value.reason.strip())
    # Sentences that cite the same sources share the prompt up to the sentence.
    affinity = "\n".join(str(each["text"]) for each in evidence)
    reply = await by.client.structured(messages, GroundingJson, sampling, affinity=affinity)
    if reply.value is None:
        return SentenceGrounding(
            grounds=None, sources=numbers, problem=reply.problem, raw=reply.raw
        )
    return SentenceGrounding(
        grounds=reply.value.verdict,
        sources=numbers,
        reason=reply.value.reason.strip(),
        quote=_passage(reply.value.quote, [str(each["text"]) for each in evidence]),
    )


def _passage(quote: str, texts: Sequence[str]) -> str | None:
    """A quote that stands in one of the texts; None of any other, which is no passage of theirs."""
    quote = quote.strip()
    return quote if quote and any(contains(text, quote) for text in texts) else None


async def _by_labeller(
    sentence: str, numbers: tuple[int, ...], sources: Sequence[Source], labeller: Labeller
) -> SentenceGrounding:
    """A labeller tells of each source by itself whether it supports the sentence."""
    if not states_a_fact(sentence):
        return SentenceGrounding(grounds=Grounds.NO_FACT, reason=NO_FACT)
    if not numbers:
        return SentenceGrounding(grounds=Grounds.UNSUPPORTED, reason=NOTHING_CITED)
    documents = [sources[number - 1].as_evidence(number) for number in numbers]
    try:
        judgements = (await labeller([sentence], documents)).judgements
    except PairError as error:
        return SentenceGrounding(grounds=None, sources=numbers, problem=str(error))
    return decided(judgements, numbers)


def decided(judgements: Sequence[Judgement], numbers: tuple[int, ...]) -> SentenceGrounding:
    """The verdict that the judgements of several sources make.

    One source that supports the sentence is enough; without, one that contradicts it is. Where
    neither is there and a source could not be judged, nothing decides.

    Args:
        judgements: One per source, at least one.
        numbers: Of the sources.
    """
    for relation, grounds in (
        (Relation.SUPPORTS, Grounds.SUPPORTED),
        (Relation.CONTRADICTS, Grounds.CONTRADICTORY),
    ):
        deciding = [each for each in judgements if each.relation is relation]
        if deciding:
            return SentenceGrounding(
                grounds=grounds,
                sources=numbers,
                quote=next((each.snippet for each in deciding if each.snippet), None),
                judgements=tuple(judgements),
            )
    invalid = [each for each in judgements if each.relation is Relation.INVALID]
    if invalid:
        return SentenceGrounding(
            grounds=None,
            sources=numbers,
            judgements=tuple(judgements),
            problem=f"{len(invalid)} of {len(judgements)} sources could not be judged",
            raw=invalid[0].raw,
        )
    return SentenceGrounding(
        grounds=Grounds.UNSUPPORTED, sources=numbers, judgements=tuple(judgements)
    )


_TEXTS = r"(?:search results?|sources?|results?|documents?|pages?|texts?|references?)"
_WHICH = (
    r"(?:(?:the|these|those|all|both|most|some|several|many|my|your|provided|available|given|"
    r"retrieved|cited|different|various|of) )*"
)
_SOURCES = _WHICH + _TEXTS
# "Documents" may be those of an archive; results, and documents that were given, are those at hand.
_AT_HAND = (
    rf"(?:{_WHICH}(?:search results?|results?|sources?)|"
    rf"(?:{_WHICH}(?:provided|available|given|retrieved|cited) {_WHICH}{_TEXTS}))"
)
_THIS = (
    r"(?:this|that|it|the question|this question|your question|the query|this query|your query|"
    r"the answer|this point|the matter)"
)
_NOT = r"(?:do not|does not|don['’]t|doesn['’]t|did not|didn['’]t|cannot|can not|can['’]t)"
_TELL = (
    r"(?:answer|say|state|mention|address|tell|settle|resolve|specify|indicate|give|provide|"
    r"contain|include|cover|explain|reveal|report|discuss|clarify|offer|have)"
)
_NAMES = r"(?:say|state|mention|tell|specify|indicate|explain|reveal|discuss|clarify)"
_TELLS = rf"(?:{_TELL}s?|addresses|discusses|clarifies|has)"
_SOUGHT = (
    r"(?:answer|information|details?|mention|data|evidence|statement|indication|dates?|years?|"
    r"time|place|name|numbers?|figures?|reasons?)"
)
# What follows goes on about the same: neither a clause of its own nor what the sources do say.
_MORE = r"(?:(?! (?:but|although|though|however|while|yet|because|only|except)\b)[^,;:])*"
_ASKED = (
    r"(?:when|who|whom|whose|what|where|which|why|how|whether|if|by whom|for whom|about|on|"
    r"regarding|concerning|as to|of|to|for)"
)
_ABOUT = rf"(?: {_ASKED}\b{_MORE})?"
_ANSWER = rf"(?:\w+ ){{0,3}}{_SOUGHT}"
_IN_THEM = rf"(?: (?:in|from|by|with|based on|using) {_SOURCES})"
_UNCLEAR = r"(?:unclear|uncertain|not clear|not certain)"
_REMARKS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # The sources disagree about this. Search results vary widely.
        rf"{_SOURCES} (?:do not agree|don['’]t agree|disagree|agree|differ|vary|conflict|"
        rf"contradict (?:each other|one another)|are (?:divided|in conflict|in agreement|mixed)|"
        rf"give (?:different|conflicting|various) (?:answers|information|accounts|figures|dates))"
        r"(?: (?:widely|greatly|considerably|strongly|slightly|somewhat|a lot))?"
        rf"(?: (?:on|about|over|in|here|with each other|with one another)(?: {_THIS})?)?",
        # The results do not answer the query. None of the documents says when it opened.
        rf"{_SOURCES} (?:{_NOT}|answers?)(?: {_THIS})?",
        rf"(?:(?:no|none of) {_SOURCES} {_TELLS}|{_SOURCES} {_NOT}(?: \w+ly)? {_TELL})"
        rf"(?: (?:{_THIS}|anything|{_ANSWER}))?{_ABOUT}",
        # The results do not mention the architect of the bridge.
        rf"(?:(?:no|none of) {_AT_HAND} {_NAMES}s?|{_AT_HAND} {_NOT}(?: \w+ly)? {_NAMES}) "
        rf"the{_MORE}",
        # The results contain no information about it. They say nothing of its builder.
        rf"{_SOURCES} {_TELLS} (?:no {_ANSWER}|nothing){_ABOUT}",
        # Here is a summary of the sources.
        r"(?:here|below|this|the following) (?:is|are) (?:an?|the|my|their) (?:\w+ )?"
        rf"(?:summary|overview|answers?|list|views?|points)(?: of (?:{_SOURCES}|the views|"
        r"the debate))?",
        # I could not find an answer in the sources. I do not know when it opened.
        r"(?:i|we) (?:could not|couldn['’]t|cannot|can['’]t|did not|didn['’]t|do not|don['’]t|"
        r"was unable to|am unable to|were unable to|was not able to|am not able to) "
        r"(?:find|give|determine|answer|say|know|tell)"
        rf"(?: (?:an?|the|any|one|this|that|it|your|single|clear|definite|definitive|question|"
        rf"query|answer|information|to|in|from|these|provided|given|available|{_TEXTS}))*"
        rf"(?: (?:when|who|what|where|which|why|how|whether|if)\b{_MORE})?",
        # There is no single answer to this question. There is no information on it in the results.
        rf"there is no (?:\w+ )?answer(?: to {_THIS})?{_IN_THEM}?",
        rf"(?:there (?:is|was) )?no {_ANSWER}{_MORE}{_IN_THEM}{_ABOUT}",
        # The answer is unclear. It is not clear from the sources when it opened.
        rf"the answer(?: to {_THIS})? (?:is|remains) (?:{_UNCLEAR}|unknown|open|not known|"
        rf"not (?:given|stated|found|available)){_IN_THEM}?",
        rf"{_THIS} (?:is|remains) {_UNCLEAR}(?:{_IN_THEM}{_ABOUT})?",
        # The query cannot be answered from these results.
        rf"{_THIS} (?:cannot|can not|can['’]t|could not) be (?:answered|determined|said|found)"
        rf"{_IN_THEM}?",
        r"(?:it|that|this|the answer) depends",
    )
)
_LEAD = re.compile(
    rf"\A(?:(?:in (?:summary|short|conclusion|sum)|overall|however|so|thus|unfortunately|"
    rf"to sum up|(?:i['’]m |i am )?sorry(?:,? but)?|(?:based on|from) {_SOURCES})[, ]+)*",
    re.IGNORECASE,
)


def states_a_fact(sentence: str) -> bool:
    """Whether a sentence states anything that could be looked up.

    A rule of this program: a tagger knows three relations, and none of them is the paper's "no
    factual information". No fact is a question, a heading ("#", or a colon at the end), and a
    sentence that speaks of the sources or of the answer itself alone: "The sources disagree.",
    "Here is a summary.", "I could not find an answer." What they do not say is none either ("The
    results do not say when it opened."): it is what the prompt asks for where they do not answer.
    Where it goes on to what they say ("The sources disagree whether the dam is safe."), it is a
    fact like any other; so is everything that the rule does not know.

    Args:
        sentence: Without its citations.
    """
    bare = sentence.strip().strip("*_\"'“”‘’ ").strip()
    if not any(map(str.isalnum, bare)) or bare.startswith("#") or bare.endswith(("?", ":")):
        return False
    rest = _LEAD.sub("", " ".join(bare.rstrip(".!… ").split()), count=1)
    if len(rest) > REMARK_CHARACTERS:
        return True
    return not any(remark.fullmatch(rest) for remark in _REMARKS)
