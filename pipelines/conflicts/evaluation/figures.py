"""What several tables share: their columns, their cells, and what readers must know."""

from typing import Final

from pipelines.conflicts.evaluation.scores import Measured
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mcnemar import mcnemar
from pipelines.metrics.mean import mean
from pipelines.metrics.paired import paired_difference
from pipelines.metrics.proportion import proportion
from pipelines.metrics.sign_flip import sign_flip
from pipelines.report.table import Cell, Column

HERE: Final = "this run"
"""What a table calls its own figures, beside those of the paper."""

ALPHA: Final = 0.05

LEFT_OUT: Final = (
    "Answers and verdicts that could not be read are counted in columns of their own. They have no "
    "value and enter no average: what could not be read is not taken for what is wrong."
)
RULES: Final = (
    "Expected behaviour is over queries with a gold type, answer recall over those that have one "
    "right answer, factual grounding the mean over answers of the share of supported sentences "
    "among those with factual information (section 4)."
)
PAIRED: Final = (
    "In brackets the paired 95 % t interval. McNemar's test is exact; signs are flipped at random "
    "for factual grounding."
)

RUN: Final = Column("run", "Run")
WRITER: Final = Column("writer", "Model")
JUDGE: Final = Column("judge", "Judge")
STRATEGY: Final = Column("strategy", "Strategy")
BEHAVIOUR: Final = Column("behaviour", "Expected behaviour", interval=True)
RECALL: Final = Column("recall", "Answer recall", interval=True)
GROUNDING: Final = Column("grounding", "Factual grounding", interval=True)


def share(own: Measured) -> Estimate | None:
    """Share of answers of which a measure holds that is either 0 or 1."""
    return proportion(own.successes, len(own.values))


def share_of_all(own: Measured) -> Estimate | None:
    """The same over answers that could not be read as well, which count as if it did not hold."""
    return proportion(own.successes, len(own.values) + own.missing.get("unreadable", 0))


def mean_share(own: Measured) -> Estimate | None:
    """Mean of a measure that is a share."""
    return mean(list(own.values.values()), bounds=(0, 1))


def holding_difference(first: Measured, second: Measured) -> tuple[Cell, Cell, Cell]:
    """First less second of a measure that is either 0 or 1: difference, p of McNemar, queries."""
    return (
        paired_difference(first.values, second.values, bounds=(-1, 1)),
        mcnemar(first.holds(), second.holds()),
        len(first.values.keys() & second.values.keys()),
    )


def share_difference(first: Measured, second: Measured) -> tuple[Cell, Cell, Cell]:
    """First less second of a measure that is a share: difference, p of sign flips, queries."""
    # In the order of their names: random flips would else depend on the order of the results.
    shared = sorted(first.values.keys() & second.values.keys())
    return (
        paired_difference(first.values, second.values, bounds=(-1, 1)),
        sign_flip([first.values[name] - second.values[name] for name in shared]),
        len(shared),
    )


def bonferroni(pairs: int, tested: int) -> tuple[str, ...]:
    """A note on so many comparisons; none where nothing was tested.

    Args:
        pairs: Rows.
        tested: Values of p in them.
    """
    if not tested:
        return ()
    return (
        f"There are {pairs:,} comparisons with {tested:,} values of p. Bonferroni's correction "
        f"asks for a p below {ALPHA:g} / {tested:,} = {ALPHA / tested:.2g}.",
    )
