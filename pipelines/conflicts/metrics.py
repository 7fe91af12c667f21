"""Metrics of answers and predicted types, query by query (CONFLICTS, section 4).

An unreadable answer or type counts as wrong; a verdict that is missing, or that does not apply to a
query, has no value.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, Literal, NamedTuple

from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import Outcome, QueryResult, Strategy
from pipelines.conflicts.taxonomy import ANSWERABLE, CATEGORY, ConflictType, Prediction, commonest
from pipelines.experiment.metric import Metric, Values, of_each
from pipelines.text.declarative import affirmed


class Part(NamedTuple):
    """The results of a run, in its order, and the models that answered and judged, if any.

    `types` is the classifier whose types Pipeline was given, by its name in tables.
    """

    run: str
    results: Sequence[QueryResult]
    writer: str | None = None
    judge: str | None = None
    types: str | None = None

    @property
    def strategies(self) -> list[Strategy]:
        """Strategies that answered any query, in the order of section 5.1."""
        used = {strategy for result in self.results for strategy in result.outcomes}
        return [strategy for strategy in STRATEGIES if strategy in used]


def part_of(run: str, results: Sequence[QueryResult], config: Mapping[str, Any]) -> Part:
    """The results of a run, with the models in its configuration from `run.json`."""
    judge = config["judge"]["name"] if "judge" in config else None
    if judge and config["settings"]["judge"] == "tagger":
        judge = f"{judge}, {config['tagger']['name']}"
    return Part(
        run,
        results,
        writer=config["model"]["name"] if "model" in config else None,
        judge=judge,
        types=CLASSIFIERS[config["settings"]["types"]],
    )


# Task 2: answers.


def _holds(outcome: Outcome, verdict: bool | None) -> float | None:
    if outcome.answer.problem is not None:
        return 0.0
    return None if verdict is None else float(verdict)


def adherence(result: QueryResult, strategy: Strategy) -> float | None:
    """1 if an answer behaves as its gold type calls for, else 0 (section 4)."""
    outcome = result.outcomes.get(strategy)
    if outcome is None or result.asked.conflict_type is None:
        return None
    verdict = outcome.judged.adherence
    return _holds(outcome, verdict.adheres if verdict else None)


def answer_recall(result: QueryResult, strategy: Strategy) -> float | None:
    """1 if an answer includes the gold answer, else 0; for questions that have one (section 4)."""
    outcome, asked = result.outcomes.get(strategy), result.asked
    if outcome is None or asked.gold_answer is None or asked.conflict_type not in ANSWERABLE:
        return None
    verdict = outcome.judged.inclusion
    return _holds(outcome, verdict.included if verdict else None)


def grounding(result: QueryResult, strategy: Strategy) -> float | None:
    """Factual grounding of an answer that states any fact, in [0, 1] (section 4)."""
    outcome = result.outcomes.get(strategy)
    if outcome is None:
        return None
    if outcome.answer.problem is not None:
        return 0.0
    return outcome.judged.grounding.share if outcome.judged.grounding else None


BEHAVIOUR: Final = Metric(
    "behaviour", "Expected behaviour", of_each(adherence), STRATEGIES, test="McNemar"
)
ANSWERS: Final = (
    BEHAVIOUR,
    Metric("recall", "Answer recall", of_each(answer_recall), STRATEGIES, test="McNemar"),
    Metric("grounding", "Factual grounding", of_each(grounding), STRATEGIES),
)
"""The metrics of Table 5."""

MERGED: Final[dict[str, frozenset[ConflictType]]] = {
    "No conflict": frozenset({ConflictType.NO_CONFLICT}),
    "Complementary": frozenset({ConflictType.COMPLEMENTARY}),
    "Freshness and misinformation": frozenset({ConflictType.OUTDATED, ConflictType.MISINFORMATION}),
    "Conflicting opinions": frozenset({ConflictType.OPINIONS}),
}
"""The categories of Table 6: for both outdated information and misinformation an answer should
select the right information."""


def of_types(results: Sequence[QueryResult], types: Set[ConflictType]) -> list[QueryResult]:
    """The results of queries whose gold type is one of these."""
    return [result for result in results if result.asked.conflict_type in types]


# Task 1: types.

JOINT: Final = "LLM, with its answer"
"""The taxonomy-aware strategy as a classifier."""

MAJORITY: Final = "Most frequent type"
"""The classifier that always predicts the most frequent type."""

BY_FORM: Final = "Most frequent type, yes/no or not"
"""The classifier that gives yes-or-no questions their most frequent type, and other questions
theirs. In CONFLICTS yes-or-no questions all come from one collection (ConflictingQA), and types
depend on the collection."""

BASELINES: Final = (MAJORITY, BY_FORM)
"""Classifiers that read no source."""

Given = ConflictType | Literal["unreadable"]


def predictions(result: QueryResult) -> dict[str, Prediction]:
    """Every classifier's prediction for a query, by its name in tables; `JOINT` comes last."""
    by_name = {CLASSIFIERS[by]: predicted for by, predicted in result.predictions.items()}
    joint = result.outcomes.get("taxonomy-aware")
    if joint is not None:
        unread = Prediction(
            type=None,
            by="json",
            problem=joint.answer.problem or "the answer came without a type",
            raw=joint.answer.raw,
        )
        by_name[JOINT] = joint.answer.prediction or unread
    return by_name


def shown_classifiers(results: Sequence[QueryResult]) -> list[str]:
    """Names in tables of the classifiers that were asked, in the order of tables."""
    used = {name for result in results for name in predictions(result)}
    return [name for name in (*CLASSIFIERS.values(), JOINT) if name in used]


def classified(
    results: Sequence[QueryResult], classifier: str
) -> dict[str, tuple[ConflictType, Given]]:
    """Query with a gold type -> that type, and the type from a classifier or a baseline."""
    typed = [(result, gold) for result in results if (gold := result.asked.conflict_type)]
    if classifier in BASELINES:
        kinds = {
            result.id: classifier == BY_FORM and affirmed(result.asked.query) is not None
            for result, _ in typed
        }
        most_frequent = {
            kind: commonest(gold for result, gold in typed if kinds[result.id] == kind)
            for kind in {*kinds.values()}
        }
        return {result.id: (gold, most_frequent[kinds[result.id]]) for result, gold in typed}
    return {
        result.id: (gold, predicted.type or "unreadable")
        for result, gold in typed
        if (predicted := predictions(result).get(classifier))
    }


def _type_right(results: Sequence[QueryResult], classifier: str) -> Values:
    pairs = classified(results, classifier)
    return {name: float(pairs[name][0] == pairs[name][1]) for name in sorted(pairs)}


TYPE: Final = Metric(
    "accuracy",
    "Accuracy",
    _type_right,
    {name: name for name in (*CLASSIFIERS.values(), JOINT)},
    test="McNemar",
)


METRICS: Final = (TYPE, *ANSWERS)

MODELS_FIRST: Final = (
    *(CLASSIFIERS[by] for by in ("choice", "json")),
    JOINT,
    CLASSIFIERS["yes-no"],
)
"""Classifiers in order of precedence for a query's verdict."""


def verdict(result: QueryResult) -> str:
    """The type predicted by the first of `MODELS_FIRST` that was asked."""
    said = predictions(result)
    given = next((said[name] for name in MODELS_FIRST if name in said), None)
    if given is None:
        return "not asked"
    return "unreadable" if given.type is None else CATEGORY[given.type].short
