"""Bounds that are stated but not checked, and replies that break off."""

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from serving.schemas import told, whole_part


class Named(BaseModel):
    name: str
    number: int


class Lists(BaseModel):
    texts: Annotated[list[Annotated[str, told(maxLength=3)]], told(maxItems=2)]
    named: list[Named] = []


def test_bounds_are_in_the_schema_and_fail_no_reply() -> None:
    texts = Lists.model_json_schema()["properties"]["texts"]
    assert (texts["maxItems"], texts["items"]["maxLength"]) == (2, 3)
    assert Lists(texts=["long text", "b", "c"]).texts == ["long text", "b", "c"]


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", '{"te', '["a"]', '{"named": [{"name": 3}, {"', "[" * 4000, '{"a":' * 2000],
    ids=lambda text: text[:20],
)
def test_nothing_is_made_of_what_does_not_fit(text: str) -> None:
    assert whole_part(text, Lists) is None


@given(st.lists(st.text(), max_size=5), st.integers(0, 200))
def test_a_text_cut_anywhere_gives_a_beginning_of_the_list(texts: list[str], end: int) -> None:
    found = whole_part(json.dumps({"texts": texts})[:end], Lists)
    assert found is None or found.texts == texts[: len(found.texts)]
