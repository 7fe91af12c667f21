"""Compares two methods on the same examples: difference, interval and p."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from pipelines.metrics.estimate import Estimate, mcnemar, paired_difference, sign_flip
from pipelines.report.table import Column, Measure

ALPHA: Final = 0.05

Example = TypeVar("Example", bound=Hashable)
Place_co = TypeVar("Place_co", covariant=True)
Test = Literal["McNemar", "sign flips"]


@dataclass(frozen=True)
class Comparison:
    """Difference of two methods, first minus second, over the `n` examples with both values.

    The mean difference has the paired 95 % t interval; `p` is the probability of a difference this
    large if both were equally good.
    """

    difference: Estimate | None
    p: float | None
    n: int


def compare(
    first: Mapping[Example, float],
    second: Mapping[Example, float],
    test: Test,
    *,
    bounds: tuple[float, float] = (-1, 1),
    clusters: Mapping[Example, Hashable] | None = None,
) -> Comparison:
    """Compare two methods by their values on common examples.

    The order of `first` acts as a seed, since signs are flipped in that order. McNemar's test needs
    values of 0 or 1; sign flips take any values, and flip whole clusters if there are any.

    Args:
        first: Example -> value.
        second: The same for the other method.
        test: The test that gives p.
        bounds: Range of a difference; by default that of values in [0, 1].
        clusters: Example -> its cluster; examples of one cluster are not independent.

    Raises:
        ValueError: A difference is out of bounds, or clusters are given for McNemar's test.
    """
    shared = [name for name in first if name in second]
    if clusters and test == "McNemar":
        raise ValueError("McNemar's test assumes independent examples; use sign flips")
    if test == "McNemar":
        right, other = ({name: values[name] == 1 for name in shared} for values in (first, second))
        p = mcnemar(right, other)
    else:
        # Sums over clusters replace means; the statistic differs only by a factor.
        sums: dict[Hashable, float] = defaultdict(float)
        for name in shared:
            sums[clusters[name] if clusters else name] += first[name] - second[name]
        p = sign_flip([*sums.values()])
    difference = paired_difference(first, second, bounds=bounds, clusters=clusters)
    return Comparison(difference, p, len(shared))


@dataclass(frozen=True)
class Pair(Generic[Place_co]):
    """Two methods at one place (a run, a data set): measure -> difference, first minus second."""

    at: Place_co
    first: str
    second: str
    measures: Mapping[str, Comparison]


def columns(
    measure: str, title: str, test: Test, *, p: str = "", n: str = ""
) -> list[Column[Pair[Any]]]:
    """The columns of a measure: difference, p, and, with `n`, the number of examples.

    The key of p defaults to the measure's key and "_p"; the title of `n` is the last word of its
    key.
    """
    made: list[Column[Pair[Any]]] = [
        Measure(measure, title, lambda pair: pair.measures[measure].difference),
        Column(p or f"{measure}_p", f"p ({test})", lambda pair: pair.measures[measure].p),
    ]
    if n:
        examples = n.rpartition("_")[2].capitalize()
        made.append(Column(n, examples, lambda pair: pair.measures[measure].n))
    return made


def correction(pairs: Iterable[Pair[Any]]) -> tuple[str, ...]:
    """The note by `bonferroni` on the p values of pairs."""
    return bonferroni([[measure.p for measure in pair.measures.values()] for pair in pairs])


def bonferroni(rows: Sequence[Sequence[float | None]]) -> tuple[str, ...]:
    """A note on the number of p values; empty if nothing was tested."""
    tested = sum(p is not None for row in rows for p in row)
    if not tested:
        return ()
    comparisons = "is 1 comparison" if len(rows) == 1 else f"are {len(rows):,} comparisons"
    return (
        f"There {comparisons} with {tested:,} p {'value' if tested == 1 else 'values'}. "
        f"Bonferroni's correction requires p below {ALPHA:g} / {tested:,} = {ALPHA / tested:.2g}.",
    )
