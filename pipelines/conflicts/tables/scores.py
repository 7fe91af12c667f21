"""What answers and predicted types are worth, query by query (CONFLICTS, section 4)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from pipelines.conflicts.data import Query
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import Outcome, QueryResult, Strategy
from pipelines.conflicts.taxonomy import ANSWERABLE, CATEGORY, ConflictType, Prediction, commonest
from pipelines.experiment.metric import Metric, Values
from pipelines.metrics.estimate import Estimate, mean, proportion, share
from pipelines.metrics.rates import macro_f1
from pipelines.report.compare import Comparison, Test, compare
from pipelines.text.declarative import affirmed

Results = Mapping[str, Sequence[QueryResult]]
"""Name of a run -> its results."""

MERGED: Final[dict[str, frozenset[ConflictType]]] = {
    "No conflict": frozenset({ConflictType.NO_CONFLICT}),
    "Complementary": frozenset({ConflictType.COMPLEMENTARY}),
    "Freshness and misinformation": frozenset({ConflictType.OUTDATED, ConflictType.MISINFORMATION}),
    "Conflicting opinions": frozenset({ConflictType.OPINIONS}),
}
"""The categories of Table 6: of both outdated information and misinformation an answer should
select what is right."""

Missing = Literal["without", "unreadable", "unjudged"]
"""Why an answer has no value: the measure does not apply to it; it could not be read; no judge said
anything of it that could be read."""

Rule = Callable[[Query, Outcome], float | Missing]
"""The value of an answer, or why it has none."""


@dataclass(frozen=True)
class Part:
    """The results of a run, in its order, and the names of who answered and judged, if any.

    `types` is the classifier whose type the Pipeline was told, as tables call it.
    """

    run: str
    results: Sequence[QueryResult]
    writer: str | None = None
    judge: str | None = None
    types: str | None = None

    @property
    def strategies(self) -> list[Strategy]:
        """Those that answered any query, in the order of section 5.1."""
        used = {strategy for each in self.results for strategy in each.outcomes}
        return [each for each in STRATEGIES if each in used]


@dataclass(frozen=True)
class Scores:
    """A measure over the answers of a strategy; of all queries, what has no value is counted.

    Attributes:
        values: Query -> value in [0, 1].
        missing: Why others have none -> how many.
        failed: Queries that failed as a whole.
    """

    values: Mapping[str, float]
    missing: Counter[Missing]
    failed: int

    @property
    def queries(self) -> int:
        """All that were asked."""
        return len(self.values) + self.missing.total() + self.failed

    @property
    def share(self) -> Estimate | None:
        """Share of answers of which a measure holds that is either 0 or 1."""
        return proportion(list(self.values.values()).count(1), len(self.values))

    @property
    def share_of_all(self) -> Estimate | None:
        """The same with answers that could not be read, which count as if it did not hold."""
        every = len(self.values) + self.missing["unreadable"]
        return proportion(list(self.values.values()).count(1), every)

    @property
    def mean(self) -> Estimate | None:
        """Mean of a measure that is a share."""
        return mean(list(self.values.values()), bounds=(0, 1))

    @property
    def mean_of_all(self) -> Estimate | None:
        """The same with answers that could not be read, which count as 0."""
        return mean([*self.values.values(), *[0.0] * self.missing["unreadable"]], bounds=(0, 1))


class Slice(NamedTuple):
    """The results of a run under one strategy: all, or those that `name` says."""

    part: Part
    strategy: Strategy
    results: Sequence[QueryResult]
    name: str = ""

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Query -> what the strategy made of it, where it was asked; unreadable ones as well."""
        return {
            each.id: each.outcomes[self.strategy]
            for each in self.results
            if each.status != "failed" and self.strategy in each.outcomes
        }

    @property
    def unreadable(self) -> int:
        """Answers that could not be read."""
        return sum(each.answer.problem is not None for each in self.outcomes.values())

    def scores(self, measure: Rule) -> Scores:
        """A measure over the answers; a query that another strategy alone answered is left out."""
        asked = {each.id: each.asked for each in self.results}
        found = {name: measure(asked[name], each) for name, each in self.outcomes.items()}
        return Scores(
            {name: value for name, value in found.items() if not isinstance(value, str)},
            Counter(why for why in found.values() if isinstance(why, str)),
            failed=sum(each.status == "failed" for each in self.results),
        )

    def less(self, other: "Slice", measure: Rule, test: Test) -> Comparison:
        """Compare with another strategy, query by query."""
        # In the order of their names: random flips would else depend on the order of the results.
        own = sorted(self.scores(measure).values.items())
        return compare(dict(own), other.scores(measure).values, test)


