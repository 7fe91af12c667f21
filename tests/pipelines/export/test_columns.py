"""Records as columns, by hand and by round trips."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pipelines import papers
from pipelines.export.columns import table_of


class Side(StrEnum):
    ONE = "one"
    OTHER = "other"


class Part(BaseModel):
    text: str
    sure: float | None = None


class Record(BaseModel):
    id: str
    side: Side | None = None
    kind: Literal["a", "b"] = "a"
    count: int = 0
    right: bool | None = None
    parts: tuple[Part, ...] = ()
    shares: dict[Side, float] | None = None
    nested: Mapping[str, tuple[Part, ...]] = {}
    pair: tuple[Part, Part] | None = None
    mixed: int | str | None = None
    odd: tuple[int, str] = (0, "")
    anything: Any = None


def test_types_and_values_by_hand() -> None:
    first = Record(
        id="x",
        side=Side.OTHER,
        parts=(Part(text="t", sure=0.5), Part(text="u")),
        shares={Side.ONE: 0.25, Side.OTHER: 0.75},
        nested={"a|b": (Part(text="v"),)},
        pair=(Part(text="w"), Part(text="x")),
        mixed=3,
        odd=(7, "seven"),
        anything={"deep": [1]},
    )
    table = table_of(Record, [first, Record(id="y")])
    part = "struct<text: string, sure: double>"
    assert {field.name: str(field.type) for field in table.schema} == {
        "id": "string",
        "side": "string",
        "kind": "string",
        "count": "int64",
        "right": "bool",
        "parts": f"list<item: {part}>",
        "shares": "list<item: struct<key: string, value: double>>",
        "nested": f"list<item: struct<key: string, value: list<item: {part}>>>",
        "pair": f"list<item: {part}>",
        "mixed": "string",
        "odd": "string",
        "anything": "string",
    }
    one, other = table.to_pylist()
    assert one["shares"] == [{"key": "one", "value": 0.25}, {"key": "other", "value": 0.75}]
    assert one["nested"] == [{"key": "a|b", "value": [{"text": "v", "sure": None}]}]
    assert (one["mixed"], one["odd"], one["anything"]) == ("3", '[7, "seven"]', '{"deep": [1]}')
    assert (other["side"], other["parts"], other["shares"], other["anything"]) == (
        (None, [], None, None)
    )


@given(
    st.lists(
        st.builds(
            Record,
            parts=st.lists(st.builds(Part, sure=st.none() | st.floats(0, 1))).map(tuple),
            nested=st.dictionaries(st.text(), st.just((Part(text="p"),))),
            anything=st.none() | st.integers(),
            pair=st.none(),
        ),
        max_size=4,
    )
)
def test_nothing_is_lost(records: list[Record]) -> None:
    rows = table_of(Record, records).to_pylist()
    assert len(rows) == len(records)
    for row, record in zip(rows, records, strict=True):
        given = record.model_dump(mode="json")
        for name in ("id", "side", "kind", "count", "right", "parts"):
            assert row[name] == given[name]
        assert {each["key"]: each["value"] for each in row["nested"]} == given["nested"]


@pytest.mark.parametrize("name", papers.EXPERIMENTS)
def test_every_experiment_has_columns(name: str) -> None:
    """None has a type that Parquet or `datasets` cannot hold: no empty struct, no map."""
    from datasets import Features

    schema = table_of(papers.experiment(name).result, []).schema
    assert "id" in schema.names
    assert "status" in schema.names
    assert list(Features.from_arrow_schema(schema)) == schema.names
    assert not [field for field in schema if pa.types.is_null(field.type)]
