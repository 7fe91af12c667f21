"""A figure of a paper, declared once.

    METRICS = (
        Metric("exact_match", "Exact match", of_each(exact), methods=METHODS, test="McNemar"),
        Metric("f1", "F1", of_each(f1), methods=METHODS),
    )

Columns, tests, headline, plot and comparison come from it.
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
"""Id of a result -> its value, in the order of ids: random flips hang on it. One that has no value
is not there."""


class Answered(Protocol[ResultT_co]):
    """What a method makes of some results: a row of a table."""

    @property
    def results(self) -> Sequence[ResultT_co]:
        """All results, those that the method was not asked for as well."""

    @property
    def method(self) -> str:
        """The method."""


@dataclass(frozen=True)
class Metric(Generic[ResultT_contra]):
    """A figure that results have under a method.

    Attributes:
        key: Name in CSV, JSON and comparisons: "exact_match".
        title: For people: "Exact match".
        values: Those of the results under a method.
        methods: Those that are compared from run to run -> their titles; one without a name, if the
            experiment has only one.
        bounds: Range of a value.
        test: McNemar's is for values that are 0 or 1.
        better: Which values are.
    """

    key: str
    title: str
    values: Callable[[Sequence[ResultT_contra], Any], Values]
    methods: Mapping[Any, str] = field(default_factory=lambda: {"": ""})
    bounds: tuple[float, float] = (0.0, 1.0)
    test: Test = "sign flips"
    better: Literal["higher", "lower"] = "higher"

    def name(self, method: str) -> str:
        """What comparisons and exports call it: "exact_match.no-rag"."""
        short = re.sub(r"[^a-z0-9]+", "-", method.lower()).strip("-")
        return f"{self.key}.{short}".rstrip(".")

    def estimate(
        self, values: Values, clusters: Mapping[str, Hashable] | None = None
    ) -> Estimate | None:
        """The mean with its 95 % interval: Wilson's of a share, a t interval else.

        `clusters` says what each result shares with those that it is not independent of.
        """
        if clusters is None and self.test == "McNemar":
            return proportion([*values.values()].count(1), len(values))
        named = None if clusters is None else [clusters[name] for name in values]
        return mean([*values.values()], named, bounds=self.bounds)

    def of(self, row: Answered[ResultT_contra]) -> Estimate | None:
        """The mean of a row."""
        return self.estimate(self.values(row.results, row.method))

    def less(self, first: Answered[ResultT_contra], second: Answered[ResultT_contra]) -> Comparison:
        """The first less the second, over the results to which both give a value."""
        low, high = self.bounds
        mine, other = (self.values(row.results, row.method) for row in (first, second))
        return compare(mine, other, self.test, bounds=(low - high, high - low))


def of_each(
    value: Callable[[ResultT, Any], float | None],
) -> Callable[[Sequence[ResultT], Any], Values]:
    """The values of a figure that one result has by itself; None says that it has none."""

    def values(results: Sequence[ResultT], method: str) -> Values:
        found = {str(result.id): value(result, method) for result in results}  # type: ignore[attr-defined]
        return {name: float(given) for name in sorted(found) if (given := found[name]) is not None}

    return values


def columns(metrics: Iterable[Metric[ResultT]]) -> list[Column[Answered[ResultT]]]:
    """A column for each."""
    return [Measure(metric.key, metric.title, metric.of) for metric in metrics]


def pair(
    at: object,
    first: Answered[ResultT],
    second: Answered[ResultT],
    metrics: Sequence[Metric[ResultT]],
) -> Pair[object]:
    """Two methods at a place, by their titles, compared by each metric."""
    measures = {metric.key: metric.less(first, second) for metric in metrics}
    one, other = (metrics[0].methods.get(row.method, row.method) for row in (first, second))
    return Pair(at, one, other, measures)


def differences(metrics: Sequence[Metric[ResultT]]) -> list[Column[Pair[object]]]:
    """The columns of pairs: each metric's difference and p, and on how many results they rest."""
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
    """A row per pair: where (`at`), the two, what a `method` is called, and their differences."""
    return Table.of(
        pairs,
        columns=[
            *map(of_place, at),
            Column("first", method),
            Column("second", "less"),
            *differences(metrics),
        ],
        notes=(*correction(pairs), *notes),
        name=name,
        title=title,
        caption=caption,
    )


class Named(NamedTuple):
    """A metric under one of its methods, as runs are compared by it."""

    metric: Metric[BaseModel]
    method: str

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.metric.title}, {self.metric.methods[self.method]}".removesuffix(", ")

    def values(self, results: Sequence[BaseModel]) -> Values:
        """Those of the results."""
        return self.metric.values(results, self.method)


def named(metrics: Iterable[Metric[ResultT]]) -> dict[str, Named]:
    """Every metric under each of its methods, by names such as "exact_match.no-rag"."""
    return {
        metric.name(method): Named(metric, method)  # type: ignore[arg-type]  # its own results
        for metric in metrics
        for method in metric.methods
    }
