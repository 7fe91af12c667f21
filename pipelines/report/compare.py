"""Two methods on the same examples: how far they differ, and how sure that is."""

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
    """The first of two methods less the second, on the `n` examples on which both have a value.

    The mean difference has the paired 95 % t interval; `p` is the probability of so large a
    difference, were both equally good.
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
    """Compare two methods by their values on the examples that both have.

    Signs are flipped in the order of `first`, so it decides, like a seed, how random flips come
    out. McNemar's test is of values that are 0 or 1, the other one of any values. Where examples
    come in clusters, signs are flipped, all of a cluster together.

    Args:
        first: Example -> value.
        second: The same of the other method.
        test: What p is by.
        bounds: Range of a difference; that of values in [0, 1] unless given.
        clusters: Example -> what it shares with examples that it is not independent of.

    Raises:
        ValueError: A difference is out of bounds, or clusters are given for McNemar's test.
    """
    shared = [name for name in first if name in second]
    if clusters and test == "McNemar":
        raise ValueError("McNemar's test takes examples as independent; flip signs")
    if test == "McNemar":
        right, other = ({name: values[name] == 1 for name in shared} for values in (first, second))
        p = mcnemar(right, other)
    else:
        # The sum over a cluster stands for its mean: the statistic is the same but for a factor.
        sums: dict[Hashable, float] = defaultdict(float)
        for name in shared:
            sums[clusters[name] if clusters else name] += first[name] - second[name]
        p = sign_flip([*sums.values()])
    difference = paired_difference(first, second, bounds=bounds, clusters=clusters)
    return Comparison(difference, p, len(shared))


@dataclass(frozen=True)
class Pair(Generic[Place_co]):
    """Two methods at a place (a run, a data set): by measure, the first less the second."""

    at: Place_co
    first: str
    second: str
    measures: Mapping[str, Comparison]


def columns(
    measure: str, title: str, test: Test, *, p: str = "", n: str = ""
) -> list[Column[Pair[Any]]]:
    """The columns of a measure: its difference and p, and where `n` is named the examples.

    The key of p is that of the measure with "_p", unless one is given; the end of `n`, the key of
    the number of examples, is its title.
    """
    found: list[Column[Pair[Any]]] = [
        Measure(measure, title, lambda pair: pair.measures[measure].difference),
        Column(p or f"{measure}_p", f"p ({test})", lambda pair: pair.measures[measure].p),
    ]
    if n:
        examples = n.rpartition("_")[2].capitalize()
        found.append(Column(n, examples, lambda pair: pair.measures[measure].n))
    return found


def correction(pairs: Iterable[Pair[Any]]) -> tuple[str, ...]:
    """The note of `bonferroni` on pairs."""
    return bonferroni([[each.p for each in pair.measures.values()] for pair in pairs])


def bonferroni(rows: Sequence[Sequence[float | None]]) -> tuple[str, ...]:
    """A note on how many values of p the rows have; none where nothing was tested."""
    tested = sum(p is not None for row in rows for p in row)
    if not tested:
        return ()
    return (
        f"There are {len(rows):,} comparisons with {tested:,} values of p. Bonferroni's "
        f"correction asks for a p below {ALPHA:g} / {tested:,} = {ALPHA / tested:.2g}.",
    )
