"""Errors by shared words (ROUGE; NPOV, section 3.1), and by lengths and counts alone."""

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cache, lru_cache

from nli.sentences import sentences
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.result import ErrorScores
from salience.words import STOP_WORDS, word_pattern


def rouge1_recall(reference: Sequence[Hashable], text: Sequence[Hashable]) -> float | None:
    """Share of a reference's words that a text has, counted with repetition (ROUGE-1 recall).

    Words may be stems. Swapping the two gives ROUGE-1 precision: the share of the text's words that
    the reference has. It is in [0, 1]; None if the reference has no words.
    """
    if not reference:
        return None
    shared = Counter(reference) & Counter(text)
    return shared.total() / len(reference)


def length_errors(example: NpovExample) -> ErrorScores:
    """Longer responses more likely add something, shorter ones more likely omit something.

    Scores are the number of words, of any kind, and its negative.
    """
    words = sum(1 for _ in word_pattern().finditer(example.response))
    return ErrorScores(hallucination=words, coverage=-words)


def count_errors(example: NpovExample) -> ErrorScores:
    """Sentences of the response minus given arguments: above 0 it may add, below 0 leave out.

    A template gives each argument its own sentence; an abbreviation may count as a sentence end.
    """
    surplus = len(sentences(example.response)) - len(example.places)
    return ErrorScores(hallucination=surplus, coverage=-surplus)


def side_errors(example: NpovExample) -> ErrorScores:
    """How many more arguments one side has than the other, as the score of both errors.

    The paper's responses have equally many on both sides (NPOV, footnote 3), so an error put into
    the given arguments makes the sides unequal.
    """
    pro, con = (len(example.arguments(side)) for side in SIDES)
    return ErrorScores(hallucination=abs(pro - con), coverage=abs(pro - con))


def rouge_errors(example: NpovExample) -> ErrorScores:
    """ROUGE-1 between arguments and response (NPOV, section 3.1).

    Words are split at white space and punctuation, stop words are dropped, and the rest are
    stemmed. The coverage error is 1 - recall of the perspective that is covered less, since both
    must be covered; None if no perspective has a content word. The hallucination error is 1 -
    precision; None if the response has no content word.
    """
    response = stems(example.response)
    perspectives = [
        [word for text in example.arguments(side) for word in stems(text)] for side in SIDES
    ]
    recalls = [
        recall
        for perspective in perspectives
        if (recall := rouge1_recall(perspective, response)) is not None
    ]
    precision = rouge1_recall(
        response, [word for perspective in perspectives for word in perspective]
    )
    return ErrorScores(
        coverage=1 - min(recalls) if recalls else None,
        hallucination=None if precision is None else 1 - precision,
    )


def stems(text: str) -> tuple[str, ...]:
    """Stems of a text's content words, in order."""
    words = (match[0].lower() for match in word_pattern().finditer(text))
    return tuple(stem(word) for word in words if word not in STOP_WORDS)


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word's stem, by Porter's stemmer."""
    return str(_stemmer().stemWord(word.lower()))


@cache
def _stemmer():  # type: ignore[no-untyped-def]  # noqa: ANN202  (the package has no types)
    import Stemmer

    return Stemmer.Stemmer("porter")
