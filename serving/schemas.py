"""Replies constrained by a schema: soft bounds, faults in words, the complete part of a cut one."""

from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import from_json

from serving.calls import Schema

SHOWN = 100
"""Characters of a reply that its problem shows."""

Partial = Literal["items", "text"]
"""How much of a cut reply is read: complete items, or also the last text as far as it goes."""


def told(**bounds: int) -> Any:
    """A field whose bounds are sent to the server, but not checked when its reply is read.

    `Annotated[str, told(maxLength=400)]`: a server that enforces the schema ends the text there, so
    that the model does not ramble; a longer text from another server is read whole.
    """
    return Field(json_schema_extra=dict(bounds))


@lru_cache(maxsize=256)  # some schemas are made for one call
def form(schema: type[BaseModel]) -> dict[str, Any]:
    """The response format that constrains a reply to a schema."""
    form = {"name": schema.__name__, "schema": schema.model_json_schema(), "strict": True}
    return {"type": "json_schema", "json_schema": form}


def in_words(error: ValidationError) -> str:
    """Why a reply cannot be read: the place and kind of its first fault."""
    fault = error.errors(include_url=False)[0]
    return ": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"])))


def how_it_begins(text: str) -> str:
    """The beginning of an unreadable reply for its problem, in one line."""
    start = " ".join(text[:SHOWN].split())
    more = "…" if len(text) > SHOWN else ""
    return f"it begins “{start}{more}”" if start else "it is empty"


def whole_part(text: str, schema: type[Schema], part: Partial = "items") -> Schema | None:
    """A cut JSON object without its incomplete part: a last text, or a last item of a list.

    With "text" the last text is kept as far as it goes.

    Returns:
        None if the rest does not fit the schema.
    """
    try:
        value = from_json(text, allow_partial=True if part == "items" else "trailing-strings")
    except ValueError:
        return None
    while True:
        try:
            return schema.model_validate(value)
        except ValidationError as error:
            if not _without_last(value, error):
                return None


def _without_last(value: Any, error: ValidationError) -> bool:
    """Remove the last item of a list that ends with the fault; False if the fault is elsewhere."""
    place = error.errors(include_url=False)[0]["loc"]
    if len(place) < 2 or not isinstance(value, dict):
        return False
    items = value.get(str(place[0]))
    if not isinstance(items, list) or place[1] != len(items) - 1:
        return False
    items.pop()
    return True
