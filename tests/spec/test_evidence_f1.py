"""Evidence F1 by hand."""

import pytest

from pipelines.metrics.rates import evidence_f1


def test_the_best_of_alternative_sets_counts() -> None:
    # Against {1, 2}: one of three correct, precision 1/3, recall 1/2. Against {3, 4}: 2/3 and 1.
    assert evidence_f1([1, 3, 4], [{1, 2}]) == pytest.approx(0.4)
    assert evidence_f1([1, 3, 4], [{1, 2}, {3, 4}]) == pytest.approx(0.8)


def test_nothing_to_find_and_nothing_found() -> None:
    assert evidence_f1([1], []) is None
    assert evidence_f1([1], [set()]) is None
    assert evidence_f1([], [{1}]) == 0
