"""Hallucination and coverage errors by the words that arguments and response share (NPOV, 3.1)."""

from functools import cache, lru_cache

from pipelines.metrics.rouge import rouge1_recall
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.result import ErrorScores
from salience.words import STOP_WORDS, word_pattern


def rouge_errors(example: NpovExample) -> ErrorScores:
    """ROUGE-1 between arguments and response (NPOV, section 3.1).

    Words are parted by white space and punctuation, stop words are dropped, the rest is stemmed.
    The coverage error is 1 - recall of the perspective that is covered less, since both must be
    covered; None where no perspective has a content word. The hallucination error is 1 - precision;
    None where the response has no content word.
    """
    response = stems(example.response)
    perspectives = [
        [word for text in example.arguments(side) for word in stems(text)] for side in SIDES
    ]
    recalls = [
        recall for each in perspectives if (recall := rouge1_recall(each, response)) is not None
    ]
    precision = rouge1_recall(response, [word for each in perspectives for word in each])
    return ErrorScores(
        coverage=1 - min(recalls) if recalls else None,
        hallucination=None if precision is None else 1 - precision,
    )


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


@cache
def _stemmer():  # type: ignore[no-untyped-def]  # noqa: ANN202  (the package has no types)
    import Stemmer

    return Stemmer.Stemmer("porter")
