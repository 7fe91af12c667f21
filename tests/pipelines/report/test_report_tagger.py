"""A tagger's tables, its reliability diagram and the curves of its training."""

import pytest

from nli.labels import LABELS, Label
from nli.pairs import LabelledPair
from pipelines.metrics.rates import accuracy
from pipelines.report import tagger
from pipelines.report.table import records

HOSTILE = "</script><script>alert(1)</script>"


def pair(label: Label, source: str = "one") -> LabelledPair:
    return LabelledPair(premise="P.", hypothesis="H.", label=label, source=source)


SUPPORT, REFUTE, IRRELEVANT = LABELS
SCORED = tagger.Predictions(
    [
        pair(SUPPORT),
        pair(SUPPORT),
        pair(REFUTE, "two"),
        pair(IRRELEVANT, "two"),
        pair(IRRELEVANT, HOSTILE),
    ],
    [(0.9, 0.05, 0.05), (0.2, 0.7, 0.1), (0.1, 0.8, 0.1), (0.4, 0.3, 0.3), (0.0, 0.0, 1.0)],
)


def test_scores_are_by_source_and_over_all() -> None:
    rows = {row["source"]: row for row in records(tagger.scores_table(SCORED, "model", "data"))}
    assert list(rows) == ["all", HOSTILE, "one", "two"]
    assert [row["pairs"] for row in rows.values()] == [5, 1, 2, 2]
    assert rows["all"]["accuracy"] == pytest.approx(3 / 5)
    assert rows["one"]["accuracy"] == pytest.approx(1 / 2)
    whole = accuracy(SCORED.gold, SCORED.given)
    assert whole is not None
    assert rows["all"]["accuracy_low"] == whole.low
    # one: support has TP 1, FN 1; refute FP 1. F1 2/3 and 0; irrelevant does not occur.
    assert rows["one"]["macro_f1"] == pytest.approx((2 / 3 + 0) / 2)
    # |1 - 0.9|, |0 - 0.7|, each in a bin of its own
    assert rows["one"]["ece"] == pytest.approx((0.1 + 0.7) / 2)
