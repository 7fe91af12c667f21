"""Two methods on the same examples: how far they differ, and how sure that is."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mcnemar import mcnemar
from pipelines.metrics.paired import paired_difference
from pipelines.metrics.sign_flip import sign_flip
from pipelines.report.table import Column, Measure

ALPHA: Final = 0.05

Example = TypeVar("Example", bound=Hashable)
Place_co = TypeVar("Place_co", covariant=True)
Test = Literal["McNemar", "sign flips"]


@dataclass(frozen=True)
class Comparison:
    """The first of two methods less the second.

    Attributes:
        difference: Mean difference, with the paired 95 % t interval.
        p: Probability of so large a difference, were both equally good.
        n: Examples on which both have a value.
    """

    difference: Estimate | None
    p: float | None
    n: int


def compare(
    first: Mapping[Example, float], second: Mapping[Example, float], test: Test
) -> Comparison:
    """Compare two methods, example by example.

    Args:
        first: Example -> value in [0, 1]. Signs are flipped in this order, so it decides, like a
            seed, how random flips come out.
        second: Likewise, in any order; examples that only one side has are left out.
        test: McNemar's is of values that are 0 or 1, the other one of any values.
    """
    shared = [name for name in first if name in second]
    if test == "McNemar":
        right, other = ({name: values[name] == 1 for name in shared} for values in (first, second))
        p = mcnemar(right, other)
    else:
        p = sign_flip([first[name] - second[name] for name in shared])
    return Comparison(paired_difference(first, second, bounds=(-1, 1)), p, len(shared))


@dataclass(frozen=True)
class Pair(Generic[Place_co]):
    """Two methods on the same examples: the first less the second.

    Attributes:
        at: Where: a run, a data set.
        first: What the first is called.
        second: Likewise.
        by: Measure -> their comparison.
    """

    at: Place_co
    first: str
    second: str
    by: Mapping[str, Comparison]


def columns(
    measure: str, title: str, test: Test, *, p: str = "", n: str = ""
) -> list[Column[Pair[Any]]]:
    """The columns of a measure: the difference and p, and where `n` is named the examples.

    Args:
        measure: Key of the difference, and of the measure in pairs.
        title: Of the measure.
        test: What p is of.
        p: Its key; empty for that of the measure with "_p".
        n: Key of the number of examples, whose end is its title.
    """
    return [
        Measure(measure, title, lambda pair: pair.by[measure].difference),
        Column(p or f"{measure}_p", f"p ({test})", lambda pair: pair.by[measure].p),
        *([_examples(n, measure)] if n else []),
    ]


def _examples(key: str, measure: str) -> Column[Pair[Any]]:
    title = key.rpartition("_")[2].capitalize()
    return Column(key, title, lambda pair: pair.by[measure].n)


def correction(pairs: Iterable[Pair[Any]]) -> tuple[str, ...]:
    """The note of `bonferroni` on pairs."""
    return bonferroni([[each.p for each in pair.by.values()] for pair in pairs])


def bonferroni(rows: Sequence[Sequence[float | None]]) -> tuple[str, ...]:
    """A note on how many comparisons a table makes; none where nothing was tested.

    Args:
        rows: The values of p in every row.
    """
    tested = sum(p is not None for row in rows for p in row)
    if not tested:
        return ()
    return (
        f"There are {len(rows):,} comparisons with {tested:,} values of p. Bonferroni's "
        f"correction asks for a p below {ALPHA:g} / {tested:,} = {ALPHA / tested:.2g}.",
    )
