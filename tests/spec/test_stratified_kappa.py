"""Shares and Cohen's kappa over strata sampled at different rates."""

from math import sqrt

import pytest

from pipelines.metrics.agreement import stratified_kappa, stratified_share
from pipelines.metrics.estimate import Estimate


def test_by_hand() -> None:
    """A third of s and all of t are drawn: of 8 examples s has 6, t has 2.

    p_aa = 6/8 * 1/2 = 3/8, p_ab = 3/8, p_bb = 2/8; p_o = 5/8; p_e = 6/8 * 3/8 + 2/8 * 5/8 = 7/16;
    kappa = (5/8 - 7/16) / (9/16) = 1/3.
    """
    found = stratified_kappa(
        {"s": [("a", "a"), ("a", "b")], "t": [("b", "b")] * 2}, {"s": 6, "t": 2}
    )
    assert found is not None
    assert found.value == pytest.approx(1 / 3)
    assert found.n == 4
    assert found.low is not None
    assert found.low < 1 / 3


def test_full_agreement_has_no_interval() -> None:
    found = stratified_kappa({"s": [("a", "a")], "t": [("b", "b")]}, {"s": 9, "t": 1})
    assert found is not None
    assert (found.value, found.low) == (1.0, None)
    assert stratified_kappa({"s": [("a", "a")]}, {"s": 9}) is None


Z = 1.959963984540054
T, F = True, False


def test_share_by_hand() -> None:
    """Strata of 10, 10 and 20, of which 0 of 7, 0 of 7 and 3 of 6 hold: the share is 1/2 * 3/6.

    Adding 2/3 successes, the shares are 0.08, 0.08 and 0.5 of 25/3, 25/3 and 22/3. They apply only
    to the 3, 3 and 14 unlabelled examples, so the centre is 1/4 (3/10 * 0.08) twice, and 1/2 (6/20
    + 14/20) * 0.5.
    """
    found = stratified_share([([F] * 7, 10), ([F] * 7, 10), ([T, T, T, F, F, F], 20)])
    assert found is not None
    small, large = (3 / 40) ** 2 * 0.08 * 0.92 * (3 / 25 + 1 / 3), (14 / 40) ** 2 * 0.25
    half = Z * sqrt(2 * small + large * (3 / 22 + 1 / 14))
    assert (found.value, found.n) == (0.25, 20)
    assert (found.low, found.high) == pytest.approx((0.262 - half, 0.262 + half))


def test_a_share_is_certain_if_all_is_known_and_unknown_if_a_stratum_is() -> None:
    assert stratified_share([([T, F, F, F], 4)]) == Estimate(0.25, 0.25, 0.25, 4)
    assert stratified_share([([T], 4), ([], 2)]) is None
    assert stratified_share([]) is None
