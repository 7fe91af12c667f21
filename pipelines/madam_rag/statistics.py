"""The eight dimensions of RAMDocs in appendix A (Figure 5), counted in a file in its format.

The appendix does not say how they were taken. The readings here were chosen by what the figures
allow. The 500 questions of the release have 1,918 supporting, 307 misinformation and 541 noise
documents, which makes 3.84, 0.61, 1.08 and together 5.53, as printed. For the others:

- Wrong answers count with their repetitions, as they stand in the list. Of the first 250 questions
  that is 0.85 each, near the printed 0.86; without repetitions it is 0.74.
- Documents per correct answer is a mean over questions of each question's own ratio, supporting
  documents to gold answers. Pooled over answers it would be 1918 / (500 * 2.20) = 1.74, and no
  rounding of 2.20 makes that the printed 1.77.
- Documents per wrong answer is such a mean, too, over the questions that have a wrong answer.
  Pooled it would be 307 / (500 * 0.86) = 0.71, not the printed 0.73.

The release is sorted by the number of gold answers. A part of it from the start has another mix of
questions than the whole, and averages that grow with that number say so; hence each average is
given by number of gold answers as well.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.data.ramdocs import RamQuestion
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean

RELEASED = 500
"""Questions of the release."""


@dataclass(frozen=True)
class Statistic:
    """One dimension of Figure 5: its average over questions, beside the paper's in appendix A.

    The average is given by number of gold answers as well; None where no question counts.
    `distribution` is how many questions have each number, ratios to the nearest half; empty in runs
    that did not count them yet.
    """

    name: str
    paper: float
    estimate: Estimate | None
    by_answers: Mapping[int, Estimate]
    distribution: Mapping[float, int] = field(default_factory=dict)

    @property
    def agrees(self) -> bool | None:
        """Whether the paper's figure lies in the interval; None where there is no interval."""
        found = self.estimate
        if found is None or found.low is None or found.high is None:
            return None
        return found.low <= self.paper <= found.high


def statistics(questions: Sequence[RamQuestion]) -> tuple[Statistic, ...]:
    """The dimensions of appendix A, in its order.

    Questions are taken as released, with repeated wrong answers, which `Question` no longer has.
    """
    counts = sorted({len(question.gold_answers) for question in questions})
    groups = {n: [q for q in questions if len(q.gold_answers) == n] for n in counts}
    return tuple(
        Statistic(
            name,
            paper,
            _over(questions, number),
            {n: found for n, own in groups.items() if (found := _over(own, number))},
            _distribution(questions, number),
        )
        for name, paper, number in AVERAGES
    )


def _over(
    questions: Sequence[RamQuestion], number: Callable[[RamQuestion], float | None]
) -> Estimate | None:
    return mean(_numbers(questions, number))


def _distribution(
    questions: Sequence[RamQuestion], number: Callable[[RamQuestion], float | None]
) -> Mapping[float, int]:
    halves = Counter(round(2 * value) / 2 for value in _numbers(questions, number))
    return dict(sorted(halves.items()))


def _numbers(
    questions: Sequence[RamQuestion], number: Callable[[RamQuestion], float | None]
) -> list[float]:
    return [value for q in questions if (value := number(q)) is not None]


def _of_type(question: RamQuestion, kind: str) -> int:
    return sum(document.type == kind for document in question.documents)


def _per_wrong_answer(question: RamQuestion) -> float | None:
    wrong = len(question.wrong_answers)
    return _of_type(question, "misinfo") / wrong if wrong else None


AVERAGES: tuple[tuple[str, float, Callable[[RamQuestion], float | None]], ...] = (
    ("documents", 5.53, lambda q: len(q.documents)),
    ("supporting documents", 3.84, lambda q: _of_type(q, "correct")),
    ("misinformation documents", 0.61, lambda q: _of_type(q, "misinfo")),
    ("noise documents", 1.08, lambda q: _of_type(q, "noise")),
    ("gold answers", 2.20, lambda q: len(q.gold_answers)),
    ("wrong answers", 0.86, lambda q: len(q.wrong_answers)),
    ("documents per gold answer", 1.77, lambda q: _of_type(q, "correct") / len(q.gold_answers)),
    ("documents per wrong answer", 0.73, _per_wrong_answer),
)
"""Name, figure of appendix A, and the number of one question; None where it does not count."""
