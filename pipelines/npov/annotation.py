"""Examples whose errors are known: annotated by people, or put in on purpose.

A file has one JSON object per line: the fields of an example (`question`, `pro`, `con`, `response`,
and `topic` and `opening` if wanted), `id`, and

    hallucination, coverage    "none", "full" (a whole argument) or "ambiguous" (a part of one, a
                               repetition, sides confused); "none" where they are left out
    hallucinated               parts of the response that rest on no argument, quoted
    uncovered                  parts of arguments that the response has not, quoted
    said                       where the response has each argument, quoted, by side and in order;
                               null for an argument that it has not: {"pro": ["it is cheap"], ...};
                               tells which words are wrong where an argument is taken away
    votes                      where several people annotated it, what each of them said, by name:
                               {"ann": {"hallucination": "none", "coverage": "full"}, ...}; what
                               stands in the line itself counts, and they are compared with it

A quote must stand exactly once, in the response or among the arguments: with white space made even,
else as it is. Lines without quotes count for whole responses and not for words.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, model_validator

from pipelines.data.records import Text
from pipelines.data.released import entries, record
from pipelines.errors import InputError
from pipelines.npov.example import SIDES, NpovExample, Side, Span, as_read, unbraced

Error = Literal["none", "full", "ambiguous"]
"""Whether there is an error, and whether it is one of a whole argument (NPOV, section 3)."""


class Vote(BaseModel, frozen=True, extra="forbid"):
    """Which errors one annotator found in a response; None of what was not asked."""

    hallucination: Error | None = None
    coverage: Error | None = None


class Omission(BaseModel, frozen=True):
    """A part of an argument, the n-th of a side from 0, that the response has not.

    The span is of the argument as a model reads it.
    """

    side: Side
    argument: int
    span: Span


class AnnotatedExample(BaseModel, frozen=True):
    """An example whose errors are known.

    Attributes:
        source: The `id` of the example without error that it was made from; its own of others.
        hallucination: Whether the response has an argument that is not given.
        coverage: Whether an argument is given that the response has not.
        hallucinated: Characters of the response as a model reads it; None where words are not
            annotated.
        uncovered: Parts of arguments, likewise.
        said: Side -> of each argument the characters of the response that say it, None where that
            is not known; None where nobody marked them.
        overlap: Mean share of the arguments' stems that the response without error has, where
            there is one.
        votes: What each annotator said, by name, where there are several.
    """

    id: str
    source: str
    example: NpovExample
    hallucination: Error = "none"
    coverage: Error = "none"
    hallucinated: tuple[Span, ...] | None = ()
    uncovered: tuple[Omission, ...] | None = ()
    said: Mapping[Side, tuple[Span | None, ...]] | None = None
    overlap: float | None = None
    votes: Mapping[str, Vote] = {}

    @property
    def error_free(self) -> bool:
        """Whether the response has neither error."""
        return self.hallucination == self.coverage == "none"


class _Line(NpovExample):
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
                raise ValueError(f"'{named}' has quotes of an error, but there is said to be none")
        return self


def read(path: Path) -> list[AnnotatedExample]:
    """The examples of a file, in its order.

    Raises:
        InputError: The file cannot be read, a line is of another format, an id stands twice, or a
            quote does not stand exactly once.
    """
    found: dict[str, AnnotatedExample] = {}
    for entry in entries(path):
        line = record(entry, _Line, "annotated responses")
        if line.id in found:
            raise InputError(f"{entry.where}: the id '{line.id}' stands twice; change one of them")
        try:
            found[line.id] = _annotated(line)
        except ValueError as error:
            raise InputError(f"{entry.where}: {error}") from error
    return list(found.values())


def _annotated(line: _Line) -> AnnotatedExample:
    places = [(side, n) for side in SIDES for n in range(len(line.arguments(side)))]
    arguments = [unbraced(text) for side in SIDES for text in line.arguments(side)]
    uncovered = hallucinated = None
    if line.uncovered or line.coverage == "none":
        uncovered = tuple(
            Omission(side=places[text][0], argument=places[text][1], span=span)
            for text, span in (_place(unbraced(q), arguments) for q in line.uncovered or ())
        )
    if line.hallucinated or line.hallucination == "none":
        response = [as_read(line.response)]
        hallucinated = tuple(_place(as_read(q), response)[1] for q in line.hallucinated or ())
    said = None
    if line.said is not None:
        response = [as_read(line.response)]
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
    """The text that a quote stands in, and where; a `ValueError` unless it stands exactly once."""
    found = [
        (number, start)
        for number, text in enumerate(texts)
        for start in range(len(text))
        if text.startswith(quote, start)
    ]
    if len(found) != 1:
        times = f"{len(found)} times" if found else "nowhere"
        raise ValueError(f"the quote '{quote}' stands {times}; quote what stands once")
    number, start = found[0]
    return number, (start, start + len(quote))
