"""Replies by a schema: bounds that fail none, how one is read, what is whole of one cut short."""

import re
from functools import lru_cache, reduce
from json import JSONDecoder
from operator import getitem
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import from_json

from serving.calls import Schema

SHOWN = 100
"""Characters of a reply that its problem shows."""

_DECODER = JSONDecoder()
_REASONED = re.compile(r"\A(?:\s*<think>.*?(?:</think>|\Z)|[^{]*?</think>)", re.S)
_OPENING = re.compile(r'\{\s*"')
_LABEL = re.compile(r"'([^']+)'")
"""As pydantic lists the labels that it expects."""


def told(**bounds: int) -> Any:
    """A field whose bounds are told to the server, and not checked when its reply is read.

    `Annotated[str, told(maxLength=400)]`: a server that holds replies to their schema ends the text
    there, so that the model does not ramble; of one that does not, a longer text is read whole.
    """
    return Field(json_schema_extra=dict(bounds))


@lru_cache(maxsize=256)  # some schemas are made for one call
def form(schema: type[BaseModel]) -> dict[str, Any]:
    """How a reply is held to a schema."""
    form = {"name": schema.__name__, "schema": schema.model_json_schema(), "strict": True}
    return {"type": "json_schema", "json_schema": form}


def read(text: str, schema: type[Schema]) -> Schema:
    """A reply as the schema's model, with labels in any case.

    A server that holds no reply to its schema lets a model reason first, fence its JSON, and write
    before and after it. One object that fits is read there; of several that differ, none.

    Raises:
        ValueError: Nothing fits. Of the last object it is a ValidationError.
    """
    try:
        return schema.model_validate_json(text)
    except ValidationError as error:
        fault: ValueError = error
    fitting: list[Schema] = []
    for part in objects(text):
        try:
            fitting.append(_fitting(from_json(part), schema))
        except ValueError as error:
            fault = error
    if fitting and all(value == fitting[0] for value in fitting):
        return fitting[0]
    raise fault


def in_words(error: ValueError) -> str:
    """Why a reply cannot be read, and of what part of it the first fault is."""
    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors(include_url=False)[0]
    return ": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"])))


def how_it_begins(text: str) -> str:
    """What a problem says of a reply that cannot be read, in one line."""
    began = " ".join(text[:SHOWN].split())
    more = "…" if len(text) > SHOWN else ""
    return f"it begins “{began}{more}”" if began else "it is empty"


def objects(text: str) -> list[str]:
    """The JSON objects in a text behind its reasoning, outermost; the last may break off."""
    text = _REASONED.sub("", text, count=1)
    found: list[str] = []
    end = 0
    while opening := _OPENING.search(text, end):
        start = opening.start()
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return [*found, text[start:]]
        found.append(text[start:end])
    return found


Partial = Literal["items", "text"]
"""What is read of a reply that breaks off: whole items, or the last text as far as it goes, too."""


def whole_part(text: str, schema: type[Schema], part: Partial = "items") -> Schema | None:
    """A JSON object without what its end cut into: a last text, or a last item of a list.

    With "text" the last text is kept as far as it goes.

    Returns:
        None where nothing is left that fits the schema.
    """
    text = [text, *objects(text)][-1]
    try:
        value = from_json(text, allow_partial=True if part == "items" else "trailing-strings")
        return _fitting(value, schema, cut=True)
    except ValueError:
        return None


def _fitting(value: Any, schema: type[Schema], *, cut: bool = False) -> Schema:
    while True:
        try:
            return schema.model_validate(value)
        except ValidationError as error:
            if not _respelled(value, error) and not (cut and _without_last(value, error)):
                raise


def _respelled(value: Any, error: ValidationError) -> bool:
    """Spell labels as the schema does; False where none is merely in another case."""
    changed = False
    for fault in error.errors(include_url=False):
        if fault["type"] in {"literal_error", "enum"} and isinstance(fault["input"], str):
            *path, last = fault["loc"]
            for label in _LABEL.findall(fault["ctx"]["expected"]):
                if label.casefold() == fault["input"].strip().casefold():
                    reduce(getitem, path, value)[last] = label
                    changed = True
    return changed


def _without_last(value: Any, error: ValidationError) -> bool:
    """Take the last item out of a list that ends with the fault; False if that is elsewhere."""
    place = error.errors(include_url=False)[0]["loc"]
    if len(place) < 2 or not isinstance(value, dict):
        return False
    items = value.get(str(place[0]))
    if not isinstance(items, list) or place[1] != len(items) - 1:
        return False
    items.pop()
    return True
