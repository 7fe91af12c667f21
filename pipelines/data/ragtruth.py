"""Reads RAGTruth (Niu et al. 2024): responses with hallucinated spans, and their sources.

Format of `dataset/` in github.com/ParticleMedia/RAGTruth. `response.jsonl` has one response per
line with `id`, `source_id`, `model`, `temperature`, `labels` (spans: `start`, `end`, `text`,
`meta`, `label_type`, `implicit_true`, `due_to_null`), `split`, `quality` and `response`.
`source_info.jsonl` has one source per line with `source_id`, `task_type`, `source`, `source_info`
(a text for Summary, an object with `question` and `passages` for QA, a table for Data2txt) and
`prompt`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from pipelines.data.records import Text
from pipelines.data.released import cleaned, entries, read_records, record
from pipelines.errors import InputError

NAME = "RAGTruth"

SpanType = Literal[
    "Evident Conflict", "Subtle Conflict", "Evident Baseless Info", "Subtle Baseless Info"
]

CONFLICTS: frozenset[SpanType] = frozenset({"Evident Conflict", "Subtle Conflict"})
"""The types of spans that contradict the source; the others are merely unsupported."""

SourceName = Annotated[Text, Field(max_length=150)]
"""Limited because passage ids, of at most 200 characters, contain it."""

_PASSAGE = re.compile(r"^passage \d+:", re.IGNORECASE | re.MULTILINE)


class HallucinatedSpan(BaseModel, frozen=True):
    """Characters `start` to `end` (exclusive) of a response that its source does not support.

    Attributes:
        label_type: Conflict with the source, or an addition to it; evident or subtle.
        meta: The annotator's remark; for conflicts it often quotes the source after "Original:".
        implicit_true: True, although the source does not say it.
        due_to_null: Caused by an empty field of a table.
    """

    start: Annotated[int, Field(ge=0)]
    end: int
    label_type: SpanType
    meta: Annotated[str, BeforeValidator(lambda given: given or "")] = ""
    implicit_true: bool = False
    due_to_null: bool = False


class Response(BaseModel, frozen=True):
    """One response of a model, with its hallucinated spans, if any.

    The split is the release's; quality is "good", or says what is wrong with the whole response.
    """

    id: Text
    source_id: SourceName
    response: str
    labels: tuple[HallucinatedSpan, ...]
    split: Literal["train", "test"]
    quality: str = "good"

    @model_validator(mode="after")
    def _check(self) -> Self:
        for span in self.labels:
            if not span.start < span.end <= len(self.response):
                raise ValueError(
                    f"the span {span.start}-{span.end} lies outside the response "
                    f"({len(self.response)} characters)"
                )
        return self


class Source(BaseModel, frozen=True):
    """A text (Summary), a question with passages (QA), or a table (Data2txt) to write from."""

    source_id: SourceName
    task_type: Literal["QA", "Summary", "Data2txt"]
    source_info: str | dict[str, Any]

    def passages(self) -> tuple[str, ...]:
        """The texts of the source."""
        if isinstance(self.source_info, str):
            return cleaned([self.source_info])
        if self.task_type == "Data2txt":
            return cleaned(table_texts(self.source_info))
        return cleaned(_PASSAGE.split(str(self.source_info.get("passages") or "")))


def table_texts(table: Mapping[str, Any]) -> list[str]:
    """A table as texts: one with its fields, a line each, and one per entry of its lists.

    For a business, name, hours and attributes are one text, and every review is another.
    """
    lists = [value for value in table.values() if isinstance(value, list)]
    fields = {name: value for name, value in table.items() if not isinstance(value, list)}
    return [
        "\n".join(_fields(part)) for part in (fields, *(item for items in lists for item in items))
    ]


def _fields(value: object, name: str = "") -> Iterator[str]:
    """Lines "field: value"; fields of a nested object are prefixed with its name."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _fields(inside, f"{name}, {_words(key)}" if name else _words(key))
    else:
        text = "not given" if value is None else str(value)
        yield f"{name}: {text}" if name else text


def _words(field: str) -> str:
    return field.replace("_", " ")


class Release(NamedTuple):
    """Responses in file order, and one line per skipped response with the reason."""

    responses: tuple[Response, ...]
    skipped: tuple[str, ...] = ()


def read(path: Path) -> Release:
    """The responses of `response.jsonl`.

    A malformed response (a span beyond the text, a span type unknown to the paper) is skipped; the
    others can still be used.

    Raises:
        InputError: As `entries`, or no response is in the format.
    """
    kept: list[Response] = []
    skipped: list[str] = []
    for entry in entries(path):
        try:
            kept.append(record(entry, Response, NAME))
        except InputError as error:
            skipped.append(str(error))
    if not kept and skipped:
        raise InputError(skipped[0])
    return Release(tuple(kept), tuple(skipped))


def read_sources(path: Path) -> dict[str, Source]:
    """Source id -> source, of `source_info.jsonl`; raises as `read_records`."""
    return {source.source_id: source for source in read_records(path, Source, NAME)}
