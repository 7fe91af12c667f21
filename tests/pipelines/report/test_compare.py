"""Two methods on the same examples."""

import pytest

from pipelines.metrics.estimate import mcnemar
from pipelines.report.compare import Pair, bonferroni, columns, compare, correction
from pipelines.report.table import Table, own_rows

OURS = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 1.0, "only ours": 1.0}
THEIRS = {"d": 0.0, "c": 1.0, "b": 0.0, "a": 0.0, "only theirs": 1.0}


def test_a_comparison_is_over_what_both_have() -> None:
    found = compare(OURS, THEIRS, "McNemar")
    assert found.n == 4
    assert found.difference is not None
    assert found.difference.value == (1 + 1 - 1 + 1) / 4
    # Of four discordant examples three are ours: P(min <= 1) of both sides is 2 * 5 / 16.
    assert found.p == pytest.approx(10 / 16)
    assert found.p == mcnemar({name: value == 1 for name, value in OURS.items()},
                              {name: value == 1 for name, value in THEIRS.items()})  # fmt: skip


def test_columns_of_pairs() -> None:
    same, none = compare(OURS, OURS, "McNemar"), compare(OURS, {}, "McNemar")
    pairs = [Pair("data", "ours", "theirs", {"f1": same}), Pair("data", "ours", "x", {"f1": none})]
    made = Table.of(
        pairs, name="t", title="T", columns=columns("f1", "F1", "McNemar", n="f1_queries")
    )
    assert [column.title for column in made.columns] == ["F1", "p (McNemar)", "Queries"]
    assert [(row["f1_p"], row["f1_queries"]) for row in own_rows(made)] == [(1.0, 5), (None, 0)]
    (note,) = correction(pairs)
    assert "There are 2 comparisons with 1 values of p." in note
    assert "0.05 / 1 = 0.05" in note
    assert bonferroni([[None]]) == ()
