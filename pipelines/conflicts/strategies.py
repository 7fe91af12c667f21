"""Predicted types, and cited answers by four strategies (CONFLICTS, sections 4, 5.1)."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from os.path import commonprefix
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from nli.sentences import Span
from pipelines import prompts
from pipelines.conflicts.data import Query
from pipelines.conflicts.result import Answer, Sentence, Strategy
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.taxonomy import (
    CATEGORY,
    TAXONOMY,
    ConflictType,
    Prediction,
    decide,
    of_number,
)
from pipelines.prompts import Prompt
from pipelines.text.citations import cut_out, cuts, without_lists
from pipelines.text.declarative import affirmed
from pipelines.text.words import statements
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

Messages = list[dict[str, str]]

EXPLANATION_TOKENS: Final = 256
"""Maximum tokens of a category with its explanation."""

TypePrompt = Literal["taxonomy_aware", "classify", "classify_choice"]
"""Asks for type and answer at once, for the type with an explanation, or only for its number."""

VARIABLES: Final = {
    "answer": {"query", "results", "conflict"},
    "taxonomy_aware": {"query", "results", "taxonomy"},
    "classify": {"query", "results", "taxonomy"},
    "classify_choice": {"query", "results", "taxonomy"},
}
"""Prompt -> its variables."""


@dataclass(frozen=True)
class Writer:
    """A model with the prompts of `VARIABLES`, which begin with the same text for the same query.

    Attributes:
        client: The model.
        templates: Name -> prompt.
        settings: The variants.
    """

    client: Client
    templates: Mapping[str, Prompt]
    settings: ConflictsSettings

    @property
    def reply_tokens(self) -> int:
        """Maximum tokens of any reply; the longest has both type and answer."""
        return EXPLANATION_TOKENS + self.settings.answer_tokens

    @property
    def room(self) -> int:
        """Tokens that the sources must leave free, for the reply and for its judge's prompt.

        The judge of grounding sees the whole answer and a sentence of it.
        """
        read_again = 2 * self.settings.answer_tokens if self.settings.judge == "model" else 0
        return self.reply_tokens + read_again

    def asks_answer(self, query: Query, told: ConflictType | None) -> Messages:
        """The request for an answer; the vanilla request if no type is given."""
        return self.templates["answer"].messages(
            query=query.query,
            results=[source.as_read() for source in query.sources],
            conflict=None if told is None else CATEGORY[told],
        )

    def asks_type(self, template: TypePrompt, query: Query) -> Messages:
        """The request for a type, by one of the other prompts."""
        results = [source.as_read() for source in query.sources]
        return self.templates[template].messages(
            query=query.query, results=results, taxonomy=TAXONOMY
        )

    def longest(self, query: Query) -> Callable[[Query], Messages]:
        """The call with the longest prompt, of all that may be made about the query."""
        calls: list[Callable[[Query], Messages]] = [
            *(partial(self.asks_answer, told=told) for told in (None, *ConflictType)),
            partial(self.asks_type, "taxonomy_aware"),
            partial(self.asks_type, "classify"),
            partial(self.asks_type, "classify_choice"),
        ]
        texts = [call(query)[0]["content"] for call in calls]
        # The shared beginning, the sources, need not be counted to compare them.
        shared = len(commonprefix(texts))  # noqa: RUF071  characters are meant
        ends = [self.client.count([{"role": "user", "content": text[shared:]}]) for text in texts]
        return calls[ends.index(max(ends))]


def writer(client: Client, settings: ConflictsSettings, overrides: Path | None = None) -> Writer:
    """A writer with its prompts; InputError if a user's prompt cannot be used."""
    return Writer(client, prompts.load_all("conflicts", VARIABLES, overrides), settings)


NUMBERS: Final = tuple(str(category.number) for category in TAXONOMY)
"""The model's options: "1" to "5"."""


def by_yes_no(query: Query) -> Prediction:
    """The yes/no rule: opinions if a question asks for yes or no, else no conflict.

    It reads no source. These are the most frequent types of such questions and of others in
    CONFLICTS, where the former come from a collection of controversial questions (ConflictingQA).
    """
    asks = affirmed(query.query) is not None
    return Prediction(
        type=ConflictType.OPINIONS if asks else ConflictType.NO_CONFLICT,
        by="yes-no",
        explanation=f"The question {'asks' if asks else 'does not ask'} for yes or no; "
        "no source was read.",
    )


