"""What answers are worth, query by query (CONFLICTS, section 4).

What cannot be read has no score: it is counted, and never taken for what is wrong.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.question import Query
from pipelines.conflicts.result import Outcome, QueryResult, Strategy
from pipelines.conflicts.taxonomy import ANSWERABLE, ConflictType
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.metrics.proportion import proportion
from pipelines.report.compare import Comparison, Test, compare

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
