"""Figures of Conflict Detection, worked by hand (ConflictScore, Table 2)."""

import pytest

from pipelines.conflictscore.detection.detect import (
    Verdict,
    accuracy,
    accuracy_without_conflict,
    f1_difference,
    f1_score,
    precision,
    recall,
)
from pipelines.metrics.estimate import Estimate


def many(tp: int, fp: int, fn: int, tn: int) -> list[Verdict]:
    kinds = [(True, True)] * tp + [(False, True)] * fp + [(True, False)] * fn
    kinds += [(False, False)] * tn
    return [Verdict(*kind, n) for n, kind in enumerate(kinds)]


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def width(estimate: Estimate | None) -> float:
    assert estimate is not None
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


def figures(verdicts: list[Verdict]) -> list[float]:
    estimates = precision(verdicts), recall(verdicts), f1_score(verdicts), accuracy(verdicts)
    return [value(each) for each in (*estimates, accuracy_without_conflict(verdicts))]


def test_figures_worked_by_hand() -> None:
    # 6 conflicts found, 2 missed, 3 false alarms, 9 correct rejections.
    verdicts = many(tp=6, fp=3, fn=2, tn=9)
    assert figures(verdicts) == pytest.approx([6 / 9, 6 / 8, 12 / 17, 15 / 20, 9 / 12])


def test_the_papers_contraqa_row() -> None:
    # Table 2 gives ContraQA 0.9971, 0.8208, 0.9004, 0.9035, 0.9973; Table 1 has 424 conflicts and
    # 374 others. 348 found and one false alarm give all five.
    found = figures(many(tp=348, fp=1, fn=76, tn=373))
    assert found == pytest.approx([0.9971, 0.8208, 0.9004, 0.9035, 0.9973], abs=5e-5)


def test_what_cannot_be_known_is_none() -> None:
    assert precision(many(0, 0, 3, 3)) is None
    assert recall(many(0, 3, 0, 3)) is None
    assert accuracy_without_conflict(many(3, 0, 3, 0)) is None
    assert f1_score(many(0, 0, 0, 4)) is None
    assert accuracy([]) is None


def test_groups_widen_intervals() -> None:
    alone = many(tp=40, fp=20, fn=20, tn=40)
    pooled = [Verdict(each.truth, each.found, n // 10) for n, each in enumerate(alone)]
    assert width(f1_score(pooled)) > 1.5 * width(f1_score(alone))
    # Against a detector that finds nothing, whose F1 is 0, the difference is F1 itself.
    nothing = [verdict._replace(found=False) for verdict in pooled]
    difference = f1_difference(named(pooled), named(nothing))
    assert value(difference) == value(f1_score(pooled))
    assert width(difference) == pytest.approx(width(f1_score(pooled)), rel=0.05)


def named(verdicts: list[Verdict]) -> dict[str, Verdict]:
    return {f"e{n}": each for n, each in enumerate(verdicts)}


def test_a_difference_of_f1_worked_by_hand() -> None:
    # F1 of 12 / 17 minus 2 * 5 / (2 * 5 + 3 + 3): the second misses one that the first found.
    first = named(many(tp=6, fp=3, fn=2, tn=9))
    second = first | {"e0": first["e0"]._replace(found=False)}
    found = f1_difference(first, second | {"only the second": Verdict(True, True, "g")})
    assert found is not None
    assert found.value == pytest.approx(12 / 17 - 10 / 16)
    assert found.n == 20
    # They differ on a single example; in a resample without it, the difference is 0.
    assert found.low == 0
    assert found.high is not None
    assert found.high > found.value
    assert f1_difference(first, {}) is None
    assert f1_difference(named(many(0, 0, 0, 4)), named(many(0, 0, 0, 4))) is None
