"""Errors by how alike arguments and sentences are: BERTScore's matching, of whole texts.

Where BERTScore (Zhang et al. 2020, section 3) matches tokens, this matches an argument with a
sentence, by the cosine of their embeddings (all-MiniLM-L6-v2), as it was trained to compare them.
"""

from collections.abc import Sequence

import numpy as np

from pipelines.npov.example import NpovExample
from pipelines.npov.texts import arguments_read, sentences_read, what_is_said
from pipelines.npov.use import Use, Values
from pipelines.retrieval.dense import Embedder


def cosines(arguments: Values, sentences: Values) -> Values:
    """(arguments, sentences): cosines in [-1, 1] of embeddings of length 1, (n, d) each."""
    return np.asarray(np.clip(arguments @ sentences.T, -1, 1))


class SentenceEmbeddings:
    """An encoder of texts, each of which it reads once."""

    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self._known: dict[str, Values] = {}

    def __call__(self, example: NpovExample) -> Use:
        """How alike each argument and each sentence are, without who says it."""
        said = [what_is_said(each) for each in sentences_read(example)]
        return Use.of(
            example, cosines(self._embedded(arguments_read(example)), self._embedded(said))
        )

    def _embedded(self, texts: Sequence[str]) -> Values:
        for text in texts:
            if text not in self._known:
                # Alone: beside others its last digits would hang on which examples came first.
                (self._known[text],) = self._encoder.embed([text])
        return np.stack([self._known[text] for text in texts])
