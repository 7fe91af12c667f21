"""What answers are worth, query by query (CONFLICTS, section 4).

What cannot be read has no score: it is counted, and never taken for what is wrong.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from pipelines.conflicts.judges.verdicts import Grounds, SentenceGrounding
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
    """The results of a run.

    Attributes:
        run: What the run is called.
        writer: The model that answered; None where nobody gave it.
        judge: The model that judged, likewise.
        types: The classifier whose type the Pipeline was told, as tables call it, likewise.
        results: In the order of the run.
    """

    run: str
    writer: str | None
    judge: str | None
    types: str | None
    results: tuple[QueryResult, ...]


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


class Slice(NamedTuple):
    """The results of a run under one strategy: all, or those that `name` says."""

    part: Part
    strategy: Strategy
    results: Sequence[QueryResult]
    name: str = ""

    def scores(self, measure: Rule) -> Scores:
        """A measure over the answers; a query that another strategy alone answered is left out."""
        return scored(self.results, self.strategy, measure)

    def less(self, other: "Slice", measure: Rule, test: Test) -> Comparison:
        """Compare with another strategy, query by query."""
        # In the order of their names: random flips would else depend on the order of the results.
        own = sorted(self.scores(measure).values.items())
        return compare(dict(own), other.scores(measure).values, test)

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Query -> what the strategy made of it, where it was asked; unreadable ones as well."""
        return answered(self.results, self.strategy)

    @property
    def unreadable(self) -> int:
        """Answers that could not be read."""
        return sum(each.answer.problem is not None for each in self.outcomes.values())


def slices(made: Sequence[Part]) -> list[Slice]:
    """All results of each run under each of its strategies."""
    return [
        Slice(part, strategy, part.results)
        for part in made
        for strategy in shown_strategies(part.results)
    ]


def parts(results: Results, model_of: Mapping[str, Mapping[str, str]]) -> list[Part]:
    """The runs in order.

    Args:
        results: Name of a run -> its results.
        model_of: Name of a run -> names of its "writer" and its "judge", and the classifier that
            its "types" are from. A name that is empty or left out was not given.
    """
    titles = {str(by): title for by, title in CLASSIFIERS.items()}
    made = []
    for name, own in results.items():
        by = model_of.get(name, {})
        types = by.get("types") or None
        made.append(
            Part(
                run=name,
                writer=by.get("writer") or None,
                judge=by.get("judge") or None,
                types=types and titles.get(types, types),
                results=tuple(own),
            )
        )
    return made


def merged(conflict_type: ConflictType) -> str:
    """The category of Table 6 that a type belongs to."""
    return next(name for name, types in MERGED.items() if conflict_type in types)


def of_types(own: Sequence[QueryResult], types: Set[ConflictType]) -> list[QueryResult]:
    """The results of queries whose gold type is one of these."""
    return [each for each in own if each.asked.conflict_type in types]


def shown_strategies(own: Sequence[QueryResult]) -> list[Strategy]:
    """The strategies that answered any query, in the order of section 5.1."""
    used = {strategy for each in own for strategy in each.outcomes}
    return [each for each in STRATEGIES if each in used]


def adherence(asked: Query, outcome: Outcome) -> float | Missing:
    """1 where an answer behaves as its conflict type wants, else 0 (section 4)."""
    if asked.conflict_type is None:
        return "without"
    if outcome.answer.problem is not None:
        return "unreadable"
    verdict = outcome.judged.adherence
    return "unjudged" if verdict is None or verdict.adheres is None else float(verdict.adheres)


def answer_recall(asked: Query, outcome: Outcome) -> float | Missing:
    """1 where an answer includes the gold answer, else 0, of questions with one (section 4)."""
    if asked.gold_answer is None or asked.conflict_type not in ANSWERABLE:
        return "without"
    if outcome.answer.problem is not None:
        return "unreadable"
    verdict = outcome.judged.inclusion
    return "unjudged" if verdict is None or verdict.included is None else float(verdict.included)


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


def scored(own: Sequence[QueryResult], strategy: Strategy, measure: Rule) -> Scores:
    """A measure over the answers of a strategy.

    A query that was answered, but not by this strategy, does not count.
    """
    values: dict[str, float] = {}
    missing: Counter[Missing] = Counter()
    failed = 0
    for each in own:
        if each.status == "failed":
            failed += 1
        elif strategy in each.outcomes:
            found = measure(each.asked, each.outcomes[strategy])
            if isinstance(found, str):
                missing[found] += 1
            else:
                values[each.id] = found
    return Scores(values, missing, failed)


def answered(own: Sequence[QueryResult], strategy: Strategy) -> dict[str, Outcome]:
    """Query -> what a strategy made of it, where it was asked; unreadable answers as well."""
    return {
        each.id: each.outcomes[strategy]
        for each in own
        if each.status != "failed" and strategy in each.outcomes
    }


def judged_sentences(
    outcomes: Mapping[str, Outcome],
) -> dict[str, tuple[SentenceGrounding, ...]]:
    """Query -> its answer's sentences as judged, where a judge was asked."""
    return {
        name: outcome.judged.grounding.sentences
        for name, outcome in outcomes.items()
        if outcome.judged.grounding is not None
    }


def factual(sentences: Mapping[str, Sequence[SentenceGrounding]]) -> list[tuple[str, bool]]:
    """The sentences with factual information, each as its query and whether it is supported."""
    return [
        (name, each.grounds is Grounds.SUPPORTED)
        for name, own in sentences.items()
        for each in own
        if each.grounds is not None and each.grounds is not Grounds.NO_FACT
    ]


def told(strategy: Strategy, outcome: Outcome) -> ConflictType | None:
    """The type that an answer was written under: what the model was told, or gave itself."""
    if strategy == "taxonomy-aware":
        return outcome.answer.prediction.type if outcome.answer.prediction else None
    return outcome.answer.told
