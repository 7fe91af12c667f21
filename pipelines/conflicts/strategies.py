"""Four ways to ask for an answer: vanilla, pipeline, taxonomy-aware, oracle (section 5.1)."""

import re
from functools import lru_cache
from typing import Annotated, Final

from pydantic import Field

from pipelines.conflicts.answer import Answer
from pipelines.conflicts.citations import cited_sentences
from pipelines.conflicts.classification import CategoryJson, explained
from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.question import Query
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.conflicts.writer import Writer
from serving.calls import Sampling

CHARACTERS: Final = 4
"""Per token of an answer within JSON, as English has on average."""

_CODE = re.compile(r"```\w*\n(?P<text>(?:(?!```).)*)```", re.DOTALL)
_QUOTES = re.compile(r"[\"“](?P<text>[^\"“”]+)[\"”]")
_FENCE = re.compile(r"<<(?P<name>[A-Z][A-Z0-9 ]*(?: [0-9a-f]{4,64})?)\s*\n")
_LABEL = re.compile(r"(?:#{1,6}[ \t]+)?\*{0,2}answer\*{0,2}:\*{0,2}\s*", re.IGNORECASE)


async def vanilla(query: Query, by: Writer) -> Answer:
    """p(y | q, C_q): the model sees the query and the sources.

    Raises:
        RequestError: The sources do not fit the model's context.
        ServingError: No server can be had.
    """
    return await _free(query, None, by)


async def pipeline(query: Query, predicted: Prediction, by: Writer) -> Answer:
    """p(y | q, C_q, t^): the model is told the predicted type, and what is expected then.

    A classifier that abstains, or could not be read, has nothing to tell: the request is then
    vanilla's very own, and its answer comes from the cache.

    Raises:
        RequestError, ServingError: As `vanilla`.
    """
    return await _free(query, predicted.type, by)


async def oracle(query: Query, by: Writer) -> Answer:
    """p(y | q, C_q, t*): the model is told the type that annotators gave.

    Raises:
        ValueError: Nobody gave the query a type.
        RequestError, ServingError: As `vanilla`.
    """
    if query.conflict_type is None:
        raise ValueError(f"query '{query.id}' has no conflict type that an oracle could tell")
    return await _free(query, query.conflict_type, by)


async def taxonomy_aware(query: Query, by: Writer) -> Answer:
    """p(t, y | T, q, C_q): the model explains and names the type, then answers, all in one reply.

    Raises:
        RequestError, ServingError: As `vanilla`.
    """
    schema, length = _schema(by.settings.answer_tokens)
    reply = await by.client.structured(
        by.asks_with_taxonomy(by.taxonomy_aware, query),
        schema,
        Sampling(max_tokens=by.reply_tokens),
        affinity=query.query,
    )
    if reply.value is None:
        return Answer(text="", problem=reply.problem, raw=reply.raw)
    prediction = explained(reply.value)
    answer = _read(reply.value.answer, query)
    # The server closes an answer at its most characters, wherever a sentence stands. A longer one
    # comes from a server that does not know the limit: nothing was cut.
    update = {
        "prediction": prediction,
        "raw": reply.raw if answer.problem else None,
        "finished": len(reply.value.answer) != length,
    }
    return answer.model_copy(update=update)


async def _free(query: Query, told: ConflictType | None, by: Writer) -> Answer:
    reply = await by.client.chat(
        by.asks_answer(query, told),
        Sampling(max_tokens=by.settings.answer_tokens),
        affinity=query.query,
    )
    answer = _read(reply.text, query)
    return answer.model_copy(update={"told": told, "finished": reply.finished})


def _read(reply: str, query: Query) -> Answer:
    text = bare(reply)
    if not any(map(str.isalnum, text)):
        return Answer(text="", problem="the reply has no text", raw=reply)
    return Answer(text=text, sentences=cited_sentences(text, len(query.sources)))


def bare(reply: str) -> str:
    """An answer without what models put around it: a fence, a block of code, quotes, "Answer:".

    Only what is around the whole reply is taken off; all else stays as it was written.
    """
    text = reply.strip()
    while (inner := _inner(text)) != text:
        text = inner
    return text


def _inner(text: str) -> str:
    if found := _CODE.fullmatch(text) or _QUOTES.fullmatch(text):
        return found["text"].strip()
    if found := _FENCE.match(text):
        return text[found.end() :].replace(f"{found['name']}>>", "", 1).strip()
    return text[found.end() :] if (found := _LABEL.match(text)) else text


class TypedAnswer(CategoryJson):
    """The JSON reply to the taxonomy-aware prompt: why, which type, and the answer."""

    answer: str


@lru_cache(maxsize=8)
def _schema(tokens: int) -> tuple[type[TypedAnswer], int]:
    """The reply with an answer of so many tokens, and the most characters that it may have.

    The server alone is told of them: without, a model that does not end would never close its JSON.
    """
    length = CHARACTERS * tokens

    class TaxonomyAwareJson(TypedAnswer):
        answer: Annotated[str, Field(json_schema_extra={"maxLength": length})]

    return TaxonomyAwareJson, length
