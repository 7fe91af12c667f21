"""McNemar's exact test and the sign-flip test, by hand and as properties."""

from math import comb, isclose

from estimates import defined
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.mcnemar import mcnemar
from pipelines.metrics.sign_flip import sign_flip


def test_mcnemar_by_hand() -> None:
    # Six claims tell the two apart, five of them for the first: 2 * (C(6,0) + C(6,1)) / 2^6.
    first = dict.fromkeys(range(5), True) | {5: False, 6: True, 7: False}
    second = dict.fromkeys(range(5), False) | {5: True, 6: True, 7: False}
    found = defined(mcnemar(first, second))
    assert isclose(found, 2 * (comb(6, 0) + comb(6, 1)) / 2**6)


def test_mcnemar_without_anything_to_tell_apart() -> None:
    assert mcnemar({1: True}, {1: True}) == 1
    assert mcnemar({1: True}, {2: True}) is None
    assert mcnemar({}, {}) is None


PAIRS = st.dictionaries(st.integers(0, 30), st.tuples(st.booleans(), st.booleans()), min_size=1)


@given(PAIRS)
def test_mcnemar_is_symmetric_and_a_probability(pairs: dict[int, tuple[bool, bool]]) -> None:
    one = {key: pair[0] for key, pair in pairs.items()}
    other = {key: pair[1] for key, pair in pairs.items()}
    p = defined(mcnemar(one, other))
    assert 0 <= p <= 1
    assert isclose(p, mcnemar(other, one) or 0)


def test_sign_flips_of_few_values_are_all_tried() -> None:
    # Of the 2^4 ways to sign these only two, all + and all -, are as large.
    found = defined(sign_flip([0.5, 0.25, 1.0, 0.75]))
    assert isclose(found, 2 / 16)


def test_sign_flips_of_nothing() -> None:
    assert sign_flip([]) is None
    assert sign_flip([0.3]) == 1
    assert sign_flip([0.0, 0.0]) == 1


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=2, max_size=9))
def test_sign_flips_do_not_ask_which_side_is_first(values: list[float]) -> None:
    one, other = (defined(sign_flip([sign * each for each in values])) for sign in (1, -1))
    assert 0 < one <= 1
    assert isclose(one, other, abs_tol=1e-9)
