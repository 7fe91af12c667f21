"""What the answers to one question come to, for runs to be compared by."""

from collections.abc import Mapping
from typing import Final

from pipelines.conflictscore import pipeline as of_responses
from pipelines.conflictscore.result import MEASURES
from pipelines.conflictscore.truthfulqa.result import CONDITIONS, Condition, Setting, TruthResult
from pipelines.experiment.scores import Score, of_each

SHORT: Final[Mapping[Setting, str]] = {"free-form": "truthful", "binary": "choice"}


def _right(setting: Setting, condition: Condition) -> Score[TruthResult]:
    def right(result: TruthResult) -> bool | None:
        return result.right_or_unread(condition) if result.setting == setting else None

    title = f"Right, {setting}, {CONDITIONS[condition]}"
    return Score(title, of_each(right), test="McNemar")


def _conflict(measure: str, condition: Condition) -> Score[TruthResult]:
    def value(result: TruthResult) -> float | None:
        outcome = result.outcomes.get(condition)
        return getattr(outcome and outcome.score, measure, None)

    title = f"{MEASURES[measure]}, {CONDITIONS[condition]}"
    return Score(title, of_each(value), better=of_responses.SCORES[measure].better)


SCORES: Final[Mapping[str, Score[TruthResult]]] = {
    **{
        f"{short}.{condition}": _right(setting, condition)
        for setting, short in SHORT.items()
        for condition in CONDITIONS
    },
    **{
        f"{measure}.{condition}": _conflict(measure, condition)
        for measure in MEASURES
        for condition in CONDITIONS
    },
}


def verdict(result: TruthResult) -> str:
    """Whether the answer that was written again is right."""
    return {True: "right", False: "wrong", None: "not known"}[result.right_or_unread("regenerated")]
