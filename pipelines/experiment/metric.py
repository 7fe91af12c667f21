"""A figure of a paper, declared once.

    METRICS = (
        Metric("exact_match", "Exact match", of_each(exact), methods=METHODS, test="McNemar"),
        Metric("f1", "F1", of_each(f1), methods=METHODS),
    )

Columns, tests, headline, plot and comparison are made from it.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from pipelines.metrics.estimate import Estimate, mean, proportion
from pipelines.report.compare import Comparison, Pair, Test, compare, correction
from pipelines.report.compare import columns as of_measure
from pipelines.report.table import Column, Measure, Table, of_place

ResultT = TypeVar("ResultT", bound=BaseModel)
ResultT_co = TypeVar("ResultT_co", bound=BaseModel, covariant=True)
ResultT_contra = TypeVar("ResultT_contra", bound=BaseModel, contravariant=True)

Values = Mapping[str, float]
"""Id of a result -> its value. Ids are sorted, since random flips depend on their order. Results
without a value are left out."""


class Answered(Protocol[ResultT_co]):
    """A method's outcome on some results: a row of a table."""

    @property
    def results(self) -> Sequence[ResultT_co]:
        """All results, including those where the method was not used."""

    @property
    def method(self) -> str:
        """Name of the method."""


@dataclass(frozen=True)
class Metric(Generic[ResultT_contra]):
    """A figure of the results under a method.

    Attributes:
        key: Name in CSV, JSON and comparisons: "exact_match".
        title: For people: "Exact match".
        values: The values of results under a method.
        methods: Methods that are compared from run to run -> their titles; the empty name if the
            experiment has only one.
        bounds: Range of a value.
        test: McNemar's is for values that are 0 or 1.
        better: Whether higher or lower values are better.
    """

    key: str
    title: str
    values: Callable[[Sequence[ResultT_contra], Any], Values]
    methods: Mapping[Any, str] = field(default_factory=lambda: {"": ""})
    bounds: tuple[float, float] = (0.0, 1.0)
    test: Test = "sign flips"
    better: Literal["higher", "lower"] = "higher"

    def name(self, method: str) -> str:
        """Name in comparisons and exports: "exact_match.no-rag"."""
        short = re.sub(r"[^a-z0-9]+", "-", method.lower()).strip("-")
        return f"{self.key}.{short}".rstrip(".")

    def estimate(
        self, values: Values, clusters: Mapping[str, Hashable] | None = None
    ) -> Estimate | None:
        """The mean with its 95 % interval: Wilson's for a share, otherwise a t interval.

        `clusters` maps a result to what it shares with the results that depend on it.
        """
        if clusters is None and self.test == "McNemar":
            return proportion([*values.values()].count(1), len(values))
        named = None if clusters is None else [clusters[name] for name in values]
        return mean([*values.values()], named, bounds=self.bounds)

    def of(self, row: Answered[ResultT_contra]) -> Estimate | None:
        """The mean of a row."""
        return self.estimate(self.values(row.results, row.method))

    def less(self, first: Answered[ResultT_contra], second: Answered[ResultT_contra]) -> Comparison:
        """First minus second, over the results that have a value for both."""
        low, high = self.bounds
        mine, other = (self.values(row.results, row.method) for row in (first, second))
        return compare(mine, other, self.test, bounds=(low - high, high - low))


def of_each(
    value: Callable[[ResultT, Any], float | None],
) -> Callable[[Sequence[ResultT], Any], Values]:
    """The values of a figure that is computed per result; None means no value."""

    def values(results: Sequence[ResultT], method: str) -> Values:
        by_id = {str(result.id): value(result, method) for result in results}  # type: ignore[attr-defined]
        return {name: float(given) for name in sorted(by_id) if (given := by_id[name]) is not None}

    return values


def columns(metrics: Iterable[Metric[ResultT]]) -> list[Column[Answered[ResultT]]]:
    """A column per metric."""
    return [Measure(metric.key, metric.title, metric.of) for metric in metrics]


def pair(
    at: object,
    first: Answered[ResultT],
    second: Answered[ResultT],
    metrics: Sequence[Metric[ResultT]],
) -> Pair[object]:
    """Compare two methods at a place by each metric; the pair has their titles."""
    measures = {metric.key: metric.less(first, second) for metric in metrics}
    one, other = (metrics[0].methods.get(row.method, row.method) for row in (first, second))
    return Pair(at, one, other, measures)


def differences(metrics: Sequence[Metric[ResultT]]) -> list[Column[Pair[object]]]:
    """Columns for pairs: each metric's difference and p-value, and the number of results."""
    made: list[Column[Pair[object]]] = []
    for metric in metrics:
        made += of_measure(metric.key, metric.title, metric.test)
    return [*made, Column("n", "n", lambda pair: pair.measures[metrics[0].key].n)]


def difference_table(
    pairs: Sequence[Pair[object]],
    metrics: Sequence[Metric[ResultT]],
    at: Iterable[Column[Any]],
    *,
    method: str,
    notes: tuple[str, ...],
    name: str,
    title: str,
    caption: str = "",
) -> Table:
    """A row per pair: its place (`at`), the two methods (titled `method`), the differences."""
    return Table.of(
        pairs,
        columns=[
            *map(of_place, at),
            Column("first", method),
            Column("second", "minus"),
            *differences(metrics),
        ],
        notes=(*correction(pairs), *notes),
        name=name,
        title=title,
        caption=caption,
    )


class Named(NamedTuple):
    """A metric under one of its methods: a figure by which runs are compared."""

    metric: Metric[BaseModel]
    method: str

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.metric.title}, {self.metric.methods[self.method]}".removesuffix(", ")

    def values(self, results: Sequence[BaseModel]) -> Values:
        """The values of results under the method."""
        return self.metric.values(results, self.method)


def named(metrics: Iterable[Metric[ResultT]]) -> dict[str, Named]:
    """Every metric under each of its methods, by names such as "exact_match.no-rag"."""
    return {
        metric.name(method): Named(metric, method)  # type: ignore[arg-type]  # its own results
        for metric in metrics
        for method in metric.methods
    }
