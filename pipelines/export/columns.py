"""Records as columns: what pydantic says of a record, as Arrow types.

Mappings become lists of `{key, value}`, as their keys differ from row to row. What has no one type,
or no parts, becomes its JSON text.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pydantic import BaseModel

Schema = Mapping[str, Any]
"""A JSON schema."""

_PLAIN = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
}


@dataclass(frozen=True)
class Column:
    """How a value of JSON stands in a column: its type, and what is stored; None stays None."""

    type: pa.DataType
    stored: Callable[[Any], Any]


def _as_it_is(value: Any) -> Any:
    return value


TEXT = Column(pa.string(), lambda value: None if value is None else json.dumps(value))
"""A value as JSON text."""


def table_of(kind: type[BaseModel], records: Sequence[BaseModel]) -> pa.Table:
    """Records of a kind as a table with a column for each of its fields, in their order."""
    schema = kind.model_json_schema(mode="serialization")
    columns = {
        name: column(each, schema.get("$defs", {})) for name, each in schema["properties"].items()
    }
    rows = [record.model_dump(mode="json") for record in records]
    arrays = [
        pa.array([each.stored(row.get(name)) for row in rows], type=each.type)
        for name, each in columns.items()
    ]
    return pa.Table.from_arrays(arrays, names=list(columns))


def column(schema: Schema, definitions: Mapping[str, Schema]) -> Column:
    """The column of values that a JSON schema allows; `definitions` are what it refers to."""
    if "$ref" in schema:
        return column(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        some = [each for each in schema["anyOf"] if each.get("type") != "null"]
        found = [column(each, definitions) for each in some]
        same = all(each.type == found[0].type and each is not TEXT for each in found)
        return found[0] if same else TEXT
    kind = schema.get("type")
    if kind == "array":
        return _of_array(schema, definitions)
    if kind == "object":
        return _of_object(schema, definitions)
    return Column(_PLAIN[kind], _as_it_is) if kind in _PLAIN else TEXT


def _of_array(schema: Schema, definitions: Mapping[str, Schema]) -> Column:
    if (places := schema.get("prefixItems")) is not None:  # a tuple of so many
        kinds = [column(each, definitions) for each in places]
        if not kinds or any(each.type != kinds[0].type for each in kinds):
            return TEXT
        each = kinds[0]
    elif "items" in schema:
        each = column(schema["items"], definitions)
    else:
        return TEXT
    return Column(pa.list_(each.type), lambda value: _each(value, each.stored))


def _each(values: Sequence[Any] | None, stored: Callable[[Any], Any]) -> list[Any] | None:
    return None if values is None else [stored(value) for value in values]


def _of_object(schema: Schema, definitions: Mapping[str, Schema]) -> Column:
    if fields := schema.get("properties"):
        parts = {name: column(each, definitions) for name, each in fields.items()}

        def struct(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
            if value is None:
                return None
            # A field that says nothing may be left out.
            return {name: part.stored(value.get(name)) for name, part in parts.items()}

        return Column(pa.struct({name: part.type for name, part in parts.items()}), struct)
    if isinstance(values := schema.get("additionalProperties"), Mapping):
        each = column(values, definitions)

        def pairs(value: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
            if value is None:
                return None
            return [{"key": key, "value": each.stored(own)} for key, own in value.items()]

        pair = pa.struct({"key": pa.string(), "value": each.type})
        return Column(pa.list_(pair), pairs)
    return TEXT
