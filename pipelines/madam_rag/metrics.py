"""Metrics of a method's answers, question by question (MADAM-RAG, sections 5.1 and 6.1).

All figures are over the questions with gold answers that a method was asked; an unreadable reply
gives no answer. The number of unreadable replies is shown beside the figures.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Literal

from pipelines.experiment.metric import Metric, of_each
from pipelines.madam_rag.baselines import (
    MADAM,
    METHODS,
    WITHOUT_AGGREGATOR,
    Outcome,
    QuestionResult,
)
from pipelines.madam_rag.data import Question
from pipelines.madam_rag.replies import Debate
from pipelines.metrics.answers import answer_f1, precision, recall, strict_match
from pipelines.report.compare import Test

Results = Mapping[str, Sequence[QuestionResult]]
"""Name of a run ("ramdocs", "ramdocs.support") -> its results."""

TITLES = {"ramdocs": "RAMDocs", "ambigdocs": "AmbigDocs", "faitheval": "FaithEval"}
"""Names of data sets as in the paper."""

ALL_METHODS: Final = {method: method for method in (*METHODS, WITHOUT_AGGREGATOR)}


def judged(result: QuestionResult, method: str) -> Outcome | None:
    """A method's outcome on a question that has gold answers; None if it was not asked."""
    return result.outcomes.get(method) if result.asked.gold else None


def exact(answers: Sequence[str], asked: Question) -> bool:
    """Whether answers name all gold answers and no wrong one (section 5.1)."""
    return strict_match(answers, asked.gold, asked.wrong, one_answer=asked.one_answer)


def by_substrings(answers: Sequence[str], asked: Question) -> bool:
    """As `exact`, but by the naive rule: a name counts wherever its letters occur."""
    return strict_match(
        answers, asked.gold, asked.wrong, one_answer=asked.one_answer, substrings=True
    )


def calls(result: QuestionResult, method: str) -> int | None:
    """Number of model replies; None if the method could not be asked."""
    outcome = result.outcomes.get(method)
    return outcome.calls or None if outcome else None


def _of_answers(
    key: str,
    title: str,
    measure: Callable[[Sequence[str], Question], float | None],
    test: Test = "sign flips",
) -> Metric[QuestionResult]:
    def value(result: QuestionResult, method: str) -> float | None:
        outcome = judged(result, method)
        return None if outcome is None else measure(outcome.concluded.answers, result.asked)

    return Metric(key, title, of_each(value), ALL_METHODS, test=test)


EXACT: Final = _of_answers("exact_match", "Exact match", exact, "McNemar")
F1: Final = _of_answers("f1", "F1", lambda given, q: answer_f1(given, q.gold, q.wrong))
ANSWERS: Final = (
    EXACT,
    _of_answers("precision", "Precision", lambda given, q: precision(given, q.gold, q.wrong)),
    _of_answers("recall", "Recall", lambda given, q: recall(given, q.gold, q.wrong)),
    F1,
)
"""The metrics of Figure 3."""

METRICS: Final = (
    *ANSWERS,
    _of_answers("exact_match_substrings", "Exact match by substrings", by_substrings, "McNemar"),
    Metric("calls", "Replies per question", of_each(calls), ALL_METHODS, (1, inf), better="lower"),
)


@dataclass(frozen=True)
class Part:
    """The results of a run, or of one of its levels: every question occurs once.

    A run of all methods has no experiment. `level` is the number of documents for the varied
    answer, if any.
    """

    data: str
    experiment: str | None
    level: int | None
    model: str | None
    results: tuple[QuestionResult, ...]

    @property
    def title(self) -> str:
        """Its name in a cell: "RAMDocs", "RAMDocs, support 2"."""
        level = "" if self.level is None else f" {self.level}"
        return self.data if self.experiment is None else f"{self.data}, {self.experiment}{level}"


