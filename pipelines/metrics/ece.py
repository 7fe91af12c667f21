"""Expected calibration error."""

from collections.abc import Sequence
from math import fsum

from pipelines.metrics.reliability import Bin, reliability


def expected_calibration_error(bins: Sequence[Bin]) -> float | None:
    """Mean gap between confidence and accuracy, sum over bins of n_b / n * |acc_b - conf_b|.

    Naeini et al. 2015; Guo et al. 2017, equation 3. It is biased upwards: with few examples a
    perfectly calibrated classifier has an error above 0, which is why it comes without an interval.
    A value in [0, 1]; None without an example.
    """
    total = sum(one.n for one in bins)
    if not total:
        return None
    return fsum(
        one.n / total * abs(one.accuracy.value - one.confidence)
        for one in bins
        if one.accuracy is not None and one.confidence is not None
    )


def ece(confidences: Sequence[float], correct: Sequence[bool], *, bins: int = 15) -> float | None:
    """Expected calibration error over bins of equal width; arguments as of `reliability`."""
    return expected_calibration_error(reliability(confidences, correct, bins=bins))
