"""Errors by similarity of words and sentences: ROUGE, BERTScore, embeddings (NPOV, 3.1), tagger.

The tagger: a sentence was added if no argument supports it, and an argument left out if no sentence
supports it. The paper has no such detector; SummaC (Laban et al. 2022, section 3.2) likewise takes
the maximum over a document's sentences, to check summaries.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from nli.errors import TaggerError
from nli.labels import LABELS, Label
from nli.pairs import Pair
from nli.sentences import sentences
from nli.tagger import UnfitError
from pipelines.errors import InputError
from pipelines.judge.protocol import PairError
from pipelines.judge.tagger import TaggerFolder, Tagging
from pipelines.npov.example import (
    SIDES,
    NpovExample,
    Side,
    arguments_read,
    as_read,
    said_in,
    unbraced,
)
from pipelines.npov.result import ErrorScores
from pipelines.retrieval.dense import Embedder
from pipelines.text.words import stems
from salience.words import content_words


def rouge1_recall(reference: Sequence[Hashable], text: Sequence[Hashable]) -> float | None:
    """Share of a reference's words that a text has, counted with repetition (ROUGE-1 recall).

    Words may be stems. Swapping the two gives ROUGE-1 precision: the share of the text's words that
    the reference has. It is in [0, 1]; None if the reference has no words.
    """
    if not reference:
        return None
    shared = Counter(reference) & Counter(text)
    return shared.total() / len(reference)


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


Values = NDArray[np.floating]
"""(arguments, parts): how far a part of the response rests on an argument, or says it."""

Pool = Literal["mean", "least"]
"""How values of parts, and of arguments, become one number. The paper takes the mean over
words (appendix C), for coverage that of the side where it is smaller; the least reacts most to a
single error."""


@dataclass(frozen=True)
class Use:
    """How far a response rests on its arguments, and says them.

    Attributes:
        sides: Side of each argument.
        rests: How far each part of the response rests on each argument.
        says: How far each part says each argument; `rests` if a detector has no direction.
    """

    sides: tuple[Side, ...]
    rests: Values
    says: Values

    @classmethod
    def of(cls, example: NpovExample, rests: Values, says: Values | None = None) -> Self:
        """The use of an example's arguments, the pro side's first."""
        sides = tuple(side for side, _ in example.places)
        return cls(sides, rests, rests if says is None else says)

    def errors(self, pool: Pool) -> ErrorScores:
        """Scores of both errors: 1 - how far parts are grounded, and arguments used.

        None if there is nothing to compare.
        """
        if not self.rests.size:
            return ErrorScores()
        grounded, used = groundings(self.rests), uses(self.says)
        if pool == "least":
            return ErrorScores(
                hallucination=1 - float(grounded.min()), coverage=1 - float(used.min())
            )
        by_side = [
            [use for use, use_side in zip(used, self.sides, strict=True) if use_side == side]
            for side in SIDES
        ]
        return ErrorScores(
            hallucination=1 - float(grounded.mean()),
            coverage=1 - min(float(np.mean(values)) for values in by_side if values),
        )


def groundings(rests: Values) -> Values:
    """How far each part of a response rests on the argument that it rests on most: (parts,).

    This is equation 2 of NPOV (appendix C), applied to arguments.
    """
    return np.asarray(rests.max(axis=0))


def uses(says: Values) -> Values:
    """How far each argument is said by the part that says it most: (arguments,).

    This is equation 1 of NPOV (appendix C), applied to parts.
    """
    return np.asarray(says.max(axis=1))


def by_part(words: Values, parts: Sequence[int]) -> Values:
    """Values of parts: the means of their words' values, which are (arguments, words).

    `parts` has the number of words of each part, in order; parts without words are left out.
    """
    ends = np.cumsum(parts)
    columns = [
        words[:, end - count : end].mean(axis=1)
        for end, count in zip(ends, parts, strict=True)
        if count
    ]
    return np.stack(columns, axis=1) if columns else words[:, :0]


Vectors = NDArray[np.floating]
"""Vectors of tokens: (n, d)."""


def best_cosines(vectors: Vectors, others: Vectors) -> NDArray[np.floating]:
    """For each vector the largest cosine with any of the others: (n,), in [-1, 1].

    This is greedy matching (Zhang et al. 2020, section 3); `others` must not be empty. A zero
    vector has cosine 0 with all.
    """
    first, second = (
        np.divide(matrix, norms, out=np.zeros_like(matrix), where=norms > 0)
        for matrix, norms in (
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


@dataclass(frozen=True, eq=False)
class EmbeddedWord:
    """A content word at characters [start, end) of its text, and its tokens' vectors, (t, d)."""

    start: int
    end: int
    vectors: Vectors


EmbeddedText = tuple[EmbeddedWord, ...]
"""The content words of a text, in order."""


def stacked(words: Sequence[EmbeddedWord]) -> Vectors:
    """The vectors of one or more words, stacked."""
    return np.vstack([word.vectors for word in words])


