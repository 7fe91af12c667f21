"""What the methods make of one claim, for runs to be compared by."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pipelines.conrag.methods import METHODS
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import figures
from pipelines.conrag.tables.answers import Figure
from pipelines.experiment.scores import Score, Values, of_each, short


def _answered(
    values: Callable[[Sequence[ClaimResult], str], Values], method: str
) -> Callable[[Sequence[ClaimResult]], Values]:
    """Values of a method, over the claims that were answered."""
    return lambda results: values([one for one in results if one.status == "answered"], method)


def _alone(figure: Figure, method: str) -> Callable[[Sequence[ClaimResult]], Values]:
    """A figure that is a mean over claims, of each claim alone."""

    def value(result: ClaimResult) -> float | None:
        found = figure([result], method) if result.status == "answered" else None
        return None if found is None else found.value

    return of_each(value)


def _scores(method: str) -> dict[str, Score[ClaimResult]]:
    rates = _answered(figures.contradictions_per_claim, method)
    return {
        "stance": Score(
            f"Stance right, {method}", _answered(figures.right_stances, method), test="McNemar"
        ),
        "contradictions": Score(f"Contradictions per claim, {method}", rates, better="lower"),
        "evidence_f1": Score(f"Evidence F1, {method}", _alone(figures.mean_evidence_f1, method)),
        "recall": Score(f"Gold answers said, {method}", _alone(figures.answer_recall, method)),
    }


SCORES: Final[Mapping[str, Score[ClaimResult]]] = {
    f"{name}.{short(method)}": score
    for method in METHODS
    for name, score in _scores(method).items()
}


def verdict(result: ClaimResult) -> str:
    """The stance that ConRAG takes."""
    outcome = result.outcomes[figures.OURS]
    return "unreadable" if outcome.undecided else outcome.stance.replace("_", " ").lower()
