"""Answers by a language model: its prompts, first answers, sorting."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel

from pipelines import prompts
from pipelines.conrag import template
from pipelines.conrag.answer import (
    ABOUT,
    About,
    CitationPolicy,
    Statement,
    has_sides,
    numbered,
    problems,
    unmarked,
)
from pipelines.conrag.evidence import Stance, TaggedPassage
from pipelines.conrag.settings import Sort
from pipelines.judge.judgement import RELATIONS, Relation
from pipelines.prompts import Prompt
from pipelines.retrieval.index import Retrieved
from pipelines.text.declarative import as_claim
from serving.calls import Sampling, Structured
from serving.client import Client
from serving.schemas import told

Reply = TypeVar("Reply", bound=BaseModel)

PROMPTS = {
    "sort": {"query", "evidence", "claims", "form"},
    "first_answer": {"query", "evidence"},
    "answer": {"query", "evidence", "claims", "form", "numbers"},
    "plain": {"query", "evidence", "form"},
    "cite": {"query", "evidence", "form"},
}
"""Variables of each prompt; `numbers` says whether a cited passage must have a number."""

Form = Literal["claim", "question", "list"]
"""The form of a query: a claim to check, or a question, which may ask for a list."""


@dataclass(frozen=True)
class Generator:
    """A language model and its prompts by name.

    Attributes:
        form: Form of the query it writes about.
        temperature, seed: Sampling of replies; at temperature 0 greedy, unseeded.
    """

    client: Client
    prompts: Mapping[str, Prompt]
    form: Form = "claim"
    temperature: float = 0.0
    seed: int = 0

    async def ask(
        self, prompt: str, reply: type[Reply], max_tokens: int, **variables: object
    ) -> Structured[Reply]:
        """The reply to a prompt, read as JSON; if it breaks off, its whole sentences.

        Raises:
            RequestError: The prompt does not fit the model's context.
            ServingError: No server is available.
        """
        messages = self.prompts[prompt].messages(**variables)
        sampling = Sampling(max_tokens, self.temperature, self.seed)
        return await self.client.structured(messages, reply, sampling, partial="items")


def generator(
    client: Client, overrides: Path | None = None, *, temperature: float = 0.0, seed: int = 0
) -> Generator:
    """A generator with its prompts, those in the user's folder first.

    Raises:
        InputError: A user's prompt cannot be used.
    """
    loaded = prompts.load_all("conrag", PROMPTS, overrides)
    return Generator(client, loaded, temperature=temperature, seed=seed)


MOST = 5
ANSWER_CHARACTERS = 240
"""Maximum length of an answer, in the schema."""
ANSWER_TOKENS = 256


class FirstAnswerReply(BaseModel):
    """The JSON reply."""

    answers: Annotated[
        list[Annotated[str, told(minLength=1, maxLength=ANSWER_CHARACTERS)]], told(maxItems=MOST)
    ]


@dataclass(frozen=True)
class FirstAnswer:
    """The likely answer to a question; a claim answers itself.

    Attributes:
        claims: A statement for each thing asked for; empty if the passages do not answer the
            question, or the reply was unreadable.
        problem: Why claims are missing, in one line, with the unreadable reply in `raw`; None if
            the passages have no answer.
        cut: Whether there were more answers than are read, tokens ran out, or an answer has the
            maximum length that a server allows.
    """

    claims: tuple[str, ...]
    problem: str | None = None
    raw: str | None = None
    cut: bool = False


async def first_answer(
    question: str, found: Sequence[Retrieved], generator: Generator | None
) -> FirstAnswer:
    """Answer a question from the most relevant passages, in statements.

    Raises:
        RequestError, ServingError: As `Generator.ask`.
        ValueError: The generator is missing.
    """
    if generator is None:
        raise ValueError("a question needs a generator, which answers it first")
    if not found:
        return FirstAnswer(())
    shown = [{"number": n, "text": hit.passage.as_read()} for n, hit in enumerate(found, 1)]
    reply = await generator.ask(
        "first_answer", FirstAnswerReply, ANSWER_TOKENS, query=question, evidence=shown
    )
    if reply.value is None:
        return FirstAnswer((), problem=f"first answer: {reply.problem}", raw=reply.raw)
    answers = [text for answer in reply.value.answers if (text := unmarked(answer))]
    claims = tuple(dict.fromkeys(as_claim(question, text) for text in answers[:MOST]))
    ended = any(len(answer) == ANSWER_CHARACTERS for answer in reply.value.answers)
    return FirstAnswer(claims, cut=reply.cut or ended or len(answers) > MOST)


REASON_CHARACTERS = 240
"""Maximum length of a reason, in the schema."""

TOKENS_OF_A_PASSAGE = 96
"""Room in the reply for a passage: its number and the reason."""


class SortedPassage(BaseModel):
    """One passage of a list; a number that is no passage's is passed over."""

    number: int
    reason: Annotated[str, told(maxLength=REASON_CHARACTERS)]


