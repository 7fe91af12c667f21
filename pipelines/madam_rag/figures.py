"""What several tables share: their columns, and what readers must know."""

from typing import Any, Final, NamedTuple

from pipelines.madam_rag.scores import Part, Scores
from pipelines.metrics.estimate import Estimate
from pipelines.report.compare import Comparison, Pair, columns, compare
from pipelines.report.table import Column, Measure

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


class Answers(NamedTuple):
    """What a method makes of the questions of a part, at the end or after so many rounds."""

    part: Part
    method: str
    scores: Scores
    rounds: int = 0


DATA: Final = Column[Any]("data", "Data", lambda own: own.part.data)
TITLE: Final = Column[Any]("data", "Data", lambda own: own.part.title)
MODEL: Final = Column[Any]("model", "Model", lambda own: own.part.model)
EXPERIMENT: Final = Column[Any]("experiment", "Experiment", lambda own: own.part.experiment)
METHOD: Final = Column[Any]("method", "Method")
"""Of whatever belongs to a part, and to a method."""

COUNTS: Final[tuple[Column[Answers], ...]] = (
    Column("questions", "Questions", lambda own: own.scores.questions),
    Column("failed", "Failed", lambda own: own.scores.failed),
    Column("no_gold", "No gold answer", lambda own: own.scores.without_gold),
    Column("unreadable", "Unreadable", lambda own: own.scores.unreadable),
)
EXACT: Final = Measure[Answers]("exact_match", "Exact match", lambda own: own.scores.exact_match)
WORTH: Final[tuple[Column[Answers], ...]] = (
    Measure("precision", "Precision", lambda own: own.scores.mean("precision")),
    Measure("recall", "Recall", lambda own: own.scores.mean("recall")),
    Measure("f1", "F1", lambda own: own.scores.mean("f1")),
)
DIFFERENCES: Final[tuple[Column[Pair[Any]], ...]] = (
    *columns("difference", "Exact match", "McNemar", p="p"),
    *columns("f1_difference", "F1", "sign flips", p="f1_p", n="questions"),
)


def less(first: Scores, second: Scores) -> dict[str, Comparison]:
    """What `DIFFERENCES` show: the first less the second, over questions that both have."""
    return {
        "difference": compare(first.values("exact"), second.values("exact"), "McNemar"),
        "f1_difference": compare(first.values("f1"), second.values("f1"), "sign flips"),
    }


def figures(own: Scores) -> tuple[Estimate | None, ...]:
    """What `EXACT` and `WORTH` show."""
    return own.exact_match, own.mean("precision"), own.mean("recall"), own.mean("f1")
