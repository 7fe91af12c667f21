"""Metrics that must have a value, and intervals that must have ends."""

from typing import TypeVar

from pipelines.metrics.estimate import Estimate

Value = TypeVar("Value")


def defined(value: Value | None) -> Value:
    assert value is not None
    return value


def ends(estimate: Estimate | None) -> tuple[float, float]:
    return defined(defined(estimate).low), defined(defined(estimate).high)
