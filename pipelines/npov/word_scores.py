"""Content words of an example, with what is known of each and what detectors say."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.npov.annotation import AnnotatedExample
from pipelines.npov.example import SIDES, Span, Words, npov_prompt
from pipelines.npov.result import WordScore
from pipelines.npov.rouge import stem, stems
from pipelines.npov.similarity import Embedded, all_vectors
from salience.words import Word

Scored = tuple[WordScore, ...] | None
"""Content words of a side; None where they are not annotated."""


class WordErrors(NamedTuple):
    """How wrong a detector finds words of the arguments, and of the response: (words,) each."""

    given: NDArray[np.floating]
    response: NDArray[np.floating]


def of_words(texts: Sequence[Sequence[Word]], errors: NDArray[np.floating]) -> NDArray[np.floating]:
    """The errors of texts, said of each of their words."""
    return np.repeat(errors, [len(words) for words in texts])


def word_scores(
    annotated: AnnotatedExample,
    words: Words,
    salience: WordErrors | None = None,
    errors: Mapping[str, WordErrors] | None = None,
    embedded: Embedded | None = None,
) -> tuple[Scored, Scored]:
    """Content words of arguments and response, with what is known and said of them.

    They stand in `npov_prompt` and the response; an encoder may not know some. A word is wrong if
    one of its characters is (NPOV, section 5.3). What other detectors say of them are `errors`.

    Raises:
        InputError: An annotation lies outside its text.
    """
    example, prompt = annotated.example, npov_prompt(annotated.example)
    spans, base = prompt.spans, len(prompt.text)
    given = response = None
    if annotated.uncovered is not None:
        wrong = []
        for part in annotated.uncovered:
            if part.argument >= len(spans[part.side]):
                raise InputError(f"'{annotated.id}': there is no {part.side} {part.argument}")
            start = spans[part.side][part.argument][0]
            wrong.append((start + part.span[0], start + part.span[1]))
        other = set(stems(example.response))
        unlike: dict[int, float] = {}
        if embedded is not None:
            starts = (start for side in SIDES for start, _ in spans[side])
            texts = (text for side in embedded.given for text in side)
            for begins, text in zip(starts, texts, strict=True):
                alike = text.word_errors(embedded.response.vectors)
                unlike |= {begins + start: error for (start, _), error in alike.items()}
        own = {name: each.given for name, each in (errors or {}).items()}
        given = _scored(
            words.given,
            wrong,
            other,
            salience=salience and salience.given,
            errors=own,
            bert_scores=unlike,
        )
    if annotated.hallucinated is not None:
        wrong = [(base + start, base + end) for start, end in annotated.hallucinated]
        other = {stem for side in SIDES for each in example.arguments(side) for stem in stems(each)}
        unlike = {}
        if embedded is not None:
            arguments = all_vectors([text for side in embedded.given for text in side])
            alike = embedded.response.word_errors(arguments)
            unlike = {base + start: error for (start, _), error in alike.items()}
        own = {name: each.response for name, each in (errors or {}).items()}
        response = _scored(
            words.response,
            wrong,
            other,
            salience=salience and salience.response,
            errors=own,
            bert_scores=unlike,
        )
    return given, response


def _scored(
    texts: Sequence[Sequence[Word]],
    wrong: Sequence[Span],
    other: Collection[str],
    *,
    salience: NDArray[np.floating] | None,
    errors: Mapping[str, NDArray[np.floating]],
    bert_scores: Mapping[int, float],
) -> tuple[WordScore, ...]:
    words = [word for own in texts for word in own]
    return tuple(
        WordScore(
            wrong=any(start < word.end and word.start < end for start, end in wrong),
            rouge=stem(word.text) not in other,
            salience=None if salience is None else float(salience[place]),
            bert_score=bert_scores.get(word.start),
            errors={name: float(own[place]) for name, own in errors.items()},
        )
        for place, word in enumerate(words)
    )