def word_errors(words: Sequence[EmbeddedWord], others: Sequence[EmbeddedWord]) -> list[float]:
    """For each word 1 - the largest cosine of any of its tokens with any of the others'.

    From 0 to 2; 1 if there are no others.
    """
    if not words or not others:
        return [1.0] * len(words)
    best = best_cosines(stacked(words), stacked(others))
    ends = np.cumsum([len(word.vectors) for word in words])
    return [1 - float(part.max()) for part in np.split(best, ends[:-1])]


@dataclass(frozen=True)
class Embedded:
    """An example's arguments, by side and in order, and its response."""

    given: tuple[tuple[EmbeddedText, ...], ...]
    response: EmbeddedText

    @property
    def errors(self) -> ErrorScores:
        """1 - recall of the perspective that is covered less, and 1 - precision, as with ROUGE.

        None if the arguments or the response have no content word.
        """
        sides = [[word for text in texts for word in text] for texts in self.given]
        given = [word for side in sides for word in side]
        if not given or not self.response:
            return ErrorScores()
        said = stacked(self.response)
        return ErrorScores(
            coverage=1 - min(recall(said, stacked(side)) for side in sides if side),
            hallucination=1 - precision(said, stacked(given)),
        )


class BertScore:
    """An encoder that compares arguments and responses, using only content words.

    Arguments are embedded one by one and responses sentence by sentence, so that neighbouring texts
    do not change an argument's vectors.
    """

    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self._embedded = lru_cache(maxsize=10_000)(self._embed)

    def __call__(self, example: NpovExample) -> Embedded:
        """The example's words and their vectors."""
        response = as_read(example.response)
        said = [
            replace(word, start=span.start + word.start, end=span.start + word.end)
            for span in sentences(response)
            for word in self._embedded(response[span.start : span.end])
        ]
        given = tuple(
            tuple(self._embedded(unbraced(argument)) for argument in example.arguments(side))
            for side in SIDES
        )
        return Embedded(given, tuple(said))

    def _embed(self, text: str) -> EmbeddedText:
        offsets, vectors = self._encoder.token_vectors(text)
        return tuple(
            EmbeddedWord(word.start, word.end, vectors[list(word.tokens)])
            for word in content_words(text, offsets, (0, len(text)))
        )


class SentenceEmbeddings:
    """Similarity by an encoder that reads each text only once."""

    def __init__(self, encoder: Embedder) -> None:
        # One by one: in a batch, the last digits would depend on the other texts.
        self._embedded = cache(lambda text: encoder.embed([text])[0])

    def __call__(self, example: NpovExample) -> Use:
        """Cosine of every argument with every sentence, without its speaker."""
        arguments, said = (
            np.stack([self._embedded(text) for text in texts])
            for texts in (arguments_read(example), said_in(example))
        )
        cosines = arguments @ said.T  # embeddings have length 1
        return Use.of(example, np.asarray(np.clip(cosines, -1, 1)))


class ArgumentTagger:
    """A tagger that compares the arguments of an example with its sentences, each pair once."""

    def __init__(self, tagger: Tagging) -> None:
        self._tagger = tagger
        self._known: dict[Pair, tuple[float, float, float]] = {}

    def __call__(self, example: NpovExample) -> tuple[Use, Use]:
        """p(support), and 1 - p(irrelevant), of each sentence by each argument, and vice versa.

        Sentences are read without their speakers.

        Raises:
            PairError: A text does not fit the tagger.
        """
        arguments, said = arguments_read(example), said_in(example)
        rests = self.probabilities(arguments, said)
        says = self.probabilities(said, arguments).transpose(1, 0, 2)
        support, irrelevant = (LABELS.index(label) for label in (Label.SUPPORT, Label.IRRELEVANT))
        return (
            Use.of(example, rests[..., support], says[..., support]),
            Use.of(example, 1 - rests[..., irrelevant], 1 - says[..., irrelevant]),
        )

    def probabilities(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Values:
        """(premises, hypotheses, labels), labels in the order of `LABELS`."""
        pairs = [Pair(premise, hypothesis) for premise in premises for hypothesis in hypotheses]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        try:
            tags = self._tagger.tag(new) if new else []
        except UnfitError as error:
            raise PairError(str(error)) from error
        self._known |= {pair: tag.probabilities for pair, tag in zip(new, tags, strict=True)}
        values = np.array([self._known[pair] for pair in pairs])
        return values.reshape(len(premises), len(hypotheses), len(LABELS))


def once_loaded(folder: TaggerFolder) -> Callable[[], ArgumentTagger]:
    """A function that returns the tagger, loaded on first use; InputError if that fails."""

    @cache
    def loaded() -> ArgumentTagger:
        try:
            return ArgumentTagger(folder.load())
        except TaggerError as error:
            raise InputError(str(error)) from error

    return loaded
