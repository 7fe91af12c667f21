"""Whether sources say what each sentence says (CONFLICTS, section 4, factual grounding)."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel

from pipelines.conflicts.judges.model import ModelJudge
from pipelines.conflicts.judges.remarks import states_a_fact
from pipelines.conflicts.judges.verdicts import Grounding, Grounds, SentenceGrounding
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.result import Answer, Sentence
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.labeller import Labeller
from pipelines.evidence.llm import contains
from serving.schemas import told

Against = Literal["cited", "all"]
"""Which sources a sentence is judged by: those that it cites, or all of the query's."""

NOTHING_CITED: Final = "cites no source"
NO_FACT: Final = "states no fact"
REPLY_TOKENS: Final = 320

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
    judge: ModelJudge | Labeller,
    against: Against = "cited",
) -> Grounding:
    """Judge every sentence of an answer, each by itself.

    A language model also sees the question and the whole answer, as in FACTS, which the paper
    follows, so that it knows what "it" means. Of sources that disagree one that supports the
    sentence is enough, whoever judges.

    By default a sentence is judged by the sources that it cites, since the paper measures citation
    quality. One that cites none has nothing that could support it: it is unsupported if it states a
    fact, and else has no factual information.

    Raises:
        RequestError: The sources do not fit the model's context.
        ServingError: No server can be had.
    """
    sources = query.sources

    async def verdict(sentence: Sentence) -> SentenceGrounding:
        numbers = sentence.cites if against == "cited" else tuple(range(1, len(sources) + 1))
        if isinstance(judge, ModelJudge):
            told = {"query": query.query, "answer": answer.text, "sentence": sentence.text}
            return await _by_model(told, numbers, sources, judge)
        return await _by_labeller(sentence.text, numbers, sources, judge)

    return Grounding(sentences=tuple(await asyncio.gather(*map(verdict, answer.sentences))))


async def _by_model(
    told: Mapping[str, str], numbers: tuple[int, ...], sources: Sequence[Source], judge: ModelJudge
) -> SentenceGrounding:
    evidence = [{"number": number, "text": sources[number - 1].as_read()} for number in numbers]
    texts = [str(each["text"]) for each in evidence]
    schema: type[GroundingJson | UncitedJson] = GroundingJson if evidence else UncitedJson
    asked = {"evidence": evidence, **told}
    # Sentences that cite the same sources share the prompt up to the sentence.
    affinity = "\n".join(texts) or "uncited"
    reply = await judge.reply("grounding", schema, asked, affinity=affinity, tokens=REPLY_TOKENS)
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
    return decided((await labeller([sentence], documents)).judgements, numbers)


def decided(judgements: Sequence[Judgement], numbers: tuple[int, ...]) -> SentenceGrounding:
    """The verdict that the judgements of several sources make.

    One source that supports the sentence is enough; without, one that contradicts it is. Where
    neither is there and a source could not be judged, nothing decides. There is at least one.
    """
    for relation, grounds in (
        (Relation.SUPPORTS, Grounds.SUPPORTED),
        (Relation.CONTRADICTS, Grounds.CONTRADICTORY),
    ):
        if deciding := [each for each in judgements if each.relation is relation]:
            return SentenceGrounding(
                grounds=grounds,
                sources=numbers,
                quote=next((each.snippet for each in deciding if each.snippet), None),
                judgements=tuple(judgements),
            )
    invalid = [each for each in judgements if each.relation is Relation.INVALID]
    problem = f"{len(invalid)} of {len(judgements)} sources could not be judged"
    problem += f": {invalid[0].refusal}" if invalid and invalid[0].refusal else ""
    return SentenceGrounding(
        grounds=None if invalid else Grounds.UNSUPPORTED,
        sources=numbers,
        judgements=tuple(judgements),
        problem=problem if invalid else None,
        raw=invalid[0].raw if invalid else None,
    )