class SortReply(BaseModel):
    """The JSON reply: the three lists of the evidence table."""

    support: list[SortedPassage]
    refute: list[SortedPassage]
    irrelevant: list[SortedPassage]


def sorted_table(table: Sequence[TaggedPassage], reply: SortReply) -> tuple[TaggedPassage, ...]:
    """The table sorted by the lists of a reply, and renumbered.

    A passage that is in no list, or in several, keeps the place of its tag, without a reason. The
    sentence that decided a tag is dropped if the model disagrees with the tag.
    """
    places: dict[int, list[tuple[Relation, str]]] = {}
    for relation, passage in _placed(reply):
        places.setdefault(passage.number, []).append((relation, unmarked(passage.reason)))

    def placed(row: TaggedPassage) -> TaggedPassage:
        lists = places.get(row.number, [])
        if len({relation for relation, _ in lists}) != 1:
            return replace(row, tag=row.relation)
        relation, reason = lists[0]
        kept = row.rationale if relation is row.relation else None
        return replace(row, tag=row.relation, relation=relation, rationale=kept, reason=reason)

    return numbered(map(placed, table))


def _placed(reply: SortReply) -> Iterator[tuple[Relation, SortedPassage]]:
    lists = (reply.support, reply.refute, reply.irrelevant)
    for relation, passages in zip(RELATIONS, lists, strict=True):
        yield from ((relation, passage) for passage in passages)


def shown(table: Sequence[TaggedPassage]) -> list[dict[str, Any]]:
    """The evidence as shown in prompts."""
    return [
        {
            "number": row.number,
            "relation": row.relation.value,
            "cluster": row.cluster,
            "text": row.passage.as_read(),
        }
        for row in table
    ]


REPLY_TOKENS = 768
SENTENCES = 8
CHARACTERS = 400
"""Maximum length of a sentence, in the schema."""

Sent = Annotated[str, told(minLength=1, maxLength=CHARACTERS)]
Cites = Annotated[list[int], told(maxItems=8)]
Conflict = Annotated[str, told(maxLength=CHARACTERS)]

# The docstrings of replies are part of the schema that the model sees.


class SentenceReply(BaseModel):
    """One sentence, as the model gives it. A number that is no passage's is found out later."""

    about: Literal["support", "refute", "conflict", "answer"]
    sent: Sent
    cites: Cites


class QuestionReply(BaseModel):
    """The JSON reply to a question."""

    conflict: Conflict
    sentences: Annotated[list[SentenceReply], told(minItems=1, maxItems=SENTENCES)]


class AnswerReply(BaseModel):
    """The JSON reply to a claim (ConRAG, section 2, citation binding)."""

    stance: Stance
    conflict: Conflict
    sentences: Annotated[list[SentenceReply], told(minItems=1, maxItems=SENTENCES)]


class OpenQuestionReply(QuestionReply):
    """The JSON reply to a question of which no passage is known to take a side."""

    sentences: Annotated[list[SentenceReply], told(maxItems=SENTENCES)]


class OpenAnswerReply(AnswerReply):
    """The JSON reply to a claim of which no passage is known to take a side."""

    sentences: Annotated[list[SentenceReply], told(maxItems=SENTENCES)]


