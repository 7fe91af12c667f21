"""Maps between the words of an input and those of a response (NPOV, section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from salience.decoder import Encoded
from salience.heatmap import png
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
