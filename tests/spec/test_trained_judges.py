"""Judges that learned from labelled answers: their numbers worked by hand."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflictscore.truthfulqa.trained import Linear, nearness
from pipelines.conflictscore.truthfulqa.training import fit
from pipelines.metrics.clustered_f1 import clustered_f1


def unit(*numbers: float) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    return np.array(numbers, dtype=np.float32)


def test_nearness_to_known_answers() -> None:
    """Cosines 0.6 and 0: the nearest has 0.6, on average they have 0.3."""
    assert nearness(unit(1, 0), [unit(0.6, 0.8), unit(0, 1)]) == pytest.approx((0.6, 0.3))
    assert nearness(unit(1, 0), []) == (0, 0)


def test_a_probability() -> None:
    """2 * 0.5 - 1 * 3 + 1 = -1."""
    linear = Linear(weights=(2, -1), intercept=1)
    assert linear.probability([0.5, 3]) == pytest.approx(1 / (1 + exp(1)))
    assert 0 < Linear(weights=(1e6,), intercept=0).probability([-1e6]) < 1e-100
    with pytest.raises(ValueError, match="zip"):
        linear.probability([1])


def test_what_separates_the_labels_is_learned_and_what_never_varies_is_not() -> None:
    values = np.array([[n % 2 + 0.01 * n, 7.0 + 1e-30 * n, 0.0] for n in range(40)])
    linear = fit(values, [n % 2 == 1 for n in range(40)], [f"q{n // 4}" for n in range(40)])
    assert linear.weights[1:] == (0, 0)
    assert linear.probability([1.2, 7.0, 9.0]) > 0.5 > linear.probability([0.2, 7.0, 9.0])


def test_f1_of_yes() -> None:
    """Two true yes of three, one false one: 2 * 2 / (2 * 2 + 1 + 1) = 2/3."""
    gold, said = [True, True, True, False, False], [True, True, False, True, False]
    found = clustered_f1(gold, said, ["a", "a", "b", "b", "c"])
    assert found is not None
    assert found.value == pytest.approx(2 / 3)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 2 / 3 < found.high, "b alone has 0, a alone has 1"
    one = clustered_f1(gold, said, ["a"] * 5)
    assert one is not None
    assert one.low is None
    assert clustered_f1([False], [False], ["a"]) is None


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), min_size=1, max_size=20)
)
def test_an_interval_of_f1_holds_it_and_copies_of_clusters_change_nothing(
    rows: list[tuple[bool, bool, int]],
) -> None:
    gold, said, clusters = zip(*rows, strict=True)
    found = clustered_f1(gold, said, clusters)
    if found is None:
        assert not any(gold)
        assert not any(said)
        return
    assert 0 <= found.value <= 1
    twice = clustered_f1(gold * 2, said * 2, [*clusters, *(n + 10 for n in clusters)])
    assert twice is not None
    assert twice.value == pytest.approx(found.value)