def slices(made: Sequence[Part]) -> list[Slice]:
    """All results of each run under each of its strategies."""
    return [Slice(part, strategy, part.results) for part in made for strategy in part.strategies]


def part_of(run: str, results: Sequence[QueryResult], config: Mapping[str, Any]) -> Part:
    """The results of a run, and who its configuration in `run.json` says made them."""
    judge = config["judge"]["name"] if "judge" in config else None
    if judge and config["settings"]["judge"] == "nli":
        judge = f"{judge}, {config['tagger']['name']}"
    return Part(
        run,
        results,
        # Earlier versions named the tagger as the model where they asked no other.
        writer=None
        if config.get("model") in (None, config.get("tagger"))
        else config["model"]["name"],
        judge=judge,
        types=CLASSIFIERS[config["settings"]["types"]],
    )


def of_types(own: Sequence[QueryResult], types: Set[ConflictType]) -> list[QueryResult]:
    """The results of queries whose gold type is one of these."""
    return [each for each in own if each.asked.conflict_type in types]


def adherence(asked: Query, outcome: Outcome) -> float | Missing:
    """1 where an answer behaves as its conflict type wants, else 0 (section 4)."""
    if asked.conflict_type is None:
        return "without"
    verdict = outcome.judged.adherence
    return _verdict(outcome, verdict.adheres if verdict else None)


def answer_recall(asked: Query, outcome: Outcome) -> float | Missing:
    """1 where an answer includes the gold answer, else 0, of questions with one (section 4)."""
    if asked.gold_answer is None or asked.conflict_type not in ANSWERABLE:
        return "without"
    verdict = outcome.judged.inclusion
    return _verdict(outcome, verdict.included if verdict else None)


def _verdict(outcome: Outcome, holds: bool | None) -> float | Missing:
    if outcome.answer.problem is not None:
        return "unreadable"
    return "unjudged" if holds is None else float(holds)


def grounding(asked: Query, outcome: Outcome) -> float | Missing:
    """Factual grounding of an answer that says any fact (section 4)."""
    if outcome.answer.problem is not None:
        return "unreadable"
    verdict = outcome.judged.grounding
    if verdict is None:
        return "unjudged"
    if verdict.share is not None:
        return verdict.share
    unread = any(each.grounds is None for each in verdict.sentences)
    return "unjudged" if unread else "without"


JOINT: Final = "LLM, with its answer"
"""The classifier that the taxonomy-aware strategy is."""

MAJORITY: Final = "Most frequent type"
"""The classifier that always says the type which most queries have."""

BY_FORM: Final = "Most frequent type, yes/no or not"
"""The one that says the type which most questions of yes or no have, and of others the type which
most others have. In CONFLICTS the questions of yes or no are those of one collection
(ConflictingQA), and types go with collections."""

Silence = Literal["abstained", "unreadable"]
"""No type reached its threshold, or the reply could not be read."""

BASELINES: Final = (MAJORITY, BY_FORM)
"""Classifiers that read no source."""


@dataclass(frozen=True)
class Classification:
    """What a classifier says of queries that have a gold type; the rest is counted.

    Attributes:
        said: Query -> gold type, and the type that it gave or why it gave none.
        untyped: Queries without a gold type.
        failed: Queries that failed as a whole.
    """

    said: Mapping[str, tuple[ConflictType, ConflictType | Silence]]
    untyped: int
    failed: int

    @property
    def queries(self) -> int:
        """All that were asked."""
        return len(self.said) + self.untyped + self.failed

    @property
    def pairs(self) -> dict[str, tuple[ConflictType, ConflictType]]:
        """Query -> gold type and the type that it gave."""
        return {
            name: (gold, given)
            for name, (gold, given) in self.said.items()
            if isinstance(given, ConflictType)
        }

    def silent(self, why: Silence) -> int:
        """Queries of a gold type that it gave none, for that reason."""
        return sum(given == why for _, given in self.said.values())

    def right(self) -> dict[str, bool]:
        """Query -> whether the type that it gave is the gold type."""
        return {name: gold == given for name, (gold, given) in self.pairs.items()}

    @property
    def accuracy(self) -> Estimate | None:
        """Share of right types among those given."""
        return share(self.right().values())

    @property
    def accuracy_of_all(self) -> Estimate | None:
        """The same among all queries with a gold type."""
        return proportion(sum(self.right().values()), len(self.said))

    @property
    def macro_f1(self) -> Estimate | None:
        """Over the types given."""
        pairs = self.pairs.values()
        gold, given = [gold for gold, _ in pairs], [given for _, given in pairs]
        return macro_f1(gold, given, list(ConflictType))


