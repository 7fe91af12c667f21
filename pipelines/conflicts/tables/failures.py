"""What failed, could not be asked, or could not be read."""

from collections.abc import Iterator

from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import Outcome, QueryResult

Lost = tuple[str, str, str | None]
"""What was lost, why, and the reply."""


def lost(result: QueryResult) -> Iterator[Lost]:
    """What has no value of a query, in the order in which it was asked for."""
    if result.status == "failed":
        yield "query", result.error or "", None
        return
    for by, predicted in result.predictions.items():
        if predicted.problem is not None:
            yield f"type, {CLASSIFIERS[by]}", predicted.problem, predicted.raw
    for strategy, outcome in result.outcomes.items():
        for what, why, raw in _of_outcome(outcome):
            yield f"{what}, {STRATEGIES[strategy]}", why, raw


def _of_outcome(outcome: Outcome) -> Iterator[Lost]:
    answer, judged = outcome.answer, outcome.judged
    if answer.problem is not None:
        yield "answer", answer.problem, answer.raw
    if answer.prediction is not None and answer.prediction.problem is not None:
        yield "type with the answer", answer.prediction.problem, answer.prediction.raw
    if judged.adherence is not None and judged.adherence.adheres is None:
        yield "behaviour", judged.adherence.problem or "", judged.adherence.raw
    if judged.inclusion is not None and judged.inclusion.included is None:
        yield "recall", judged.inclusion.problem or "", judged.inclusion.raw
    for number, each in enumerate(judged.grounding.sentences if judged.grounding else (), 1):
        if each.grounds is None:
            yield f"grounding of sentence {number}", each.problem or "", each.raw