class CategoryJson(BaseModel):
    """The JSON reply of Figure 2: why, then which."""

    # The server gets the maximum length, so that a reply ends within its token limit. A longer
    # reply from a server that ignores the length stays readable.
    explanation: Annotated[str, told(maxLength=300)]
    category: Annotated[int, Field(ge=1, le=len(TAXONOMY), strict=True)]


async def by_json(query: Query, writer: Writer) -> Prediction:
    """p(t | T, q, C_q) as in the paper: an explanation and a number (Figure 2).

    Raises:
        RequestError: The sources do not fit the model's context.
        ServingError: No server is available.
    """
    reply = await writer.client.structured(
        writer.asks_type("classify", query),
        CategoryJson,
        Sampling(max_tokens=EXPLANATION_TOKENS),
        affinity=query.query,
    )
    if reply.value is None:
        return Prediction(type=None, by="json", problem=reply.problem, raw=reply.raw)
    return explained(reply.value)


def explained(reply: CategoryJson) -> Prediction:
    """The prediction in a readable reply."""
    return Prediction(
        type=of_number(reply.category), by="json", explanation=reply.explanation.strip()
    )


async def by_choice(query: Query, writer: Writer) -> Prediction:
    """p(t | T, q, C_q) as the probabilities of the five numbers, in one token.

    Raises:
        RequestError, ServingError: As `by_json`.
    """
    choice = await writer.client.choose(
        writer.asks_type("classify_choice", query), NUMBERS, affinity=query.query
    )
    shares = {of_number(int(label)): p for label, p in choice.probabilities.items()}
    likely = decide(shares)
    return Prediction(
        type=likely,
        by="choice",
        probabilities=shares,
        mass=choice.mass,
        problem=choice.problem,
    )


_CODE = re.compile(r"```\w*\n(?P<text>(?:(?!```).)*)```", re.DOTALL)
_QUOTES = re.compile(r"[\"“](?P<text>[^\"“”]+)[\"”]")
_FENCE = re.compile(r"<<(?P<name>[A-Z][A-Z0-9 ]*(?: [0-9a-f]{4,64})?)\s*\n")
_LABEL = re.compile(r"(?:#{1,6}[ \t]+)?\*{0,2}answer\*{0,2}:\*{0,2}\s*", re.IGNORECASE)