def predictions(result: QueryResult) -> dict[str, Prediction]:
    """What every classifier says of a query, by the names of tables; `JOINT` comes last."""
    found = {CLASSIFIERS[by]: each for by, each in result.predictions.items()}
    joint = result.outcomes.get("taxonomy-aware")
    if joint is not None:
        unread = Prediction(
            type=None,
            by="json",
            problem=joint.answer.problem or "the answer came without a type",
            raw=joint.answer.raw,
        )
        found[JOINT] = joint.answer.prediction or unread
    return found


def shown_classifiers(own: Sequence[QueryResult]) -> list[str]:
    """The classifiers that were asked anything, by the names of tables, in their order."""
    used = {name for each in own for name in predictions(each)}
    return [name for name in (*CLASSIFIERS.values(), JOINT) if name in used]


def classification(own: Sequence[QueryResult], classifier: str) -> Classification:
    """What a classifier, by its name in tables, says of the queries of a run."""
    said: dict[str, tuple[ConflictType, ConflictType | Silence]] = {}
    untyped = failed = 0
    for each in own:
        if each.status == "failed":
            failed += 1
            continue
        made, gold = predictions(each).get(classifier), each.asked.conflict_type
        if made is None:
            continue
        if gold is None:
            untyped += 1
        elif made.problem is not None:
            said[each.id] = gold, "unreadable"
        else:
            said[each.id] = gold, made.type or "abstained"
    return Classification(said, untyped, failed)


def baseline(own: Sequence[QueryResult], name: str) -> Classification:
    """One of `BASELINES`: the most frequent gold type of its kind; of equal ones the first.

    It reads no source, so no query fails.
    """
    kinds = {each.id: name == BY_FORM and affirmed(each.asked.query) is not None for each in own}
    known = {
        each.id: each.asked.conflict_type for each in own if each.asked.conflict_type is not None
    }
    most = {
        kind: commonest(known[id_] for id_ in known if kinds[id_] == kind)
        for kind in {*kinds.values()}
    }
    said = {id_: (gold, most[kinds[id_]]) for id_, gold in known.items()}
    return Classification(said, untyped=len(own) - len(known), failed=0)


MODELS_FIRST: Final = (
    *(CLASSIFIERS[by] for by in ("choice", "json")),
    JOINT,
    CLASSIFIERS["yes-no"],
)
"""Classifiers in the order in which their type is a query's verdict."""


def _type_right(results: Sequence[QueryResult], classifier: str) -> Values:
    return classification(results, NAMED[classifier]).right()


def _of_answers(rule: Rule) -> Callable[[Sequence[QueryResult], Strategy], Values]:
    return lambda results, strategy: Slice(Part("", results), strategy, results).scores(rule).values


NAMED: Final[Mapping[str, str]] = {**dict(CLASSIFIERS.items()), "with-answer": JOINT}

METRICS: Final = (
    Metric("type", "Type right", _type_right, NAMED, test="McNemar"),
    Metric("behaviour", "Expected behaviour", _of_answers(adherence), STRATEGIES, test="McNemar"),
    Metric("recall", "Answer recall", _of_answers(answer_recall), STRATEGIES, test="McNemar"),
    Metric("grounding", "Factual grounding", _of_answers(grounding), STRATEGIES),
)


def verdict(result: QueryResult) -> str:
    """The type that a classifier gives: the first of those that were asked."""
    said = predictions(result)
    given = next((said[name] for name in MODELS_FIRST if name in said), None)
    if given is None:
        return "not asked"
    if given.problem is not None:
        return "unreadable"
    return "abstained" if given.type is None else CATEGORY[given.type].short
