"""Examples whose errors people have annotated."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import InputError
from pipelines.npov.example import Omission, Vote, read_annotated

LINE: dict[str, Any] = {
    "id": "dams/1",
    "question": "Should the dam stay?",
    "pro": ["The dam holds  {drinking} water.", "It makes power."],
    "con": ["Salmon cannot pass the dam."],
    "response": "Some say that it\nmakes power; others that salmon cannot pass, and mud piles up.",
}


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "organic.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_quotes_are_found_where_a_model_reads_them(tmp_path: Path) -> None:
    line = LINE | {
        "hallucination": "full",
        "hallucinated": ["mud piles  up"],
        "coverage": "ambiguous",
        "uncovered": ["holds {drinking} water", "the dam"],
    }
    (found,) = read_annotated(written(tmp_path, line))
    response = " ".join(LINE["response"].split())
    assert found.hallucinated is not None
    assert [response[start:end] for start, end in found.hallucinated] == ["mud piles up"]
    assert found.uncovered == (
        Omission(side="pro", argument=0, span=(8, 30)),
        Omission(side="con", argument=0, span=(19, 26)),
    )
    assert (found.id, found.source) == ("dams/1", "dams/1")
    assert (found.hallucination, found.coverage) == ("full", "ambiguous")


def test_several_annotators_stand_beside_what_counts(tmp_path: Path) -> None:
    votes = {"ann": {"coverage": "full"}, "bo": {"coverage": "none", "hallucination": "ambiguous"}}
    (found,) = read_annotated(written(tmp_path, LINE | {"votes": votes}))
    assert found.votes["ann"] == Vote(coverage="full")
    assert found.votes["bo"].hallucination == "ambiguous"
    assert found.coverage == "none"


def test_without_quotes_words_are_not_annotated_unless_there_is_no_error(tmp_path: Path) -> None:
    given = LINE | {"coverage": "full", "uncovered": []}
    (found,) = read_annotated(written(tmp_path, given))
    assert found.uncovered is None
    assert found.hallucinated == ()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"coverage": "full", "uncovered": ["trout"]}, ":1: the quote 'trout' occurs nowhere"),
        ({"coverage": "full", "uncovered": ["a"]}, "'a' occurs 7 times"),
        ({"uncovered": ["power"]}, "'uncovered' quotes an error"),
        ({"coverage": "maybe"}, "coverage"),
        ({"pro": []}, "pro"),
        ({"votes": {"ann": {"coverage": "yes"}}}, "votes.ann.coverage"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_annotated(written(tmp_path, LINE | changed))


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":2: the id 'dams/1' appears twice"):
        read_annotated(written(tmp_path, LINE, LINE))
