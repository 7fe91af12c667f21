"""The views that a claim reports: the claims of tests/texts/views.jsonl."""

import time
from typing import Any

import pytest
from text_rows import rows

from pipelines.text.views import MOST_CHARACTERS, views


@pytest.mark.parametrize("row", rows("views.jsonl"), ids=lambda row: row["text"])
def test_a_claim_is_divided_into_the_views_that_it_reports(row: dict[str, Any]) -> None:
    assert views(row["text"]) == row["views"]


@pytest.mark.parametrize("unit", ["and it is ", "a ", "says that ", "(", ", ", "it is ", "; x "])
def test_a_long_claim_takes_no_long_time(unit: str) -> None:
    start = time.perf_counter()
    for size in (MOST_CHARACTERS, 100_000):
        views(("The guide says " + unit * size)[:size])
    assert time.perf_counter() - start < 1
