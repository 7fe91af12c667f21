"""A neutral response, the arguments it was to be written from, and both as text."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from nli.sentences import sentences
from pipelines.data.records import Text
from pipelines.data.text import read_text
from pipelines.errors import InputError
from salience.words import Word, content_words

Side = Literal["pro", "con"]
SIDES: tuple[Side, Side] = ("pro", "con")

OPENING = "People see this differently. Here is what both sides say."
"""The sentence that leads from the question to the arguments, unless an example has its own."""

Arguments = Annotated[tuple[Text, ...], Field(min_length=1)]


class Debate(BaseModel, frozen=True, extra="forbid"):
    """A user's question, and arguments for and against what it asks."""

    question: Text
    pro: Arguments
    con: Arguments

    def arguments(self, side: Side) -> tuple[str, ...]:
        """The arguments of a perspective."""
        return self.pro if side == "pro" else self.con


class Perspectives(Debate):
    """What is to be answered, and from what: as many arguments of either side.

    The question is the topic's own: pro and con are for and against what it asks, which a query in
    other words may ask the other way round.
    """

    topic: Text


class NpovExample(Debate):
    """A query-response pair (NPOV, section 2.1); the response is without its opening sentence."""

    response: Text
    topic: Text | None = None
    opening: Text = OPENING


def read_example(path: Path) -> NpovExample:
    """An example from a JSON file.

    Raises:
        InputError: The file is missing or not JSON, or a field is missing, wrong or unknown.
    """
    try:
        value = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON ({error.msg}); mend the file") from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number too long
        raise InputError(f"{path}: not JSON that can be read ({error}); mend the file") from error
    return example(value, str(path))


def example(value: object, where: str) -> NpovExample:
    """An example from its fields, which come from `where`.

    Raises:
        InputError: A field is missing, wrong or unknown.
    """
    try:
        return NpovExample.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{where}: {field + ': ' if field else ''}"
            f"{first['msg'].removeprefix('Value error, ')}; an example has question, pro, con and "
            "response"
        ) from error


Span = tuple[int, int]
"""Characters [start, end)."""

Spans = Mapping[Side, tuple[Span, ...]]
"""Side -> where each of its arguments stands in a text."""

_UNBRACED = str.maketrans("{}", "()")


@dataclass(frozen=True)
class NpovPrompt:
    """What a model reads before it writes a response, up to the brace that this stands in."""

    text: str
    spans: Spans


def npov_prompt(example: NpovExample) -> NpovPrompt:
    """The input sequence of figure 3 and the target's opening; the response is not looked at."""
    text, spans = _input_sequence(example)
    return NpovPrompt(f"{text}{unbraced(example.opening)}}}\nNeutral response core: {{", spans)


def input_text(given: NpovExample | Perspectives) -> str:
    """The input sequence of figure 3, up to the brace that the opening stands in."""
    return _input_sequence(given)[0]


def response_pair(example: NpovExample) -> tuple[str, str]:
    """Input and target sequence of figure 3, to tune a response generator on.

    The opening sentence is the target's, as in the figure; `npov_prompt` continues it.
    """
    given = input_text(example)
    opening = npov_prompt(example).text.removeprefix(given)
    return given, f"{opening}{unbraced(example.response)}}}"


def _input_sequence(given: NpovExample | Perspectives) -> tuple[str, Spans]:
    text = f"User question: {{{unbraced(given.question)}}}\n"
    if given.topic:
        text += f"Topic: {{{unbraced(given.topic)}}}\n"
    spans: dict[Side, tuple[Span, ...]] = {}
    for number, side in enumerate(SIDES, 1):
        text += f"Perspective #{number}: {{"
        found = []
        for place, argument in enumerate(map(unbraced, given.arguments(side))):
            text += f"{' ' if place else ''}{side}: "
            found.append((len(text), len(text) + len(argument)))
            text += argument
        spans[side] = tuple(found)
        text += "}\n"
    return f"{text}Neutral response opening: {{", spans


def unbraced(text: str) -> str:
    """A text as it stands within braces: its white space made even, its own braces parentheses."""
    return as_read(text).translate(_UNBRACED)


def as_read(response: str) -> str:
    """A response as a model reads it: its white space made even."""
    return " ".join(response.split())


def argument_spans(prompt: NpovPrompt) -> list[Span]:
    """Where the arguments of both sides stand in a prompt, those of the pro side first."""
    return [span for side in SIDES for span in prompt.spans[side]]


class Words(NamedTuple):
    """Content words of each argument, and of each sentence; places are of prompt and response."""

    given: tuple[tuple[Word, ...], ...]
    response: tuple[tuple[Word, ...], ...]


def arguments_read(example: NpovExample) -> list[str]:
    """Arguments as a model reads them, those of the pro side first."""
    return [unbraced(each) for side in SIDES for each in example.arguments(side)]


def sentences_read(example: NpovExample) -> list[str]:
    """Sentences of the response as a model reads it."""
    response = as_read(example.response)
    return [response[span.start : span.end] for span in sentences(response)]


_SPEECH = re.compile(
    r"^(?:(?:(?:on|in|at|by|for|from|to) [\w' -]{1,30}|\w+), )?(?:(?!\bthat\b)[\w' -]){1,40}\b"
    r"(?:say|argue|hold|add|claim|believe|maintain|contend|object|counter|point out|note|insist|"
    r"think|feel|warn|fear|suggest|reply|respond|stress)(?:s|es|d|ed)? that (?=\S)",
    re.IGNORECASE,
)


def what_is_said(sentence: str) -> str:
    """A sentence without who says it: "Critics say that it is dear" becomes "it is dear".

    Otherwise a tagger judges whether an argument supports that critics say so.
    """
    return _SPEECH.sub("", sentence)


def words_read(example: NpovExample) -> Words:
    """Content words for detectors that have no tokens: each is a word of one token, the text."""
    prompt, response = npov_prompt(example), as_read(example.response)
    text, base = prompt.text + response, len(prompt.text)
    whole = [(0, len(text))]
    spans = [(base + span.start, base + span.end) for span in sentences(response)]
    given, said = (
        tuple(tuple(content_words(text, whole, span)) for span in own)
        for own in (argument_spans(prompt), spans)
    )
    return Words(given, said)