async def answer(
    strategy: Strategy, query: Query, writer: Writer, predicted: Prediction | None = None
) -> Answer:
    """Answer a query by a strategy.

    - Vanilla, p(y | q, C_q): the model sees the query and the sources.
    - Pipeline, p(y | q, C_q, t^): it is told the predicted type with its definition (appendix B).
      If the type could not be read, the request is the same as Vanilla's.
    - Taxonomy-aware, p(t, y | T, q, C_q): the model explains and names the type, then answers, all
      in one reply.
    - Oracle, p(y | q, C_q, t*): it is told the annotators' type.

    Args:
        strategy: Its name.
        query: As the writer sees it.
        writer: The model.
        predicted: The type for Pipeline.

    Raises:
        ValueError: The query has no annotated type for Oracle.
        RequestError: The sources do not fit the model's context.
        ServingError: No server is available.
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
                    f"query '{query.id}' has no annotated conflict type, which Oracle needs"
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
    """An answer without the wrapping that models add: a fence, a code block, quotes, "Answer:".

    Only text around the whole reply is removed; the rest stays as written.
    """
    text = reply.strip()
    while (inner := _inner(text)) != text:
        text = inner
    return text


def _inner(text: str) -> str:
    if match := _CODE.fullmatch(text) or _QUOTES.fullmatch(text):
        return match["text"].strip()
    if match := _FENCE.match(text):
        return text[match.end() :].replace(f"{match['name']}>>", "", 1).strip()
    return text[match.end() :] if (match := _LABEL.match(text)) else text


class TypedAnswer(CategoryJson):
    """The JSON reply to the taxonomy-aware prompt: why, which type, and the answer."""

    answer: str


# The number of a list item within a line.
_NUMBERED = re.compile(r"(?<!\S)[*_]{0,2}\(?([1-9][0-9]?)[.)][*_]{0,2}(?=\s|\Z)")
_BEFORE_ITEM = re.compile(r"(?:[.!…:;][\"'”’»)*_]*|\n|\A)[ \t]*\Z")
_CLOSED = re.compile(r"(?<=[.!?…])[*_]{1,3}(?=\s|\Z)")


def cited_sentences(text: str, sources: int) -> tuple[Sentence, ...]:
    """Split an answer into sentences, each with the sources that it cites.

    Citations are "[1]", "[1][2]", "[1, 2]", "[1-3]", "[Source 2]", "[^1]", "¹" and the like; lists
    of sources are left out (see `pipelines.text.citations`). A citation belongs to the sentence
    that contains it, and also if it stands after the full stop or alone on the next line. One that
    begins a line, or is the subject of a sentence ("[2] says otherwise"), belongs to the next one.
    Other brackets, and links with link text, stay in the sentence. If a sentence would lack a noun
    without its citation, it gets one: "According to [2]", "According to source 2".

    Args:
        text: Any text.
        sources: Number of sources, counted from 1.

    Returns:
        Its statements (`pipelines.text.words`) in their order; numbers of list items followed by
        nothing are left out too.
    """
    text = without_lists(text)
    marks = list(cuts(text))
    plain, places, subjects = cut_out(text, marks)
    marked = {place + len(mark.glue) for mark, place in zip(marks, places, strict=True)}
    spans = _spans(_splittable(plain, subjects), _items(plain, marked))
    cited: list[list[int]] = [[] for _ in spans]
    current = 0
    for mark, place in zip(marks, places, strict=True) if spans else ():
        while current + 1 < len(spans) and spans[current + 1].start < place:
            current += 1
        behind = current + 1 < len(spans) and spans[current].end <= place
        cited[current + 1 if mark.follows and behind else current] += mark.numbers
    return tuple(
        Sentence(
            text=" ".join(plain[span.start : span.end].split()),
            cites=tuple(dict.fromkeys(n for n in numbers if 1 <= n <= sources)),
            unknown=tuple(dict.fromkeys(n for n in numbers if not 1 <= n <= sources)),
        )
        for span, numbers in zip(spans, cited, strict=True)
    )


def _items(plain: str, marked: Collection[int]) -> dict[int, int]:
    """Start of each numbered list item -> end of its number.

    A list has at least the items 1 and 2. Each number begins a line, or follows a sentence, a
    colon, a semicolon or a citation, and the text after it does not begin in lower case. So the 12
    in "How many? It has 12. It shut." is not an item.
    """
    items: dict[int, int] = {}
    run: list[tuple[int, int]] = []
    for match in _NUMBERED.finditer(plain):
        start, end = match.span()
        stands = start in marked or _BEFORE_ITEM.search(plain[max(0, start - 10) : start])
        number = int(match[1])
        if not stands or plain[end : end + 9].lstrip(" \t")[:1].islower():
            continue
        if number == 1:
            run = []
        if number == len(run) + 1:
            run.append((start, end))
            if number > 1:
                items.update(run)
    return items


def _spans(text: str, items: Mapping[int, int]) -> list[Span]:
    """The sentences; each list item begins one, at its number."""
    spans: list[Span] = []
    for start, end in pairwise([0, *(item for item in items if item), len(text)]):
        for span in statements(text[start:end]):
            sentence = Span(start + span.start, start + span.end)
            if items.get(sentence.start) != sentence.end:
                spans.append(sentence)
    return spans


def _splittable(plain: str, subjects: Sequence[int]) -> str:
    """The text at the same length, changed for a splitter that does not know Markdown.

    The splitter begins no sentence at a lower-case letter, so a verb without its subject gets a
    capital; emphasis that ends after a full stop becomes quotes.
    """
    letters = list(plain)
    for place in subjects:
        letters[place] = "X"
    return _CLOSED.sub(lambda match: '"' * len(match.group()), "".join(letters))