class PlainSentence(BaseModel):
    """One sentence, as the model gives it; a number may be no passage's."""

    sent: Sent
    cites: Cites


class PlainQuestionReply(BaseModel):
    """The JSON reply to a question."""

    sentences: Annotated[list[PlainSentence], told(minItems=1, maxItems=SENTENCES)]


class PlainReply(BaseModel):
    """The JSON reply to a claim."""

    stance: Stance
    sentences: Annotated[list[PlainSentence], told(minItems=1, maxItems=SENTENCES)]


@dataclass(frozen=True)
class GeneratedAnswer:
    """A written answer.

    Attributes:
        sentences: With the problems of their citations; empty if the reply was unreadable.
        stance: The model's stance; None for questions, or if the reply was unreadable.
        cut: Whether it breaks off, or may: tokens ran out, or a sentence or the list of sentences
            has the maximum length that a server allows.
        problem: Why the answer is missing, in one line; `raw` is the unreadable reply.
        table: The sorted evidence that it cites from; empty for an unbound text.
    """

    sentences: tuple[Statement, ...]
    stance: Stance | None = None
    conflict: str | None = None
    cut: bool = False
    problem: str | None = None
    raw: str | None = None
    table: tuple[TaggedPassage, ...] = ()


async def sort_evidence(
    query: str, table: tuple[TaggedPassage, ...], first: FirstAnswer, generator: Generator
) -> GeneratedAnswer:
    """Have the model put every passage of a packet into one of the three lists, and say why.

    The prompt gives the tags and clusters, as in the paper. No answer is written yet; after an
    unreadable reply the table stays unchanged. Errors are those of `Generator.ask`.
    """
    given = {"query": query, "claims": list(first.claims), "evidence": shown(table)}
    room = TOKENS_OF_A_PASSAGE * (len(table) + 1)
    reply = await generator.ask("sort", SortReply, room, **given, form=generator.form)
    made = sorted_table(table, reply.value) if reply.value else ()
    if reply.value is None or all(row.reason is None for row in made):
        why = reply.problem or "the reply sorts no passage"
        return GeneratedAnswer((), problem=f"sort: {why}", raw=reply.raw, table=table)
    ended = any(len(passage.reason) == REASON_CHARACTERS for _, passage in _placed(reply.value))
    return GeneratedAnswer((), cut=reply.cut or ended, table=made)


def nothing_found(form: Form = "claim", stance: Stance | None = None) -> GeneratedAnswer:
    """The answer if no passage says anything."""
    text = template.NOTHING_FOUND if form == "claim" else template.NO_ANSWER
    return GeneratedAnswer((Statement(text=text, about="none"),), stance)


async def write(
    query: str,
    table: tuple[TaggedPassage, ...],
    policy: CitationPolicy,
    generator: Generator,
    first: FirstAnswer,
    *,
    sort: Sort = "tags",
    gold: bool = False,
) -> GeneratedAnswer:
    """Sort, adjudicate, cite: have the model answer from the evidence (ConRAG, section 2).

    A tagger that finds no side may have missed one, so the model is asked anyway; it may then
    cite any passage, or write nothing. It is not asked if relations are `gold`, or the model's own
    (`sort`), and take no side; nor if it found no first answer to a question.

    Args:
        query: A claim, or a question.
        table: The packet, by its tags.
        policy: What sentences must cite.
        generator: The model; errors are those of `Generator.ask`.
        first: The answer that the table's relations refer to; if it was unreadable, nothing is
            written.
        sort: Whether the model sorts the packet before it writes.
        gold: Whether the relations are known to be right.
    """
    if first.problem is not None:
        return GeneratedAnswer((), problem=first.problem, raw=first.raw, table=table)
    if not table or not first.claims:
        return replace(nothing_found(generator.form), table=table)
    sorting = GeneratedAnswer((), table=table)
    if sort == "model" and not gold:
        sorting = await sort_evidence(query, table, first, generator)
        if sorting.problem is not None:
            return sorting
    if (gold or sort == "model") and not has_sides(sorting.table):
        answer = nothing_found(generator.form)
    else:
        answer = await _cite(query, sorting.table, policy, generator, first)
    return replace(answer, cut=answer.cut or sorting.cut, table=sorting.table)


