"""Calibration on held-out pairs: how they are split, what is fitted where, and that it helps."""

from collections.abc import Iterable

import numpy as np
import pytest

from nli.calibration import Calibration
from nli.labels import LABELS
from nli.pairs import LabelledPair
from nli.sentences import Span
from nli.tagger import Reading
from pipelines.cli.calibrate import Predictions
from pipelines.data.released import half
from pipelines.errors import InputError
from pipelines.supervision.calibrating import Readings, calibrate


def boasting(
    count: int,
    *,
    times: float = 1,
    windows: int = 1,
    per_premise: int = 3,
    groups: int | None = None,
) -> Readings:
    """A model whose logits are calibrated ones times a factor; `count` pairs, three per premise.

    With several windows, one is informative and the others are certainly irrelevant.
    """
    random = np.random.default_rng(0)
    pairs, readings = [], []
    for number in range(count):
        honest = random.normal(scale=1.5, size=3)
        shares = np.exp(honest) / np.exp(honest).sum()
        pairs.append(
            LabelledPair(
                premise=f"P {number // per_premise}.",
                hypothesis="H.",
                label=LABELS[random.choice(3, p=shares)],
                source="s",
                group=None if groups is None else f"Q {number % groups}?",
            )
        )
        logits = np.full((windows, 3), -9.0, dtype=np.float32)
        logits[:, 2] = 9.0
        logits[random.integers(windows)] = times * honest
        readings.append(Reading(tuple(Span(n, n + 1) for n in range(windows)), logits))
    return Readings(tuple(pairs), tuple(readings))


def some(read: Readings, places: Iterable[int]) -> Readings:
    kept = list(places)
    return Readings(tuple(read.pairs[n] for n in kept), tuple(read.readings[n] for n in kept))


def error(shares: np.ndarray, pairs: tuple[LabelledPair, ...]) -> float:
    found = Predictions(pairs, shares.tolist()).ece
    assert found is not None
    return found


def test_the_factor_of_a_boasting_model_is_its_temperature() -> None:
    """Logits three times too large are divided by three, and the error falls on held-out pairs."""
    made = calibrate(boasting(3000, times=3), Calibration(), methods=["temperature"])
    assert made.calibration.temperature == pytest.approx(3, rel=0.1)
    before, after = (
        error(made.probabilities[name], made.check) for name in ("none", "temperature")
    )
    assert before > 0.15
    assert after < 0.05
    assert error(made.probabilities["isotonic"], made.check) < 0.05


def test_no_premise_is_on_both_sides_and_the_risk_is_counted_on_the_other() -> None:
    read = boasting(900, times=2)
    made = calibrate(read, Calibration(), data="own.jsonl")
    checked = {pair.premise for pair in made.check}
    assert made.fitted == sum(pair.premise not in checked for pair in read.pairs)
    assert made.fitted + len(made.check) == 900
    risk = made.calibration.risk
    assert risk is not None
    assert risk.pairs == len(made.check)
    kept = made.probabilities[made.calibration.method]
    wrong = sum(
        LABELS[place] != pair.label for place, pair in zip(kept.argmax(1), made.check, strict=True)
    )
    assert risk.points[0].kept == len(made.check)
    assert risk.points[0].wrong == wrong
    assert made.calibration.fitted_on.startswith(f"own.jsonl: {made.fitted:,} pairs")


def test_the_check_part_has_no_say_in_what_is_fitted_and_chosen() -> None:
    """Other labels on the check part change the figures, but nothing that is fitted."""
    read = boasting(900, times=2)
    one = calibrate(read, Calibration())
    checked = set(one.check)
    turned = tuple(
        pair.model_copy(update={"label": LABELS[0]}) if pair in checked and number % 2 else pair
        for number, pair in enumerate(read.pairs)
    )
    other = calibrate(Readings(turned, read.readings), Calibration())
    same = {"risk", "fitted_on"}
    assert one.calibration.model_dump(exclude=same) == other.calibration.model_dump(exclude=same)
    assert one.calibration.risk != other.calibration.risk


def test_windows_are_joined_by_what_suits_them_and_single_ones_are_left_alone() -> None:
    windowed = calibrate(boasting(600, windows=4), Calibration())
    assert windowed.calibration.aggregation in {"maximum", "noisy-or"}
    single = calibrate(boasting(150), Calibration(aggregation="noisy-or"))
    assert single.calibration.aggregation == "noisy-or"


def test_too_few_pairs_or_labels_are_refused() -> None:
    with pytest.raises(InputError, match="at least 30 are needed"):
        calibrate(boasting(45), Calibration())
    read = boasting(600)
    less = some(read, (n for n, pair in enumerate(read.pairs) if pair.label is not LABELS[1]))
    with pytest.raises(InputError, match="has the label 'refute'"):
        calibrate(less, Calibration())


def test_pairs_of_one_question_are_on_one_side() -> None:
    read = boasting(600, groups=50)
    made = calibrate(read, Calibration())
    checked = {pair.group for pair in made.check}
    assert made.fitted == sum(pair.group not in checked for pair in read.pairs)
    alone = calibrate(boasting(600, per_premise=1), Calibration())
    premises = {pair.premise for pair in alone.check}
    assert premises == {f"P {n}." for n in range(600) if half(f"check:P {n}.") == "test"}
