"""Hallucination and coverage errors by the words that arguments and response share (NPOV, 3.1)."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from pipelines.metrics.rouge import rouge1_recall
from pipelines.npov.example import SIDES, NpovExample
from salience.words import STOP_WORDS, word_pattern


@dataclass(frozen=True)
class RougeErrors:
    """What shared words say of a response.

    Attributes:
        coverage: 1 - ROUGE-1 recall of the perspective that is covered less; None where no
            perspective has a content word.
        hallucination: 1 - ROUGE-1 precision; None where the response has no content word.
    """

    coverage: float | None
    hallucination: float | None


def rouge_errors(example: NpovExample) -> RougeErrors:
    """ROUGE-1 between arguments and response (NPOV, section 3.1).

    Words are parted by white space and punctuation, stop words are dropped, the rest is stemmed.
    Recall is taken of each perspective, and the smaller one counts, since both must be covered.

    Args:
        example: Arguments and response.
    """
    response = stems(example.response)
    perspectives = [
        [word for text in example.arguments(side) for word in stems(text)] for side in SIDES
    ]
    recalls = [
        recall for each in perspectives if (recall := rouge1_recall(each, response)) is not None
    ]
    precision = rouge1_recall(response, [word for each in perspectives for word in each])
    return RougeErrors(
        coverage=1 - min(recalls) if recalls else None,
        hallucination=None if precision is None else 1 - precision,
    )


def word_error(word: str, other: Collection[str]) -> bool:
    """Whether the other side lacks a word (NPOV, section 5.3).

    Args:
        word: A content word of the response, or of an argument.
        other: Stems of the arguments, or of the response.
    """
    return stem(word) not in other


def stems(text: str) -> tuple[str, ...]:
    """Stems of a text's content words, in order."""
    words = (match[0].lower() for match in word_pattern().finditer(text))
    return tuple(stem(word) for word in words if word not in STOP_WORDS)


def overlap(argument: str, response: str) -> float | None:
    """Share of an argument's distinct stems that a response has; None without a content word."""
    distinct = set(stems(argument))
    return len(distinct & set(stems(response))) / len(distinct) if distinct else None


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word's stem, by Porter's stemmer."""
    return str(_stemmer().stemWord(word.lower()))


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]  # noqa: ANN202  (the package has no types)
    import Stemmer

    return Stemmer.Stemmer("porter")
