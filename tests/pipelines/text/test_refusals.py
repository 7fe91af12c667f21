"""What says that an answer is missing: the texts of tests/texts/refusals.jsonl."""

import time
from typing import Any

import pytest
from text_rows import rows

from pipelines.conflicts.judges import states_a_fact
from pipelines.text.refusals import is_unknown

ROWS = rows("refusals.jsonl")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_a_refusal_is_told_from_an_answer(row: dict[str, Any]) -> None:
    assert is_unknown(row["text"]) is row["refuses"]


def test_a_sentence_that_refuses_states_no_fact() -> None:
    assert not [row["text"] for row in ROWS if row["refuses"] and states_a_fact(row["text"])]


@pytest.mark.parametrize(
    "unit",
    ["this answer ", "the provided ", "in the sources ", "no information in ", "(", "- ", "sorry "],
)
@pytest.mark.parametrize("lead", ["", "i could not find ", "the sources do not say when ", "no "])
def test_a_long_text_takes_no_long_time(lead: str, unit: str) -> None:
    start = time.perf_counter()
    for length in (190, 100_000):
        assert not is_unknown((lead + unit * length)[:length] + "1, 2")
    assert time.perf_counter() - start < 5
