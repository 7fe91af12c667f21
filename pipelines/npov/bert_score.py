"""Errors by how alike words are in context: BERTScore (NPOV, section 3.1, footnote 5).

The paper tried it, found it much like ROUGE, and gives no figures. Vectors here are those of a
sentence encoder (all-MiniLM-L6-v2), neither weighted by frequency nor rescaled by a baseline, both
of which Zhang et al. (2020) leave open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nli.sentences import sentences
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.prompt import Span, as_read, unbraced
from pipelines.npov.result import ErrorScores
from pipelines.retrieval.dense import Embedder
from salience.words import content_words

Vectors = NDArray[np.floating]
"""Of tokens: (n, d)."""


def best_cosines(vectors: Vectors, others: Vectors) -> NDArray[np.floating]:
    """Per vector the largest cosine with any of the others: (n,), in [-1, 1].

    This is greedy matching (Zhang et al. 2020, section 3); the others are at least one. A vector of
    zeros is like none.
    """
    first, second = (
        np.divide(each, norms, out=np.zeros_like(each), where=norms > 0)
        for each, norms in (
            (given, np.linalg.norm(given, axis=1, keepdims=True)) for given in (vectors, others)
        )
    )
    return np.asarray(np.clip(first @ second.T, -1, 1).max(axis=1))


def precision(candidate: Vectors, reference: Vectors) -> float:
    """P_BERT: mean over the candidate's tokens of the cosine with the reference's most similar."""
    return float(best_cosines(candidate, reference).mean())


def recall(candidate: Vectors, reference: Vectors) -> float:
    """R_BERT: mean over the reference's tokens of the cosine with the candidate's most similar."""
    return precision(reference, candidate)


@dataclass(frozen=True)
class EmbeddedText:
    """Content words of a text, each with its characters and the vectors of its tokens, and these.

    `tokens` are rows of `vectors`, which has the tokens of content words alone.
    """

    words: tuple[Span, ...]
    tokens: tuple[tuple[int, ...], ...]
    vectors: Vectors

    def word_errors(self, others: Vectors) -> dict[Span, float]:
        """Per word 1 - the largest cosine of any of its tokens with any of the others'.

        From 0 to 2; 1 where there are no others.
        """
        if not len(others):
            return dict.fromkeys(self.words, 1.0)
        found = best_cosines(self.vectors, others) if self.words else np.zeros(0)
        return {
            word: 1 - float(found[list(rows)].max())
            for word, rows in zip(self.words, self.tokens, strict=True)
        }


@dataclass(frozen=True)
class Embedded:
    """An example's arguments, by side and in order, and its response."""

    given: tuple[tuple[EmbeddedText, ...], ...]
    response: EmbeddedText

    @property
    def errors(self) -> ErrorScores:
        """1 - recall of the perspective that is covered less, and 1 - precision, as with ROUGE.

        None where a side of the comparison has no content word.
        """
        sides = [all_vectors(texts) for texts in self.given]
        given, said = np.vstack(sides), self.response.vectors
        recalls = [recall(said, side) for side in sides if len(side) and len(said)]
        return ErrorScores(
            coverage=1 - min(recalls) if recalls else None,
            hallucination=1 - precision(said, given) if len(said) and len(given) else None,
        )


class BertScore:
    """An encoder that compares arguments and responses, words by content words alone.

    Arguments are embedded one by one and responses sentence by sentence, so that what stands beside
    an argument does not change it.
    """

    def __init__(self, encoder: Embedder) -> None:
        self.encoder = encoder
        self._embedded = lru_cache(maxsize=10_000)(self._embed)

    def __call__(self, example: NpovExample) -> Embedded:
        """Its words and their vectors."""
        response = as_read(example.response)
        return Embedded(
            tuple(
                tuple(self._embedded(unbraced(each)) for each in example.arguments(side))
                for side in SIDES
            ),
            joined(
                [
                    (span.start, self._embedded(response[span.start : span.end]))
                    for span in sentences(response)
                ],
                self.encoder.dimension,
            ),
        )

    def _embed(self, text: str) -> EmbeddedText:
        offsets, vectors = self.encoder.token_vectors(text)
        found = content_words(text, offsets, (0, len(text)))
        rows = [token for word in found for token in word.tokens]
        ends = np.cumsum([len(word.tokens) for word in found])
        return EmbeddedText(
            tuple((word.start, word.end) for word in found),
            tuple(
                tuple(range(end - len(word.tokens), end))
                for word, end in zip(found, ends.tolist(), strict=True)
            ),
            vectors[rows],
        )


def joined(parts: Sequence[tuple[int, EmbeddedText]], dimension: int) -> EmbeddedText:
    """One text of its parts, each with the character at which it begins."""
    words: list[Span] = []
    tokens: list[tuple[int, ...]] = []
    count = 0
    for begins, part in parts:
        words += [(begins + start, begins + end) for start, end in part.words]
        tokens += [tuple(count + row for row in rows) for rows in part.tokens]
        count += len(part.vectors)
    vectors = [np.zeros((0, dimension)), *(part.vectors for _, part in parts)]
    return EmbeddedText(tuple(words), tuple(tokens), np.vstack(vectors))


def all_vectors(texts: Sequence[EmbeddedText]) -> Vectors:
    """The vectors of several texts together."""
    return np.vstack([text.vectors for text in texts])
