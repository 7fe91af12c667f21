"""Bounds that are told and not checked, replies of all kinds, and those that break off."""

import json
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from serving.schemas import read, told, whole_part


class Named(BaseModel):
    name: str
    number: int


class Lists(BaseModel):
    texts: Annotated[list[Annotated[str, told(maxLength=3)]], told(maxItems=2)]
    named: list[Named] = []


class Kind(StrEnum):
    FACT = "a fact"
    OPINION = "an opinion"


class Judged(BaseModel):
    quote: str
    label: Literal["SUPPORTS", "CONTRADICTS"]
    kinds: list[Kind] = []


YES = {"quote": 'The "old" {bridge}', "label": "SUPPORTS"}
DRAFT = {"quote": "", "label": "CONTRADICTS"}
J, D = json.dumps(YES), json.dumps(DRAFT)

REPLIES: dict[str, str] = {
    "as it should be": J,
    "indented": json.dumps(YES, indent=2) + "\n",
    "a fence": f"```json\n{J}\n```",
    "a fence without a language": f"```\n{J}\n```",
    "a fence and words around it": f"Sure!\n```json\n{J}\n```\nI hope that helps.",
    "a preamble": f"Here is the JSON:\n{J}",
    "a preamble with braces": f"As {{the form}} asks: {J}",
    "words behind": f"{J}\n\nNote: {{none}}.",
    "a byte order mark": f"\ufeff{J}",
    "reasoning": f"<think>\nIt says so.\n</think>\n\n{J}",
    "reasoning with a draft": f"<think>Perhaps {D}, no.</think>{J}",
    "reasoning with a broken draft": f'<think>{{"quote": "The </think>\n{J}',
    "reasoning that the template opened": f"It says so.</think>\n{J}",
    "a quote of the end of reasoning": f"```\n{json.dumps(YES | {'quote': '</think>'})}\n```",
    "twice the same": f"{J}\n{J}",
    "beside what is none": f'{{"a": 1}} {J}',
    "in a list": f"[{J}]",
    "in Markdown": f"**Answer**: `{J}`",
    "a label in lower case": J.replace("SUPPORTS", "supports"),
    "a label with a capital, spaced": J.replace("SUPPORTS", " Supports\\n"),
    "fenced, in lower case": f"```json\n{J.replace('SUPPORTS', 'supports')}\n```",
    "a label in a list": json.dumps(YES | {"kinds": ["A Fact", "an opinion", "AN OPINION"]}),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_read_however_it_is_wrapped(name: str) -> None:
    found = read(REPLIES[name], Judged)
    assert found.label == "SUPPORTS"
    assert found.quote in {YES["quote"], "</think>"}
    assert [kind.name for kind in found.kinds] in ([], ["FACT", "OPINION", "OPINION"])


UNREADABLE: dict[str, tuple[str, str]] = {
    "nothing": ("", "EOF while parsing"),
    "words": ("It is old.", "expected"),
    "two that differ": (J + D, "trailing characters"),
    "cut": (J[:40], "EOF while parsing"),
    "cut within a fence": (f"```json\n{J[:40]}", "EOF while parsing"),
    "cut after a draft": (f"<think>Perhaps {D}", "expected value"),
    "cut within reasoning's answer": (f"<think>{D}</think>{J[:40]}", "EOF while parsing"),
    "an object within a broken text": ('{"quote": "' + D.replace('"', "'"), "EOF while parsing"),
    "within another": (f'{{"reply": {J}}}', "Field required"),
    "another label": (J.replace("SUPPORTS", "maybe"), "'SUPPORTS' or 'CONTRADICTS'"),
    "no label": (J.replace('"SUPPORTS"', "null"), "'SUPPORTS' or 'CONTRADICTS'"),
    "null": ("null", "an object"),
    "deep": ("[" * 4000, "recursion limit"),
    "deep and closed": ('{"a":' * 2000 + "1" + "}" * 2000, "recursion limit"),
    "a number without end": ("9" * 6000, "out of range"),
    "openings": ("{" * 400_000, "key must be a string"),
    "openings of names": ('{"' * 200_000, "expected `:`"),
    "openings, spaced": ("{ " * 200_000, "key must be a string"),
    "ends of reasoning": ("</think>" * 60_000, "expected value"),
    "many faults": (json.dumps(YES | {"kinds": [1] * 50_000}), "'a fact' or 'an opinion'"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_reply_that_cannot_be_read_says_why(name: str) -> None:
    text, says = UNREADABLE[name]
    with pytest.raises(ValueError, match=says):
        read(text, Judged)


def test_bounds_are_in_the_schema_and_fail_no_reply() -> None:
    texts = Lists.model_json_schema()["properties"]["texts"]
    assert (texts["maxItems"], texts["items"]["maxLength"]) == (2, 3)
    assert Lists(texts=["long text", "b", "c"]).texts == ["long text", "b", "c"]


@pytest.mark.parametrize(
    ("text", "texts", "named"),
    [
        ('{"texts": ["a", "b', ["a"], 0),
        ('{"texts": ["a", "b"], "na', ["a", "b"], 0),
        ('{"texts": [], "named": [{"name": "x", "number": 1}, {"name": "y', [], 1),
        ('{"texts": [', [], 0),
        ('```json\n{"texts": ["a", "b', ["a"], 0),
        ('<think>{"texts": ["x"]}</think>Here: {"texts": ["a", "b', ["a"], 0),
    ],
)
def test_whole_items_are_kept(text: str, texts: list[str], named: int) -> None:
    found = whole_part(text, Lists)
    assert found is not None
    assert (found.texts, len(found.named)) == (texts, named)


@pytest.mark.parametrize("text", ["", "no JSON", '{"te', '["a"]', '{"named": [{"name": 3}, {"'])
def test_nothing_is_made_of_what_does_not_fit(text: str) -> None:
    assert whole_part(text, Lists) is None


@given(st.lists(st.text(), max_size=5), st.integers(0, 200))
def test_a_text_cut_anywhere_gives_a_beginning_of_the_list(texts: list[str], end: int) -> None:
    found = whole_part(json.dumps({"texts": texts})[:end], Lists)
    assert found is None or found.texts == texts[: len(found.texts)]
