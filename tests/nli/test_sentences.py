import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli.sentences import sentences

FILE = Path(__file__).parents[1] / "texts" / "sentences.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").split("\n") if line]
texts = st.text(
    st.sampled_from("ab Z.!?\n\t-1。\"'()é\u2028\r|#[]¹।；;<br>:“”😀Aक२v ") | st.characters(),
    max_size=120,
)


def split(text: str) -> list[str]:
    return [text[slice(*span)] for span in sentences(text)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['language']}, {row['kind']}")
def test_texts_as_people_write_them(row: dict[str, Any]) -> None:
    # A row with `known` says why the rules do not get it right.
    assert (split(row["text"]) == row["sentences"]) == ("known" not in row)


def test_the_list_is_long_and_few_rows_are_wrong() -> None:
    assert sum(len(row["sentences"]) - 1 for row in ROWS) >= 300
    assert len({row["language"] for row in ROWS}) >= 12
    assert sum("known" in row for row in ROWS) <= 4


@given(texts)
def test_sentences_cover_the_text_without_overlap(text: str) -> None:
    spans = sentences(text)
    covered = [place for span in spans for place in range(span.start, span.end)]
    assert covered == sorted(set(covered))
    assert all(text[place].isspace() for place in set(range(len(text))) - set(covered))
    for span in spans:
        assert text[slice(*span)] == text[slice(*span)].strip() != ""


@pytest.mark.parametrize(
    "run",
    [" ", ".", "\t", "…", ".)", ".[1]", ". [1]", "[1", "1. ", "a. ", ".<sup", "<br>", "\r\n", "।"]
    + ["? Yahoo! ", ".¹,", "A.", ".\u00a0»", ". 😀", "。」", ": 1. ", ".\n1", "' ", "\u2028", "क."],
)
def test_long_runs_take_no_long_time(run: str) -> None:
    text = f"One{run * 50_000}two. Three."
    started = time.process_time()
    assert split(text)[-1].endswith("Three.")
    assert time.process_time() - started < 10  # quadratic time would be minutes
