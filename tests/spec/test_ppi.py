"""Prediction-powered means and shares: PPI++ (Angelopoulos, Duchi and Zrnic 2023)."""

import random
from collections.abc import Sequence
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ppi import Predicted, effective_size, power_tuning, ppi_share

LABELS = (1, 0, 1, 1, 0, 0, 1, 0)
PREDICTIONS = (0.9, 0.2, 0.6, 0.7, 0.4, 0.1, 0.8, 0.5)
OTHERS = (0.8, 0.3, 0.1, 0.6, 0.2, 0.9, 0.4, 0.7, 0.05, 0.55, 0.15, 0.35)
SAMPLE = Predicted(LABELS, PREDICTIONS, OTHERS)

Z = 1.959963984540054


@pytest.mark.parametrize(
    ("lam", "expected"),
    [
        (None, 0.413665432514305),
        (0.0, 0.5),
        (0.5, 0.45),
        (1.0, 0.4),
    ],
)
def test_it_is_that_of_the_reference(lam: float | None, expected: float) -> None:
    """`ppi_mean_pointestimate` of ppi-python 0.2.3."""
    found = ppi_share([SAMPLE], lam=lam)
    assert found is not None
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.n == 8


def test_predictions_that_point_the_wrong_way_are_not_used_as_in_the_reference() -> None:
    turned = Predicted(LABELS, [1 - p for p in PREDICTIONS], [1 - p for p in OTHERS])
    assert power_tuning([turned]) == 0.0
    assert ppi_share([turned]) == ppi_share([SAMPLE], lam=0.0)


def test_by_hand() -> None:
    """Two labels, 1 predicted 1 and 0 predicted 0, and two more predictions, 1 and 1.

    cov = 1/4; var of 1, 0, 1, 1 is 3/16 * 4/3 = 1/4; lambda = (1/4) / ((1 + 2/2) (1/4)) = 1/2.
    theta = 1/2 + 1/2 (1 - 1/2) = 3/4.
    """
    sample = Predicted([1, 0], [1, 0], [1, 1])
    assert power_tuning([sample]) == 0.5
    found = ppi_share([sample])
    assert found is not None
    assert found.value == 0.75


def test_strata_by_hand() -> None:
    """Price and Bonett (2004): 2/m labels of 1 and of 0 besides in each of m = 3 strata.

    Strata of 10, 10 and 20 have 0 of 7, 0 of 7 and 3 of 6 labels of 1: the share is 1/2 * 3/6. With
    2/3 besides they are 0.08, 0.08 and 0.5 of 25/3, 25/3 and 22/3 labels. Those stand for the 3, 3
    and 14 others alone, so the centre is 1/4 (3/10 * 0.08) twice, and 1/2 (6/20 + 14/20) * 0.5.
    """
    strata = [
        Predicted([0] * 7, [0] * 7, [0] * 3),
        Predicted([0] * 7, [0] * 7, [0] * 3),
        Predicted([1, 1, 1, 0, 0, 0], [1] * 6, [1] * 14),
    ]
    found = ppi_share(strata)
    low, high = ends(found)
    assert found is not None
    small, large = (3 / 40) ** 2 * 0.08 * 0.92 * (3 / 25 + 1 / 3), (14 / 40) ** 2 * 0.25
    half = Z * sqrt(2 * small + large * (3 / 22 + 1 / 14))
    assert found.value == 0.25
    assert (low, high) == pytest.approx((0.262 - half, 0.262 + half))


def test_with_many_others_the_share_has_the_interval_of_agresti_and_coull() -> None:
    """That is p~ -+ z sqrt(p~ (1 - p~) / 14) for 10 labels, with p~ = (x + 2) / 14."""
    found = ppi_share([Predicted([1] + [0] * 9, [0] * 10, [0] * 10**6)])
    assert found is not None
    half = Z * sqrt(3 / 14 * 11 / 14 / 14)
    assert found.value == pytest.approx(0.1)
    assert found.high == pytest.approx(3 / 14 + half, rel=1e-4)


def test_where_everything_is_labelled_the_share_is_known() -> None:
    assert ppi_share([Predicted([1, 0, 0, 0], [0.5] * 4, [])]) == Estimate(0.25, 0.25, 0.25, 4)


def ends(found: Estimate | None) -> tuple[float, float]:
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


PROBABILITY = st.floats(0, 1, allow_subnormal=False)
EXAMPLES = st.lists(st.tuples(st.booleans(), PROBABILITY), min_size=1, max_size=12)
SAMPLES = st.lists(
    st.builds(
        lambda both, rest: Predicted([float(y) for y, _ in both], [f for _, f in both], rest),
        EXAMPLES,
        st.lists(PROBABILITY, max_size=12),
    ),
    min_size=1,
    max_size=4,
)


