"""Neutral responses, the arguments that they should be written from, and their errors.

A file of annotated responses has one JSON object per line: the fields of an example (`question`,
`pro`, `con`, `response`, and optionally `topic` and `opening`), `id`, and

    hallucination, coverage    "none", "full" (a whole argument) or "ambiguous" (a part of one, a
                               repetition, sides confused); "none" by default
    hallucinated               quotes of parts of the response that rest on no argument
    uncovered                  quotes of parts of arguments that are missing from the response
    said                       quotes from the response for each argument, by side and in order;
                               null for a missing argument: {"pro": ["it is cheap"], ...}; shows
                               which words become wrong if an argument is taken away
    votes                      if several people annotated it, their labels by name:
                               {"ann": {"hallucination": "none", "coverage": "full"}, ...}; the
                               labels above are the truth that votes are compared with

A quote must occur exactly once in the response or the arguments; only white space may differ.
Lines without quotes are used to evaluate whole responses, but not words.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from nli.sentences import sentences
from pipelines.data.records import Text
from pipelines.data.released import entries, record
from pipelines.data.text import read_text
from pipelines.errors import InputError
from salience.words import Word, content_words
from serving.errors import in_our_words

Side = Literal["pro", "con"]
SIDES: tuple[Side, Side] = ("pro", "con")

OPENING = "People see this differently. Here is what both sides say."
"""The sentence that leads from the question to the arguments, unless an example has its own."""

Arguments = Annotated[tuple[Text, ...], Field(min_length=1)]


class Debate(BaseModel, frozen=True, extra="forbid"):
    """A user's question, and arguments for and against its proposal.

    A side is empty if its only argument was taken away to make an error.
    """

    question: Text
    pro: tuple[Text, ...]
    con: tuple[Text, ...]

    def arguments(self, side: Side) -> tuple[str, ...]:
        """The arguments of a perspective."""
        return self.pro if side == "pro" else self.con

    @property
    def places(self) -> list[tuple[Side, int]]:
        """The side of every argument and its number there, the pro side's first."""
        return [(side, number) for side in SIDES for number in range(len(self.arguments(side)))]


class Perspectives(Debate):
    """A question to answer, and equally many arguments on both sides.

    The question is the topic's, not the user's query: pro and con are for and against its proposal,
    which a differently worded query may reverse.
    """

    topic: Text
    pro: Arguments
    con: Arguments


class NpovExample(Debate):
    """A query-response pair (NPOV, section 2.1); the response excludes its opening sentence."""

    response: Text
    topic: Text | None = None
    opening: Text = OPENING


class _Given(NpovExample):
    """An example as users give it."""

    pro: Arguments
    con: Arguments


def read_example(path: Path) -> NpovExample:
    """Read an example from a JSON file.

    Raises:
        InputError: The file is missing or not JSON, or a field is missing, wrong or unknown.
    """
    try:
        value = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON ({error.msg}); fix the file") from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number too long
        raise InputError(f"{path}: not JSON that can be read ({error}); fix the file") from error
    return example(value, str(path))


def example(value: object, where: str) -> NpovExample:
    """An example from its fields, which come from `where`.

    Raises:
        InputError: A field is missing, wrong or unknown.
    """
    try:
        return NpovExample(**_Given.model_validate(value).model_dump())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{where}: {field + ': ' if field else ''}"
            f"{in_our_words(first['msg'])}; an example has question, pro, con and "
            "response"
        ) from error


Span = tuple[int, int]
"""Characters [start, end)."""

Spans = Mapping[Side, tuple[Span, ...]]
"""Side -> the spans of its arguments in a text."""

_UNBRACED = str.maketrans("{}", "()")


@dataclass(frozen=True)
class NpovPrompt:
    """The text before a response, up to the brace that the response is written in."""

    text: str
    spans: Spans


def npov_prompt(example: NpovExample) -> NpovPrompt:
    """The input sequence of figure 3 and the target's opening; the response is not used."""
    text, spans = _input_sequence(example)
    return NpovPrompt(f"{text}{unbraced(example.opening)}}}\nNeutral response core: {{", spans)


def input_text(given: NpovExample | Perspectives) -> str:
    """The input sequence of figure 3, up to the brace of the opening."""
    return _input_sequence(given)[0]


def response_pair(example: NpovExample) -> tuple[str, str]:
    """Input and target sequence of figure 3, to tune a response generator on.

    As in the figure, the target begins with the opening sentence, which `npov_prompt` includes.
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
        places = []
        for place, argument in enumerate(map(unbraced, given.arguments(side))):
            text += f"{' ' if place else ''}{side}: "
            places.append((len(text), len(text) + len(argument)))
            text += argument
        spans[side] = tuple(places)
        text += "}\n"
    return f"{text}Neutral response opening: {{", spans


def unbraced(text: str) -> str:
    """A text for use within braces: white space normalised, braces turned into parentheses."""
    return as_read(text).translate(_UNBRACED)


def as_read(response: str) -> str:
    """A response as a model reads it: with white space normalised."""
    return " ".join(response.split())


def argument_spans(prompt: NpovPrompt) -> list[Span]:
    """Spans of both sides' arguments in a prompt, those of the pro side first."""
    return [span for side in SIDES for span in prompt.spans[side]]


class Words(NamedTuple):
    """Content words of every argument and every sentence; places are in prompt and response."""

    given: tuple[tuple[Word, ...], ...]
    response: tuple[tuple[Word, ...], ...]


def arguments_read(example: NpovExample) -> list[str]:
    """Arguments as a model reads them, those of the pro side first."""
    return [unbraced(argument) for side in SIDES for argument in example.arguments(side)]


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
    """A sentence without its speaker: "Critics say that it is dear" becomes "it is dear".

    Otherwise a tagger would judge whether an argument shows that critics say so.
    """
    return _SPEECH.sub("", sentence)


