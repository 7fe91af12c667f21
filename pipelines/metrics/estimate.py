"""A number with the interval that belongs to it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A point estimate, its confidence interval and what they rest on.

    Attributes:
        value: The estimate.
        low: Lower end of the interval, at most `value`; None where no interval can be given.
        high: Upper end, at least `value`; None exactly where `low` is None.
        n: Observations behind the value, at least 1.
        confidence: Level of the interval, in (0, 1).
    """

    value: float
    low: float | None
    high: float | None
    n: int
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        if self.low is None or self.high is None:
            return
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} lies outside [{self.low}, {self.high}]")


def check_confidence(confidence: float) -> None:
    """Raises ValueError for a level that is not strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1")