@given(SAMPLES)
def test_without_trust_it_is_the_weighted_mean_of_labels(samples: list[Predicted]) -> None:
    sizes = [len(each.labels) + len(each.unlabelled) for each in samples]
    means = [sum(each.labels) / len(each.labels) for each in samples]
    classical = sum(n / sum(sizes) * y for n, y in zip(sizes, means, strict=True))
    found = ppi_share(samples, lam=0.0)
    assert found is not None
    assert found.value == pytest.approx(classical)


@given(SAMPLES)
def test_shares_and_their_trust_lie_between_0_and_1(samples: list[Predicted]) -> None:
    assert 0 <= power_tuning(samples) <= 1
    low, high = ends(found := ppi_share(samples))
    assert found is not None
    assert 0 <= low <= found.value <= high <= 1
    if any(each.unlabelled for each in samples):
        assert high > low, "a few labels never make a share certain"


def test_weights_by_hand() -> None:
    """A label of 1 that counts 3 and one of 0 that counts 1, and others that count 2 and 2.

    The mean is 3/4, n = 4^2 / (9 + 1) = 1.6 and N = 4^2 / 8 = 2. Labels count half, so of the
    others' share the centre is 1/2 (3 + 2 * 2) / (4 + 2 * 4) besides 1/2 * 3/4; 5.6 labels of
    variance 7/12 * 5/12 and 2 others make the interval.
    """
    assert effective_size([3, 1]) == pytest.approx(1.6)
    sample = Predicted([1, 0], [0, 0], [0, 0], [3, 1], [2, 2])
    share = ppi_share([sample])
    assert share is not None
    assert share.value == pytest.approx(0.75)
    low, _ = ends(share)
    half = Z * sqrt(7 / 12 * 5 / 12 * (1 / 5.6 + 1 / 2)) / 2
    assert low == pytest.approx(3 / 8 + 7 / 24 - half)


def test_nothing_is_known_without_labels() -> None:
    assert ppi_share([]) is None
    assert ppi_share([SAMPLE, Predicted([], [], [0.5])]) is None
    with pytest.raises(ValueError, match="2 labels, 1 predictions"):
        ppi_share([Predicted([1, 0], [1], [])])


def covered(
    sizes: Sequence[int], rates: Sequence[float], drawn: int, *, told: float
) -> tuple[float, float, float]:
    """How often the interval has the true share of what was drawn from; mean widths with and
    without predictions, which tell so much of the label."""
    draw = random.Random(3)
    inside, width, classical, runs = 0, 0.0, 0.0, 600
    for _ in range(runs):
        truth, strata = [], []
        for size, rate in zip(sizes, rates, strict=True):
            labels = [float(draw.random() < rate) for _ in range(size)]
            guesses = [told * y + (1 - told) * draw.random() for y in labels]
            strata.append(Predicted(labels[:drawn], guesses[:drawn], guesses[drawn:]))
            truth += labels
        low, high = ends(ppi_share(strata))
        inside += low <= sum(truth) / len(truth) <= high
        width += (high - low) / runs
        low, high = ends(ppi_share(strata, lam=0.0))
        classical += (high - low) / runs
    return inside / runs, width, classical


@pytest.mark.parametrize(
    ("sizes", "rates", "drawn", "told"),
    [
        ((400,), (0.3,), 40, 0.5),
        ((400,), (0.3,), 40, 0.0),
        ((280, 80, 40), (0.03, 0.1, 0.8), 15, 0.5),
        ((280, 80, 40), (0.0, 0.5, 1.0), 10, 0.0),
    ],
)
def test_the_interval_covers_the_share_as_often_as_it_says(
    sizes: tuple[int, ...], rates: tuple[float, ...], drawn: int, told: float
) -> None:
    inside, width, classical = covered(sizes, rates, drawn, told=told)
    assert inside >= 0.93  # 0.95 less two standard errors of 600 draws
    if told:
        assert width < 0.97 * classical, "good predictions make it narrower"


def test_the_interval_covers_means_over_claims_that_do_not_count_alike() -> None:
    """Ratios of claims whose responses have one to eight of them, so that they count 1 to 1/8."""
    draw = random.Random(5)
    inside, runs = 0, 600
    for _ in range(runs):
        strata, total, weight = [], 0.0, 0.0
        for size, rate in ((240, 0.1), (120, 0.5)):
            weights = [1 / draw.randint(1, 8) for _ in range(size)]
            labels = [draw.random() if draw.random() < rate else 0.0 for _ in range(size)]
            guesses = [0.5 * y + 0.5 * draw.random() for y in labels]
            strata.append(
                Predicted(labels[:30], guesses[:30], guesses[30:], weights[:30], weights[30:])
            )
            total += sum(w * y for w, y in zip(weights, labels, strict=True))
            weight += sum(weights)
        low, high = ends(ppi_share(strata))
        inside += low <= total / weight <= high
    assert inside / runs >= 0.93
