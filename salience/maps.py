"""The map between the words of an input and those of a response (NPOV, section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from salience.decoder import Encoded
from salience.heatmap import png
from salience.words import Offset, Word, content_words, normalised, word_salience


@dataclass(frozen=True)
class WordMap:
    """M_words, with what it is between.

    Attributes:
        encoded: Prompt and response in tokens.
        given: Content words of each part of the prompt, in the order of the parts.
        response: Content words of each part of the response.
        values: (words of all parts given, words of all parts of the response), in [0, 1].
    """

    encoded: Encoded
    given: tuple[tuple[Word, ...], ...]
    response: tuple[tuple[Word, ...], ...]
    values: NDArray[np.floating]

    def picture(self, title: str = "") -> bytes:
        """The map as a PNG; see `heatmap.png`.

        Raises:
            ValueError: There are no words on one of the sides.
        """
        rows, columns = (
            [word.text for part in side for word in part] for side in (self.given, self.response)
        )
        return png(self.values, rows, columns, title)


def words_of(encoded: Encoded, spans: Sequence[Offset]) -> tuple[tuple[Word, ...], ...]:
    """Content words of parts of a text.

    Args:
        encoded: The text in tokens.
        spans: Characters [start, end) of each part, in prompt + response.
    """
    return tuple(tuple(content_words(encoded.text, encoded.offsets, span)) for span in spans)


def word_map(
    encoded: Encoded,
    salience: NDArray[np.floating],
    given: Sequence[Sequence[Word]],
    response: Sequence[Sequence[Word]],
) -> WordMap:
    """Words' salience from tokens'.

    Args:
        encoded: Prompt and response in tokens.
        salience: (n, n - m), of all of them: `Decoder.salience`.
        given: Words of parts of the prompt, from `words_of`.
        response: Words of parts of the response, likewise.
    """
    rows = [word for part in given for word in part]
    columns = [word for part in response for word in part]
    values = word_salience(normalised(salience), rows, columns, encoded.prompt_tokens)
    return WordMap(encoded, tuple(map(tuple, given)), tuple(map(tuple, response)), values)
