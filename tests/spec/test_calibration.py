"""Temperature and isotonic regression: hand-worked examples and properties."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nli.calibration import (
    Calibration,
    apply,
    fit_isotonic,
    fit_temperature,
    risk_curve,
    softmax,
)
from nli.labels import LABELS, Label
from nli.risk import RiskPoint

S, R, I = LABELS  # noqa: E741

logits = st.lists(st.lists(st.floats(-8, 8), min_size=3, max_size=3), min_size=1, max_size=20)
labels = st.sampled_from(LABELS)


def labelled(rows: list[list[float]]) -> st.SearchStrategy[tuple[list[list[float]], list[Label]]]:
    return st.tuples(st.just(rows), st.lists(labels, min_size=len(rows), max_size=len(rows)))


# Temperature


def test_softmax_worked_by_hand() -> None:
    assert softmax([log(2), 0, 0]) == pytest.approx([0.5, 0.25, 0.25])
    assert softmax([log(4), 0, 0], temperature=2) == pytest.approx([0.5, 0.25, 0.25])


def test_temperature_worked_by_hand() -> None:
    # Logits (3, 0, -200): the first label is correct in 3 of 4 cases, so its probability should be
    # 0.75 and the second's 0.25: 3 / T = log 3.
    rows = [[3.0, 0.0, -200.0]] * 4
    assert fit_temperature(rows, [S, S, S, R]) == pytest.approx(3 / log(3), rel=1e-3)


# Isotonic regression


def test_isotonic_worked_by_hand() -> None:
    # Support at 0.1, 0.4, 0.6, 0.9 with truth 0, 1, 0, 1: the middle two are pooled to 1/2. With
    # four pairs, no probability comes closer to 0 or 1 than 1/6.
    support = np.array([0.1, 0.4, 0.6, 0.9])
    rows = np.column_stack([support, (1 - support) / 2, (1 - support) / 2])
    lines = fit_isotonic(rows, [R, S, R, S])
    line = np.array(lines[S])
    assert np.interp([0.1, 0.4, 0.5, 0.6, 0.9], *line.T) == pytest.approx(
        [1 / 6, 0.5, 0.5, 0.5, 5 / 6], abs=1e-5
    )
    assert np.interp([0.0, 1.0], *line.T) == pytest.approx([1 / 6, 5 / 6], abs=1e-5)


@given(logits.flatmap(labelled), st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_isotonic_lines_rise_and_rows_sum_to_one(
    data: tuple[list[list[float]], list[Label]], raw: list[float]
) -> None:
    rows, gold = data
    lines = fit_isotonic(softmax(rows), gold)
    for line in lines.values():
        moved = np.interp(sorted(raw), *np.array(line).T)
        assert (np.diff(moved) >= 0).all()
        assert moved.min() > 0
    calibration = Calibration(method="isotonic", isotonic=lines)
    found = apply(calibration, softmax(rows))
    assert found.sum(axis=1) == pytest.approx(1)
    # The stored file gives the same.
    stored = Calibration.model_validate_json(calibration.model_dump_json())
    assert np.array_equal(apply(stored, softmax(rows)), found)


# Storage


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"temperature": 0}, "greater than 0"),
        ({"method": "isotonic"}, "all three labels"),
        ({"method": "isotonic", "isotonic": {S: ((0, 0),), R: ((0, 0),)}}, "all three labels"),
        (
            {"isotonic": dict.fromkeys(LABELS, ((0.0, 0.5), (1.0, 0.4)))},
            "must not fall",
        ),
        ({"aggregation": "learned"}, "noisy-or"),
        ({"window_tokens": 3}, "16"),
        ({"kind": "x"}, "kind"),
    ],
)
def test_a_calibration_that_cannot_be_is_refused(entries: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Calibration.model_validate(entries)


# Kept but wrong


def test_risk_curve_worked_by_hand() -> None:
    curve = risk_curve([0.9, 0.5, 0.9, 0.7], [True, False, False, True])
    assert curve.pairs == 4
    assert curve.points == (
        RiskPoint(threshold=0.5, kept=4, wrong=2),
        RiskPoint(threshold=0.7, kept=3, wrong=1),
        RiskPoint(threshold=0.9, kept=2, wrong=1),
    )


def test_a_long_risk_curve_is_thinned_but_keeps_its_ends() -> None:
    found = [n / 9999 for n in range(10000)]
    curve = risk_curve(found, [n % 3 > 0 for n in range(10000)])
    assert len(curve.points) == 500
    assert (curve.points[0].threshold, curve.points[-1].threshold) == (0, 1)
    for point in curve.points[::50]:
        assert point.kept == sum(u >= point.threshold for u in found)
