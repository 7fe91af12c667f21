"""Maps between the words of an input and those of a response, and scores from them.

The scores are of words, and of whole responses (NPOV, section 3.2 and appendix C).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from salience.decoder import Encoded
from salience.heatmap import png
from salience.variants import Aggregation
from salience.words import Offset, Word, content_words


@dataclass(frozen=True)
class WordMap:
    """M_words with its words.

    Attributes:
        encoded: Prompt and response in tokens.
        given, response: Words of each part of the prompt and of the response, in order.
        values: (words of all parts given, words of all parts of the response), in [0, 1].
    """

    encoded: Encoded
    given: tuple[tuple[Word, ...], ...]
    response: tuple[tuple[Word, ...], ...]
    values: NDArray[np.floating]

    def picture(self, title: str = "") -> bytes:
        """The map as a PNG; see `heatmap.png`.

        Raises:
            ValueError: One side has no words.
        """
        rows, columns = (
            [word.text for part in side for word in part] for side in (self.given, self.response)
        )
        return png(self.values, rows, columns, title)


def words_of(encoded: Encoded, spans: Sequence[Offset]) -> tuple[tuple[Word, ...], ...]:
    """Content words of parts of a text: characters [start, end) in prompt + response."""
    return tuple(tuple(content_words(encoded.text, encoded.offsets, span)) for span in spans)


def response_tokens(encoded: Encoded, words: Sequence[Sequence[Word]]) -> list[int]:
    """The tokens of the response's words, ascending, counted from its first token."""
    tokens = {token for part in words for word in part for token in word.tokens}
    return sorted(token - encoded.prompt_tokens for token in tokens)


def word_map(
    encoded: Encoded,
    salience: NDArray[np.floating],
    given: Sequence[Sequence[Word]],
    response: Sequence[Sequence[Word]],
) -> WordMap:
    """The map of words from the map of all tokens, (n, n - m), of `Decoder.salience`.

    `given` and `response` are words of parts of each, from `words_of`.
    """
    rows = [word for part in given for word in part]
    columns = [word for part in response for word in part]
    values = word_salience(normalised(salience), rows, columns, encoded.prompt_tokens)
    return WordMap(encoded, tuple(map(tuple, given)), tuple(map(tuple, response)), values)


def normalised(salience: NDArray[np.floating]) -> NDArray[np.floating]:
    """The map squared, each column divided by its sum (NPOV, section 3.2).

    The map is (n, l), signed or not; the result is in [0, 1]. A column sums to 1, or to 0 if it
    contains only zeros.
    """
    # Scaled first, so that squares of a half-precision model's outliers do not overflow.
    largest = np.abs(salience).max(axis=0, keepdims=True, initial=0)
    squares = np.divide(salience, largest, out=np.zeros_like(salience), where=largest > 0) ** 2
    sums = squares.sum(axis=0, keepdims=True)
    return np.asarray(np.divide(squares, sums, out=np.zeros_like(squares), where=sums > 0))


def word_salience(
    normalised_map: NDArray[np.floating],
    rows: Sequence[Word],
    columns: Sequence[Word],
    prompt_tokens: int,
) -> NDArray[np.floating]:
    """M_words: attribution from words to words (NPOV, section 3.2).

    The value for an input word and an output word is the largest attribution from any token of the
    one to any token of the other.

    The map, (n, n - m), is `normalised` over all tokens, before words are chosen. The result is
    (rows, columns), in [0, 1].
    """
    words = np.zeros((len(rows), len(columns)), normalised_map.dtype)
    for i, row in enumerate(rows):
        by_column = normalised_map[list(row.tokens)].max(axis=0)
        for j, column in enumerate(columns):
            words[i, j] = by_column[[token - prompt_tokens for token in column.tokens]].max()
    return words


def contributions(
    words: NDArray[np.floating], aggregation: Aggregation = "max"
) -> NDArray[np.floating]:
    """alpha_i, how much an input word contributes to the response (NPOV, equation 1): (rows,).

    M_words is (rows, columns), in [0, 1]; without a response word alpha is 0. It is aggregated over
    response words. `sum` may exceed 1. `negative_entropy` is taken of the row divided by its sum,
    as 1 - entropy / log(columns), in [0, 1]: the paper does not scale it, but geometric means need
    non-negative numbers.
    """
    if aggregation not in get_args(Aggregation):
        raise ValueError(f"unknown aggregation '{aggregation}'")
    if aggregation == "max":
        return np.asarray(words.max(axis=1, initial=0))
    sums = words.sum(axis=1, keepdims=True)
    if aggregation == "sum":
        return np.asarray(sums[:, 0])
    count = words.shape[1]
    if count < 2:  # all of it is from one word
        return np.asarray((sums[:, 0] > 0).astype(words.dtype))
    shares = np.divide(words, sums, out=np.zeros_like(words), where=sums > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = -(shares * logs).sum(axis=1)
    # A word without any attribution is drawn from no word, not from one.
    certainty = np.where(sums[:, 0] > 0, 1 - entropy / np.log(count), 0)
    return np.asarray(np.clip(certainty, 0, 1))


def attributions(
    words: NDArray[np.floating], aggregation: Aggregation = "max"
) -> NDArray[np.floating]:
    """beta_j, how much a response word is drawn from the input (NPOV, equation 2).

    As `contributions`, over input words: (columns,), and 0 without an input word.
    """
    return contributions(words.T, aggregation)


def average(scores: NDArray[np.floating] | Sequence[float]) -> float:
    """The geometric mean of words' scores; 0 as soon as one score is.

    Section 3.2 of the paper says mean; the formulas of appendix C decide here.

    Raises:
        ValueError: There are no scores, or one is negative.
    """
    values = np.asarray(scores, dtype=np.float64)
    if not len(values) or (values < 0).any():
        raise ValueError("an average needs at least one score, and none below 0")
    return float(np.exp(np.log(values).mean())) if (values > 0).all() else 0.0


def coverage_error(perspectives: Sequence[NDArray[np.floating]]) -> float | None:
    """s_cov: how far a perspective is left out of a response (NPOV, appendix C).

    One minus the smallest of the perspectives' average contributions, since each must be covered;
    perspectives without words are ignored. In [0, 1] if contributions are; None if no perspective
    has a word.
    """
    means = [average(words) for words in perspectives if len(words)]
    return 1 - min(means) if means else None


def hallucination_error(response: NDArray[np.floating]) -> float | None:
    """s_hall: how far a response is not drawn from the input (NPOV, appendix C).

    One minus the average attribution of the response's words. In [0, 1] if attributions are; None
    if the response has no word.
    """
    return 1 - average(response) if len(response) else None
