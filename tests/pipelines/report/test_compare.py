"""Two methods on the same examples."""

import pytest

from pipelines.metrics.estimate import mcnemar
from pipelines.report.compare import compare

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
