"""Figures that several tables have: their columns, their cells, and what readers must know."""

from pipelines.madam_rag.evaluation.scores import Scored
from pipelines.metrics.mcnemar import mcnemar
from pipelines.metrics.mean import mean
from pipelines.metrics.paired import paired_difference
from pipelines.metrics.proportion import proportion
from pipelines.metrics.sign_flip import sign_flip
from pipelines.report.table import Cell, Column

HERE = "this run"
"""What a table calls its own figures, beside those of the paper."""

LEFT_OUT = (
    "Questions that failed, that have no gold answer, or whose reply could not be read are counted "
    "among the questions, each in a column of their own. They have no score and enter no average "
    "of scores: a reply that could not be read is not taken for a wrong one."
)
RULES = (
    "Exact match: all gold answers are named and no wrong one (section 5.1). By which rules an "
    "answer is named stands in docs/madam-rag.md."
)
MEANS = (
    "In brackets 95 % intervals: Wilson of exact match, else t intervals. Precision is over "
    "questions with any answer; without one recall and F1 are 0."
)
PAIRED = (
    "In brackets the paired 95 % t interval. McNemar's test is exact; signs are flipped at random "
    "for F1."
)

COUNTS = (
    Column("questions", "Questions"),
    Column("failed", "Failed"),
    Column("no_gold", "No gold answer"),
    Column("unreadable", "Unreadable"),
)
WORTH = (
    Column("precision", "Precision", interval=True),
    Column("recall", "Recall", interval=True),
    Column("f1", "F1", interval=True),
)
EXACT = Column("exact_match", "Exact match", interval=True)
DIFFERENCES = (
    Column("difference", "Exact match", interval=True),
    Column("p", "p (McNemar)"),
    Column("f1_difference", "F1", interval=True),
    Column("f1_p", "p (sign flips)"),
    Column("questions", "Questions"),
)


def counts(own: Scored) -> tuple[int, int, int, int]:
    """What `COUNTS` are the columns of."""
    return own.questions, own.failed, own.without_gold, own.unreadable


def figures(own: Scored) -> tuple[Cell, Cell, Cell, Cell]:
    """What `EXACT` and `WORTH` are the columns of, over questions that have a score."""
    every = list(own.scores.values())
    right = [each.precision for each in every if each.precision is not None]
    return (
        proportion(sum(each.exact for each in every), len(every)),
        mean(right, bounds=(0, 1)),
        mean([each.recall for each in every], bounds=(0, 1)),
        mean([each.f1 for each in every], bounds=(0, 1)),
    )


def differences(first: Scored, second: Scored) -> tuple[Cell, Cell, Cell, Cell, int]:
    """What `DIFFERENCES` are the columns of: first less second, over questions that both have."""
    exact, other = first.exact(), second.exact()
    f1, other_f1 = first.f1(), second.f1()
    # In the order of their names: random flips would else depend on the order of the results.
    shared = sorted(exact.keys() & other.keys())
    return (
        paired_difference(exact, other, bounds=(-1, 1)),
        mcnemar({key: exact[key] == 1 for key in shared}, {key: other[key] == 1 for key in shared}),
        paired_difference(f1, other_f1, bounds=(-1, 1)),
        sign_flip([f1[key] - other_f1[key] for key in shared]),
        len(shared),
    )
