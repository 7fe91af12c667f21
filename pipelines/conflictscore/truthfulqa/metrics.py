"""What the answers to one question come to."""

from collections.abc import Mapping
from typing import Final

from pipelines.conflictscore import pipeline as of_responses
from pipelines.conflictscore.result import MEASURES
from pipelines.conflictscore.truthfulqa.result import CONDITIONS, Condition, Setting, TruthResult
from pipelines.experiment.metric import Metric, of_each

KEYS: Final[Mapping[Setting, str]] = {"free-form": "truthful", "binary": "choice"}


def _right(setting: Setting, key: str) -> Metric[TruthResult]:
    def right(result: TruthResult, condition: Condition) -> bool | None:
        return result.right_or_unread(condition) if result.setting == setting else None

    return Metric(key, f"Right, {setting}", of_each(right), CONDITIONS, test="McNemar")


def _conflict(measure: str) -> Metric[TruthResult]:
    def value(result: TruthResult, condition: Condition) -> float | None:
        outcome = result.outcomes.get(condition)
        return getattr(outcome and outcome.score, measure, None)

    better = next(one.better for one in of_responses.METRICS if one.key == measure)
    return Metric(measure, MEASURES[measure], of_each(value), CONDITIONS, better=better)


METRICS: Final = (
    *(_right(setting, key) for setting, key in KEYS.items()),
    *map(_conflict, MEASURES),
)


def verdict(result: TruthResult) -> str:
    """Whether the answer that was written again is right."""
    return {True: "right", False: "wrong", None: "not known"}[result.right_or_unread("regenerated")]