@dataclass(frozen=True)
class Answers:
    """A method on a part; with `rounds`, the conclusions of its debates after that many rounds."""

    part: Part
    method: str
    rounds: int | None = None

    @property
    def results(self) -> Sequence[QuestionResult]:
        """The part's results, after those rounds."""
        if self.rounds is None:
            return self.part.results
        return [after(result, self.method, self.rounds) for result in self.part.results]

    @property
    def asked(self) -> list[QuestionResult]:
        """Questions that the method answered, and those that failed."""
        return [
            result
            for result in self.results
            if result.status == "failed" or self.method in result.outcomes
        ]

    @property
    def failed(self) -> int:
        """Questions that failed."""
        return sum(result.status == "failed" for result in self.results)

    @property
    def without_gold(self) -> int:
        """Answered questions without gold answers."""
        return sum(not r.asked.gold for r in self.asked if r.status != "failed")

    @property
    def unreadable(self) -> int:
        """Questions with gold answers whose reply could not be read."""
        made = (judged(result, self.method) for result in self.results)
        return sum(
            outcome is not None and outcome.concluded.problem is not None for outcome in made
        )


def after(result: QuestionResult, method: str, rounds: int) -> QuestionResult:
    """The result as if its debate had lasted at most `rounds` rounds (Figure 3).

    A debate that ended earlier stays unchanged, and so do other methods.
    """
    outcome = result.outcomes.get(method)
    if outcome is None or outcome.debate is None:
        return result
    ended = outcome.model_copy(update={"concluded": outcome.debate.after(rounds)})
    return result.model_copy(update={"outcomes": {**result.outcomes, method: ended}})


def place_of(run: str) -> tuple[str, str | None]:
    """The data set of a run, as the paper names it, and the quantity that it varies, if any."""
    data, _, experiment = run.partition(".")
    return TITLES.get(data, data), experiment or None


def parts(results: Results, model_of: Mapping[str, str]) -> list[Part]:
    """Runs in order; a run that varies a level gives one part per level, from the lowest."""
    made = []
    for run, of_run in results.items():
        levels = {result.asked.level for result in of_run}
        for level in sorted(levels, key=lambda level: -1 if level is None else level):
            chosen = tuple(result for result in of_run if result.asked.level == level)
            made.append(Part(*place_of(run), level, model_of.get(run), chosen))
    return made


def shown_methods(results: Sequence[QuestionResult]) -> list[str]:
    """The methods that answered any question, in the order of Table 1."""
    used = {method for result in results for method in result.outcomes}
    return [method for method in ALL_METHODS if method in used]


def debates_of(results: Sequence[QuestionResult], method: str) -> list[Debate]:
    """The debates of a method, question by question."""
    outcomes = (result.outcomes.get(method) for result in results)
    return [
        outcome.debate for outcome in outcomes if outcome is not None and outcome.debate is not None
    ]


def base_id(result: QuestionResult) -> str:
    """The question's id without its level: the part before the last "/" if a level is varied."""
    return result.id if result.asked.level is None else result.id.rpartition("/")[0] or result.id


Verdict = Literal["right", "not right", "unreadable", "not judged"]
"""Verdicts on a question under a method; not judged if no right answer is known."""


def verdict(result: QuestionResult, method: str) -> Verdict | None:
    """By exact match (section 5.1); None if the method was not asked, or the question failed."""
    outcome = result.outcomes.get(method)
    if outcome is None:
        return None
    if outcome.concluded.problem is not None:
        return "unreadable"
    if not result.asked.gold:
        return "not judged"
    return "right" if exact(outcome.concluded.answers, result.asked) else "not right"


def verdict_of_question(result: QuestionResult) -> str:
    """The verdict on MADAM-RAG if it was asked, otherwise on the first method that was."""
    shown = shown_methods([result])
    asked = MADAM if MADAM in shown else next(iter(shown), "")
    return verdict(result, asked) or "not asked"