async def _cite(
    query: str,
    table: Sequence[TaggedPassage],
    policy: CitationPolicy,
    generator: Generator,
    first: FirstAnswer,
) -> GeneratedAnswer:
    """The answer, each sentence bound to the table."""
    sided = has_sides(table)
    form: type[AnswerReply | QuestionReply]
    if generator.form == "claim":
        form = AnswerReply if sided else OpenAnswerReply
    else:
        form = QuestionReply if sided else OpenQuestionReply
    reply = await generator.ask(
        "answer",
        form,
        REPLY_TOKENS,
        query=query,
        claims=list(first.claims),
        evidence=shown(table),
        form=generator.form,
        numbers=policy.numbers == "cited",
    )
    written, cut = _written(reply)
    if reply.value is None or (sided and not written):
        return _unreadable(reply)
    stance = reply.value.stance if isinstance(reply.value, AnswerReply) else None
    if not written:
        return replace(nothing_found(generator.form, stance), cut=cut)
    ids = {row.number: row.id for row in table}

    def checked(said: SentenceReply) -> Statement:
        statement, unknown = _stated(said, said.about, ids)
        return statement.faulty(*problems(statement, table, policy, unknown))

    conflict = unmarked(reply.value.conflict) or None
    return GeneratedAnswer(tuple(map(checked, written)), stance, conflict, cut)


PlainPrompt = Literal["plain", "cite"]
"""The prompts of methods that do not mention relations: RelRAG's and CiteRAG's."""


async def write_plainly(
    query: str, packet: Sequence[TaggedPassage], generator: Generator, prompt: PlainPrompt = "plain"
) -> GeneratedAnswer:
    """Have the model answer from passages without their tags.

    All sentences speak for the stance that the model gives. A sentence that cites nothing, or a
    passage that is not shown, has a problem. Errors are those of `Generator.ask`.
    """
    form = generator.form
    if not packet:
        return nothing_found(form)
    passages = [
        {"number": n, "text": passage.passage.as_read()} for n, passage in enumerate(packet, 1)
    ]
    kind: type[PlainReply | PlainQuestionReply] = (
        PlainReply if form == "claim" else PlainQuestionReply
    )
    reply = await generator.ask(
        prompt, kind, REPLY_TOKENS, query=query, evidence=passages, form=form
    )
    written, cut = _written(reply)
    if reply.value is None or not written:
        return _unreadable(reply)
    stance = reply.value.stance if isinstance(reply.value, PlainReply) else None
    about = ABOUT.get(stance or Stance.NOT_ENOUGH_INFO, "answer")
    ids = {number: passage.id for number, passage in enumerate(packet, 1)}

    def checked(said: PlainSentence) -> Statement:
        statement, unknown = _stated(said, about, ids)
        wrong = unknown or not statement.cites
        return statement.faulty("cites no passage") if wrong else statement

    return GeneratedAnswer(tuple(map(checked, written)), stance, cut=cut)


def _written(reply: Structured[Any]) -> tuple[list[Any], bool]:
    """The non-empty sentences of a reply, and whether it breaks off, or may."""
    sentences = [said for said in reply.value.sentences if said.sent.strip()] if reply.value else []
    ended = any(len(said.sent) == CHARACTERS for said in sentences)
    return sentences[:SENTENCES], reply.cut or ended or len(sentences) >= SENTENCES


def _stated(
    said: SentenceReply | PlainSentence, about: About, ids: Mapping[int, str]
) -> tuple[Statement, list[int]]:
    """A sentence that cites passages by number, and the numbers that match no passage."""
    unknown = [number for number in said.cites if number not in ids]
    known = dict.fromkeys(ids[number] for number in said.cites if number in ids)
    return Statement(text=unmarked(said.sent), about=about, cites=tuple(known)), unknown


def _unreadable(reply: Structured[Any]) -> GeneratedAnswer:
    why = reply.problem or "the reply has no sentence"
    return GeneratedAnswer((), problem=f"answer: {why}", raw=reply.raw)
