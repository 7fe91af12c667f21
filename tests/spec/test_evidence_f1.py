"""Evidence F1 by hand, and its invariants."""

import pytest
from estimates import defined
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.rates import evidence_f1

UNITS = st.sets(st.integers(0, 6), max_size=5)
GOLD = st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=3), min_size=1, max_size=3)


def test_the_best_of_alternative_sets_counts() -> None:
    # Against {1, 2}: one of three correct, precision 1/3, recall 1/2. Against {3, 4}: 2/3 and 1.
    assert evidence_f1([1, 3, 4], [{1, 2}]) == pytest.approx(0.4)
    assert evidence_f1([1, 3, 4], [{1, 2}, {3, 4}]) == pytest.approx(0.8)


def test_nothing_to_find_and_nothing_found() -> None:
    assert evidence_f1([1], []) is None
    assert evidence_f1([1], [set()]) is None
    assert evidence_f1([], [{1}]) == 0


@given(UNITS, GOLD)
def test_f1_lies_in_zero_and_one_and_is_one_for_a_gold_set_alone(
    predicted: set[int], gold: list[set[int]]
) -> None:
    value = defined(evidence_f1(predicted, gold))
    assert 0 <= value <= 1
    assert (value == 1) == (predicted in gold)
    assert evidence_f1(gold[0], gold) == 1
