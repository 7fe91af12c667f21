"""Four ways to ask for an answer: vanilla, pipeline, taxonomy-aware, oracle (section 5.1)."""

import re

from pipelines.conflicts.citations import cited_sentences
from pipelines.conflicts.classification import CategoryJson, explained
from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.question import Query
from pipelines.conflicts.result import Answer, Strategy
from pipelines.conflicts.writer import Writer
from serving.calls import Sampling

_CODE = re.compile(r"```\w*\n(?P<text>(?:(?!```).)*)```", re.DOTALL)
_QUOTES = re.compile(r"[\"“](?P<text>[^\"“”]+)[\"”]")
_FENCE = re.compile(r"<<(?P<name>[A-Z][A-Z0-9 ]*(?: [0-9a-f]{4,64})?)\s*\n")
_LABEL = re.compile(r"(?:#{1,6}[ \t]+)?\*{0,2}answer\*{0,2}:\*{0,2}\s*", re.IGNORECASE)


async def answer(
    strategy: Strategy, query: Query, writer: Writer, predicted: Prediction | None = None
) -> Answer:
    """What a strategy answers.

    - Vanilla, p(y | q, C_q): the model sees the query and the sources.
    - Pipeline, p(y | q, C_q, t^): it is told the predicted type with its definition (appendix B),
      and, if the settings say so, what is expected then. Where there is no type to tell, for a
      classifier abstains or could not be read, the request is vanilla's very own, and its answer
      comes from the cache.
    - Taxonomy-aware, p(t, y | T, q, C_q): the model explains and names the type, then answers, all
      in one reply.
    - Oracle, p(y | q, C_q, t*): it is told the type that annotators gave.

    Args:
        strategy: Its name.
        query: As the writer sees it.
        writer: The model.
        predicted: What Pipeline is told.

    Raises:
        ValueError: Nobody gave the query a type that Oracle could tell.
        RequestError: The sources do not fit the model's context.
        ServingError: No server can be had.
    """
    match strategy:
        case "vanilla":
            told = None
        case "pipeline":
            told = predicted.type if predicted else None
        case "taxonomy-aware":
            return await _typed(query, writer)
        case "oracle":
            told = query.conflict_type
            if told is None:
                raise ValueError(
                    f"query '{query.id}' has no conflict type that an oracle could tell"
                )
    reply = await writer.client.chat(
        writer.asks_answer(query, told),
        Sampling(max_tokens=writer.settings.answer_tokens),
        affinity=query.query,
    )
    made = _read(reply.text, query)
    return made.model_copy(update={"told": told, "finished": reply.finished})


async def _typed(query: Query, writer: Writer) -> Answer:
    reply = await writer.client.structured(
        writer.asks_type("taxonomy_aware", query),
        TypedAnswer,
        Sampling(max_tokens=writer.reply_tokens),
        affinity=query.query,
        partial="text",
    )
    if reply.value is None:
        return Answer(text="", problem=reply.problem, raw=reply.raw)
    made = _read(reply.value.answer, query)
    update = {
        "prediction": explained(reply.value),
        "raw": reply.raw if made.problem else None,
        "finished": not reply.cut,
    }
    return made.model_copy(update=update)


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
