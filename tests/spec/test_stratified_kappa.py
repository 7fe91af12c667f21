"""Cohen's kappa over strata that were drawn at different rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.agreement import cohen_kappa, stratified_kappa


def test_by_hand() -> None:
    """A third of s and all of t are drawn: of 8 examples s counts 6, t 2.

    p_aa = 6/8 * 1/2 = 3/8, p_ab = 3/8, p_bb = 2/8; p_o = 5/8; p_e = 6/8 * 3/8 + 2/8 * 5/8 = 7/16;
    kappa = (5/8 - 7/16) / (9/16) = 1/3.
    """
    found = stratified_kappa(
        {"s": [[("a", "a")], [("a", "b")]], "t": [[("b", "b")]] * 2}, {"s": 6, "t": 2}
    )
    assert found is not None
    assert found.value == pytest.approx(1 / 3)
    assert found.n == 4
    assert found.low is not None
    assert found.low < 1 / 3


RATED = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=9)


@given(RATED)
def test_one_stratum_has_the_kappa_of_cohen(pairs: list[tuple[str, str]]) -> None:
    found = stratified_kappa({"all": [[pair] for pair in pairs]}, {"all": 100})
    known = cohen_kappa(*zip(*pairs, strict=True))
    assert (found is None) == (known is None)
    if found and known:
        assert found.value == pytest.approx(known.value)


@given(RATED, RATED)
def test_strata_drawn_at_one_rate_count_as_one(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    sizes = {"one": 5 * len(one), "other": 5 * len(other)}
    found = stratified_kappa({"one": [one], "other": [other]}, sizes)
    known = cohen_kappa(*zip(*one, *other, strict=True))
    assert (found is None) == (known is None)
    if found and known:
        assert found.value == pytest.approx(known.value)


def test_full_agreement_has_no_interval() -> None:
    found = stratified_kappa({"s": [[("a", "a")]], "t": [[("b", "b")]]}, {"s": 9, "t": 1})
    assert found is not None
    assert (found.value, found.low) == (1.0, None)
    assert stratified_kappa({"s": [[("a", "a")]]}, {"s": 9}) is None


def test_what_was_drawn_at_once_is_drawn_again_at_once() -> None:
    """Four claims of five documents, in two of which the raters disagree on all five."""
    right, wrong = (
        [("a", "a"), ("b", "b")] * 2 + [("a", "a")],
        [("a", "b"), ("b", "a")] * 2 + [("a", "b")],
    )
    claims = [right, wrong] * 2
    whole = stratified_kappa({"s": claims}, {"s": 100})
    alone = stratified_kappa({"s": [[pair] for own in claims for pair in own]}, {"s": 100})
    assert whole is not None
    assert alone is not None
    assert whole.value == alone.value
    assert whole.n == alone.n == 20
    assert whole.low is not None
    assert alone.low is not None
    assert whole.low < alone.low
