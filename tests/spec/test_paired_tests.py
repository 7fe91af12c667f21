"""McNemar's exact test, the sign-flip test and clustered differences, by hand."""

from math import comb, isclose, sqrt

import pytest
from estimates import defined

from pipelines.metrics.estimate import mcnemar, paired_difference, sign_flip
from pipelines.report.compare import compare


def test_mcnemar_by_hand() -> None:
    # Six discordant claims, five of them won by the first: 2 * (C(6,0) + C(6,1)) / 2^6.
    first = dict.fromkeys(range(5), True) | {5: False, 6: True, 7: False}
    second = dict.fromkeys(range(5), False) | {5: True, 6: True, 7: False}
    found = defined(mcnemar(first, second))
    assert isclose(found, 2 * (comb(6, 0) + comb(6, 1)) / 2**6)


def test_mcnemar_without_anything_to_tell_apart() -> None:
    assert mcnemar({1: True}, {1: True}) == 1
    assert mcnemar({1: True}, {2: True}) is None
    assert mcnemar({}, {}) is None


def test_sign_flips_of_few_values_are_all_tried() -> None:
    # Of the 2^4 sign patterns only two, all + and all -, are as extreme.
    found = defined(sign_flip([0.5, 0.25, 1.0, 0.75]))
    assert isclose(found, 2 / 16)


def test_sign_flips_of_nothing() -> None:
    assert sign_flip([]) is None
    assert sign_flip([0.3]) == 1
    assert sign_flip([0.0, 0.0]) == 1


# Differences of clustered examples.


def test_a_clustered_difference_by_hand() -> None:
    first = {"a1": 1.0, "a2": 1.0, "b1": 1.0, "c1": 0.0}
    second = {"a1": 0.0, "a2": 0.0, "b1": 1.0, "c1": 1.0}
    clusters = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
    # Differences 1, 1, 0, -1, mean 1/4. Residuals by cluster: 3/2, -1/4, -5/4.
    error = sqrt((2.25 + 0.0625 + 1.5625) / 16 * 3 / 2)
    found = defined(paired_difference(first, second, clusters=clusters))
    assert found.value == 0.25
    assert isclose(defined(found.high), 0.25 + 4.302652729911275 * error)  # t(2) at 97.5 %
    # The cluster sums 2, 0, -1 add up to 1; every sign pattern is at least as extreme.
    assert isclose(defined(compare(first, second, "sign flips", clusters=clusters).p), 1.0)


def test_mcnemar_of_clusters_is_refused() -> None:
    with pytest.raises(ValueError, match="independent"):
        compare({1: 1.0}, {1: 0.0}, "McNemar", clusters={1: 1})
