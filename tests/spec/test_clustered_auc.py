"""AUCs by clusters: worked by hand, and beside those of single examples."""

import pytest
from estimates import defined, ends
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.metrics.ranks import clustered_auc, clustered_difference, roc_auc

LABELS = [True, False] * 3
TOPICS = list("aabbcc")


def test_a_resample_has_whole_clusters_worked_by_hand() -> None:
    # Positives 3 and 1 in a and b, negatives 2 and 2. Resamples: a and b (3 > 2, 3 > 2, 1 < 2, 1 <
    # 2: half of 4 pairs won), a twice (1), or b twice (0).
    found = defined(clustered_auc([3, 2, 1, 2], [True, False] * 2, list("aabb")))
    assert (found.value, found.n) == (0.5, 4)
    assert ends(found) == (0, 1)


def test_a_score_that_every_cluster_has_for_both_kinds_is_at_chance_whatever_is_drawn() -> None:
    found = defined(clustered_auc([7, 7, 9, 9, 4, 4], LABELS, TOPICS))
    assert (found.value, *ends(found)) == (0.5, 0.5, 0.5)


def test_without_spread_there_is_no_interval() -> None:
    assert defined(clustered_auc([2, 1, 2, 1], [True, False] * 2, list("aabb"))).low is None
    assert defined(clustered_auc([2, 1, 1, 2], [True, False] * 2, list("aaaa"))).low is None
    assert clustered_auc([1, 2], [True, True], list("ab")) is None
    assert clustered_difference([1, 2], [2, 1], [True, True], list("ab")) is None


def test_exchanges_worked_by_hand() -> None:
    # The first is right in every cluster and the second is wrong: 1 - 0. Of 2^3 exchanges, only
    # exchanging none and exchanging all are as extreme.
    found = defined(clustered_difference([2, 1] * 3, [1, 2] * 3, LABELS, TOPICS))
    assert found.difference.value == 1
    assert found.p == pytest.approx(2 / 8)
    same = defined(clustered_difference([3, 1, 1, 2, 5, 1], [6, 2, 2, 4, 10, 2], LABELS, TOPICS))
    assert (same.difference.value, same.p) == (0, 1), "scales make no difference"


@settings(max_examples=12)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.booleans(), st.integers(0, 4), st.integers(0, 4)),
        min_size=2,
        max_size=24,
    ).filter(lambda rows: len({row[1] for row in rows}) == 2)
)
def test_values_are_those_of_roc_auc(rows: list[tuple[str, bool, int, int]]) -> None:
    names, labels, first, second = (list(column) for column in zip(*rows, strict=True))
    one, other = (defined(roc_auc(scores, labels)).value for scores in (first, second))
    found = defined(clustered_auc(first, labels, names))
    assert found.value == one
    gain = defined(clustered_difference(first, second, labels, names))
    turned = defined(clustered_difference(second, first, labels, names))
    assert gain.difference.value == pytest.approx(one - other)
    assert gain.p == pytest.approx(turned.p)
    assert 0 < gain.p <= 1
