"""ALCE's answer metrics: by hand, and against its own code's scores of our texts.

See recorded/PROVENANCE.md.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.metrics.alce import (
    ENOUGH,
    as_scored,
    list_f1,
    list_items,
    list_precision,
    list_recall,
    normalised,
    str_em,
)

RECORDED = Path(__file__).parent / "recorded" / "alce.jsonl"
GOLD = [["Alder Bridge", "Old Alder Bridge"], ["Reed Crossing"], ["Dam 3"], ["Dam 4"]]


def recorded(task: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]
    return [row for row in rows if row["task"] == task]


def test_asqa_is_scored_as_by_alce() -> None:
    for row in recorded("asqa"):
        read = as_scored(row["output"])
        assert (read, normalised(read)) == (row["read"], row["normalised"])
        share = str_em(row["answers"], read, substrings=True)
        assert share == pytest.approx(row["str_em"] / 100), row
        assert (share == 1) == (row["str_hit"] == 100)


def test_qampari_is_scored_as_by_alce() -> None:
    for row in recorded("qampari"):
        read = as_scored(row["output"])
        assert read == row["read"]
        items, gold = list_items(read), row["answers"]
        precision, recall = list_precision(items, gold), list_recall(items, gold)
        recall_5 = list_recall(items, gold, most=ENOUGH)
        assert len(items) == row["num_preds"], row
        assert [
            *(precision, recall, recall_5),
            *(list_f1(precision, recall), list_f1(precision, recall_5)),
        ] == pytest.approx(
            [row[f"qampari_{name}"] / 100 for name in ("prec", "rec", "rec_top5", "f1", "f1_top5")]
        ), row


def test_the_two_rules_of_str_em_by_hand() -> None:
    answers = [["1911"], ["19"], ["..."], ["Norfolk", "folk"]]
    text = "The folk of 1911."
    assert str_em(answers, text) == 0.5
    assert str_em(answers, text, substrings=True) == 1
    assert str_em([], text) is None


def test_a_list_by_hand() -> None:
    """Three of four items are correct, two of them aliases of one answer: two of four answers."""
    items = ["old Alder Bridge", "Alder Bridge", "the dam 3", "Reed"]
    precision, recall = list_precision(items, GOLD), list_recall(items, GOLD)
    assert (precision, recall) == (3 / 4, 2 / 4)
    assert list_f1(precision, recall) == pytest.approx(0.6)
    assert list_precision([], GOLD) == list_recall([], GOLD) == list_f1(0, 0) == 0
    with pytest.raises(ValueError, match="needs a gold answer"):
        list_recall(items, [])
