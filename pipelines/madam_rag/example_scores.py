"""What the methods make of one question, for runs to be compared by."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from pipelines.experiment.scores import Score, Values, short
from pipelines.madam_rag.methods import MADAM, METHODS, QuestionResult
from pipelines.madam_rag.scores import VARIANTS, scored, shown_methods


def _values(
    method: str, measure: Literal["exact", "f1"]
) -> Callable[[Sequence[QuestionResult]], Values]:
    return lambda results: scored(results, method).values(measure)


SCORES: Final[Mapping[str, Score[QuestionResult]]] = {
    name: score
    for method in (*METHODS, *VARIANTS)
    for name, score in (
        (
            f"exact.{short(method)}",
            Score(f"Exact match, {method}", _values(method, "exact"), test="McNemar"),
        ),
        (f"f1.{short(method)}", Score(f"F1, {method}", _values(method, "f1"))),
    )
}


def verdict(result: QuestionResult) -> str:
    """Whether MADAM-RAG, or else the first method that was asked, is exactly right."""
    shown = shown_methods([result])
    if not shown:
        return "not asked"
    own = scored([result], MADAM if MADAM in shown else shown[0])
    if own.without_gold:
        return "no gold answer"
    if own.unreadable:
        return "unreadable"
    return "right" if own.values("exact")[result.id] else "not right"
