"""What one query comes to, for runs to be compared by."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import QueryResult, Strategy
from pipelines.conflicts.tables.scores import Part, Rule, Slice, adherence, answer_recall, grounding
from pipelines.conflicts.tables.type_scores import JOINT, classification, predictions
from pipelines.conflicts.taxonomy import CATEGORY
from pipelines.experiment.scores import Score, Values
from pipelines.report.compare import Test

MODELS_FIRST: Final = (
    *(CLASSIFIERS[by] for by in ("choice", "json")),
    JOINT,
    CLASSIFIERS["yes-no"],
)
"""Classifiers in the order in which their type is a query's verdict."""


def _type(classifier: str) -> Score[QueryResult]:
    return Score(
        f"Type right, {classifier}",
        lambda results: classification(results, classifier).right(),
        test="McNemar",
    )


def _of_answers(rule: Rule, strategy: Strategy) -> Callable[[Sequence[QueryResult]], Values]:
    return lambda results: Slice(Part("", results), strategy, results).scores(rule).values


def _answers(strategy: Strategy) -> dict[str, Score[QueryResult]]:
    measures: dict[str, tuple[str, Rule, Test]] = {
        "behaviour": ("Expected behaviour", adherence, "McNemar"),
        "recall": ("Answer recall", answer_recall, "McNemar"),
        "grounding": ("Factual grounding", grounding, "sign flips"),
    }
    return {
        f"{name}.{strategy}": Score(
            f"{title}, {STRATEGIES[strategy]}", _of_answers(rule, strategy), test=test
        )
        for name, (title, rule, test) in measures.items()
    }


SCORES: Final[Mapping[str, Score[QueryResult]]] = {
    **{f"type.{by}": _type(name) for by, name in CLASSIFIERS.items()},
    "type.with-answer": _type(JOINT),
    **{name: each for strategy in STRATEGIES for name, each in _answers(strategy).items()},
}


def verdict(result: QueryResult) -> str:
    """The type that a classifier gives: the first of those that were asked."""
    said = predictions(result)
    given = next((said[name] for name in MODELS_FIRST if name in said), None)
    if given is None:
        return "not asked"
    if given.problem is not None:
        return "unreadable"
    return "abstained" if given.type is None else CATEGORY[given.type].short
