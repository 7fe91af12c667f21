"""What a method's answers are worth, question by question (MADAM-RAG, sections 5.1 and 6.1).

What cannot be read has no score: it is counted, and never taken for an answer that is wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.madam_rag.data import Question
from pipelines.madam_rag.methods import (
    METHODS,
    WITHOUT_AGGREGATOR,
    QuestionResult,
)
from pipelines.madam_rag.replies import Debate
from pipelines.metrics.answers import answer_f1, found, precision, recall, strict_match
from pipelines.metrics.estimate import Estimate, mean, share
from pipelines.text.refusals import is_unknown

Results = Mapping[str, Sequence[QuestionResult]]
"""Name of a run ("ramdocs", "ramdocs.support") -> its results."""

TITLES = {"ramdocs": "RAMDocs", "ambigdocs": "AmbigDocs", "faitheval": "FaithEval"}
"""Data sets as the paper calls them."""

EXPERIMENTS = ("rounds", "support", "misinformation")
"""What a run can vary (section 6); a run of all methods varies nothing and has no such name."""

Mark = Literal["right", "wrong", "both", "neither", "unknown", "unreadable", "unjudged"]
"""What an answer is by the data; "both" names a right and a wrong one at once, "unjudged" is one of
which the data know neither."""

Measure = Literal["precision", "recall", "f1"]

VARIANTS = (WITHOUT_AGGREGATOR,)
"""MADAM-RAG with a part taken away."""


@dataclass(frozen=True)
class Part:
    """The results of a run, or those of one of its levels: every question is in it once.

    A run of all methods varies no experiment. The level is that of the varied answer, if any.
    """

    data: str
    experiment: str | None
    level: int | None
    model: str | None
    results: tuple[QuestionResult, ...]

    @property
    def title(self) -> str:
        """What it is, in one cell: "RAMDocs", "RAMDocs, support 2"."""
        level = "" if self.level is None else f" {self.level}"
        return self.data if self.experiment is None else f"{self.data}, {self.experiment}{level}"


@dataclass(frozen=True)
class Score:
    """What the answers to one question are worth; without answers precision is None, and F1 is 0.

    Attributes:
        exact: Whether they name all gold answers and no wrong one (section 5.1).
        substrings: The same by the naive rule: a name counts wherever its letters occur.
    """

    exact: bool
    substrings: bool
    precision: float | None
    recall: float
    f1: float


@dataclass(frozen=True)
class Scores:
    """What a method comes to on questions; of `questions`, whatever is not in `scores` is counted.

    Attributes:
        scores: Question -> score, of those that have gold answers and whose answers were read.
        unreadable: Questions with gold answers whose reply could not be read.
        without_gold: Answered questions without gold answers.
    """

    scores: Mapping[str, Score]
    unreadable: int
    without_gold: int
    failed: int

    @property
    def questions(self) -> int:
        """All that were asked."""
        return len(self.scores) + self.unreadable + self.without_gold + self.failed

    @property
    def exact_match(self) -> Estimate | None:
        """Share of questions with an exact match."""
        return share([each.exact for each in self.scores.values()])

    @property
    def exact_match_of_all(self) -> Estimate | None:
        """The same with unreadable replies, which count as not right."""
        read = [each.exact for each in self.scores.values()]
        return share([*read, *[False] * self.unreadable])

    @property
    def exact_match_substrings(self) -> Estimate | None:
        """Share of questions with an exact match by the naive rule."""
        return share([each.substrings for each in self.scores.values()])

    def mean(self, measure: Measure) -> Estimate | None:
        """Mean over questions that have a value."""
        found = [getattr(each, measure) for each in self.scores.values()]
        return mean([each for each in found if each is not None], bounds=(0, 1))

    def values(self, measure: Literal["exact", "f1"]) -> dict[str, float]:
        """Question -> value, in [0, 1].

        In the order of their names: random flips would else depend on the order of the results.
        """
        return {name: float(getattr(self.scores[name], measure)) for name in sorted(self.scores)}


def parts(results: Results, model_of: Mapping[str, str]) -> list[Part]:
    """Runs in order, one that varies a level in one part for each, from the lowest."""
    made = []
    for name, own in results.items():
        data, _, experiment = name.rpartition(".")
        if experiment not in EXPERIMENTS:
            data, experiment = name, ""
        title, model = TITLES.get(data, data), model_of.get(name)
        levels = {each.asked.level for each in own}
        for level in sorted(levels, key=lambda level: -1 if level is None else level):
            chosen = tuple(each for each in own if each.asked.level == level)
            made.append(Part(title, experiment or None, level, model, chosen))
    return made


def score(answers: Sequence[str], asked: Question) -> Score:
    """The score of answers to a question that has gold answers."""
    gold, wrong, only = asked.gold, asked.wrong, asked.one_answer
    return Score(
        exact=strict_match(answers, gold, wrong, one_answer=only),
        substrings=strict_match(answers, gold, wrong, one_answer=only, substrings=True),
        precision=precision(answers, gold, wrong),
        recall=recall(answers, gold, wrong),
        f1=answer_f1(answers, gold, wrong),
    )


def mark(answer: str | None, asked: Question) -> Mark:
    """What one answer is by the data."""
    if answer is None:
        return "unreadable"
    if is_unknown(answer):
        return "unknown"
    if not asked.gold and not asked.wrong:
        return "unjudged"
    named = found([answer], asked.gold, asked.wrong)
    right, wrong = any(named.gold), any(named.wrong)
    if right and wrong:
        return "both"
    if right:
        return "right"
    return "wrong" if wrong or (asked.one_answer and asked.gold) else "neither"


def scored(own: Sequence[QuestionResult], method: str, rounds: int | None = None) -> Scores:
    """The scores of a method over the questions of a run, at the end or after so many rounds.

    A question that was answered, but not by this method, does not count. A debate that ended before
    stays as it ended; what is no debate, or could not be held, concludes the same whatever the
    rounds (Figure 3).
    """
    scores: dict[str, Score] = {}
    unreadable = without_gold = failed = 0
    for each in own:
        if each.status == "failed":
            failed += 1
            continue
        if (outcome := each.outcomes.get(method)) is None:
            continue
        made = outcome.concluded
        if rounds is not None and outcome.debate is not None:
            made = outcome.debate.after(rounds)
        if not each.asked.gold:
            without_gold += 1
        elif made.problem is not None:
            unreadable += 1
        else:
            scores[each.id] = score(made.answers, each.asked)
    return Scores(scores, unreadable, without_gold, failed)


def shown_methods(own: Sequence[QuestionResult]) -> list[str]:
    """The methods that answered any question: those of Table 1 first, then variants."""
    used = {method for each in own for method in each.outcomes}
    known = (*METHODS, *VARIANTS)
    return [each for each in known if each in used] + sorted(used - set(known))


def debates_of(own: Sequence[QuestionResult], method: str) -> list[tuple[QuestionResult, Debate]]:
    """The questions that a method debated, each with its debate."""
    return [
        (each, outcome.debate)
        for each in own
        if each.status != "failed"
        and (outcome := each.outcomes.get(method)) is not None
        and outcome.debate is not None
    ]


def base_id(result: QuestionResult) -> str:
    """The question, whatever the level: its id up to the last "/" where a level is varied."""
    return result.id if result.asked.level is None else result.id.rpartition("/")[0] or result.id