def said_in(example: NpovExample) -> list[str]:
    """Sentences of the response as a model reads it, without their speakers."""
    return [what_is_said(sentence) for sentence in sentences_read(example)]


def words_read(example: NpovExample) -> Words:
    """Content words for detectors without a tokenizer: the whole text counts as one token."""
    prompt, response = npov_prompt(example), as_read(example.response)
    text, base = prompt.text + response, len(prompt.text)
    whole = [(0, len(text))]
    spans = [(base + span.start, base + span.end) for span in sentences(response)]
    given, said = (
        tuple(tuple(content_words(text, whole, span)) for span in part)
        for part in (argument_spans(prompt), spans)
    )
    return Words(given, said)


Error = Literal["none", "full", "ambiguous"]
"""No error, one of a whole argument, or an ambiguous one (NPOV, section 3)."""


class Vote(BaseModel, frozen=True, extra="forbid"):
    """One annotator's labels for a response; None if not asked."""

    hallucination: Error | None = None
    coverage: Error | None = None


class Omission(BaseModel, frozen=True):
    """A part of an argument that is missing from the response.

    `argument` counts from 0 within the side. The span is in the argument as a model reads it.
    """

    side: Side
    argument: int
    span: Span


class AnnotatedExample(BaseModel, frozen=True):
    """An example with known errors.

    Attributes:
        source: The `id` of the error-free example that it was made from, or its own `id`.
        hallucination: Whether the response has an argument that is not given.
        coverage: Whether a given argument is missing from the response.
        hallucinated: Spans of the response as a model reads it; None if words are not annotated.
        uncovered: Parts of arguments; None if words are not annotated.
        said: Side -> for each argument the span of the response that says it, None if unknown;
            None if not annotated.
        votes: Labels by annotator name, if there are several.
    """

    id: str
    source: str
    example: NpovExample
    hallucination: Error = "none"
    coverage: Error = "none"
    hallucinated: tuple[Span, ...] | None = ()
    uncovered: tuple[Omission, ...] | None = ()
    said: Mapping[Side, tuple[Span | None, ...]] | None = None
    votes: Mapping[str, Vote] = {}

    @property
    def error_free(self) -> bool:
        """Whether the response has neither error."""
        return self.hallucination == self.coverage == "none"

    def error(self, kind: Literal["hallucination", "coverage"]) -> Error:
        """The label for a kind of error."""
        return self.hallucination if kind == "hallucination" else self.coverage


class _Line(_Given):
    id: Text
    hallucination: Error = "none"
    coverage: Error = "none"
    hallucinated: tuple[Text, ...] | None = None
    uncovered: tuple[Text, ...] | None = None
    said: Mapping[Side, tuple[Text | None, ...]] | None = None
    votes: Mapping[Text, Vote] = {}

    @model_validator(mode="after")
    def _all_arguments(self) -> Self:
        if self.said is not None:
            for side in SIDES:
                if len(self.said.get(side, ())) != len(self.arguments(side)):
                    raise ValueError(f"'said' must have a quote or null for each {side} argument")
        return self

    @model_validator(mode="after")
    def _quotes_of_errors(self) -> Self:
        for error, quotes, named in (
            (self.hallucination, self.hallucinated, "hallucinated"),
            (self.coverage, self.uncovered, "uncovered"),
        ):
            if error == "none" and quotes:
                raise ValueError(f"'{named}' quotes an error, but its label is none")
        return self


def read_annotated(path: Path) -> list[AnnotatedExample]:
    """Read the examples of a file, in its order.

    Raises:
        InputError: The file cannot be read, a line has another format, an id is repeated, or a
            quote does not occur exactly once.
    """
    examples: dict[str, AnnotatedExample] = {}
    for entry in entries(path):
        line = record(entry, _Line, "annotated responses")
        if line.id in examples:
            raise InputError(f"{entry.where}: the id '{line.id}' appears twice; change one of them")
        try:
            examples[line.id] = _annotated(line)
        except ValueError as error:
            raise InputError(f"{entry.where}: {error}") from error
    return list(examples.values())


def _annotated(line: _Line) -> AnnotatedExample:
    places, arguments = line.places, arguments_read(line)
    uncovered = hallucinated = None
    if line.uncovered or line.coverage == "none":
        uncovered = tuple(
            Omission(side=places[text][0], argument=places[text][1], span=span)
            for text, span in (_place(unbraced(q), arguments) for q in line.uncovered or ())
        )
    response = [as_read(line.response)]
    if line.hallucinated or line.hallucination == "none":
        hallucinated = tuple(_place(as_read(q), response)[1] for q in line.hallucinated or ())
    said = None
    if line.said is not None:
        said = {
            side: tuple(None if q is None else _place(as_read(q), response)[1] for q in quotes)
            for side, quotes in line.said.items()
        }
    return AnnotatedExample(
        id=line.id,
        source=line.id,
        example=NpovExample(**line.model_dump(include=set(NpovExample.model_fields))),
        hallucination=line.hallucination,
        coverage=line.coverage,
        hallucinated=hallucinated,
        uncovered=uncovered,
        said=said,
        votes=line.votes,
    )


def _place(quote: str, texts: Sequence[str]) -> tuple[int, Span]:
    """The number of the text with a quote, and its span; ValueError unless it occurs just once."""
    places = [
        (number, start)
        for number, text in enumerate(texts)
        for start in range(len(text))
        if text.startswith(quote, start)
    ]
    if len(places) != 1:
        times = f"{len(places)} times" if places else "nowhere"
        raise ValueError(f"the quote '{quote}' occurs {times}; quote a unique passage")
    number, start = places[0]
    return number, (start, start + len(quote))
