"""One example through detectors: what needs no model, and salience or a classifier."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.npov.annotation import AnnotatedExample
from pipelines.npov.bert_score import BertScore, Embedded, all_vectors
from pipelines.npov.check import argument_map, check
from pipelines.npov.classifier import error_score
from pipelines.npov.counts import count_errors, length_errors, side_errors
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.prompt import Span, npov_prompt
from pipelines.npov.result import (
    BERT_SCORE,
    CLASSIFIER,
    COUNT,
    KINDS,
    LENGTH,
    ROUGE,
    UNEQUAL,
    ErrorKind,
    ErrorScores,
    NpovResult,
    WordScore,
)
from pipelines.npov.rouge import rouge_errors, stem, stems
from pipelines.npov.sets import Case
from pipelines.npov.settings import SalienceSettings
from pipelines.npov.soft_prompt import SoftPrompt
from salience.decoder import Decoder
from salience.maps import WordMap
from salience.scores import attributions, contributions
from salience.variants import Aggregation
from salience.words import Word

AGGREGATIONS: tuple[Aggregation, ...] = ("max", "sum", "negative_entropy")

Words = tuple[WordScore, ...] | None
"""Content words of a side; None where they are not annotated."""


def by_baselines(case: Case, bert_score: BertScore | None = None) -> NpovResult:
    """What takes neither gradients nor a language model."""
    example = case.annotated.example
    return case.result(detectors=_baselines(example, bert_score(example) if bert_score else None))


def _baselines(example: NpovExample, embedded: Embedded | None) -> dict[str, ErrorScores]:
    found = {
        LENGTH: length_errors(example),
        COUNT: count_errors(example),
        UNEQUAL: side_errors(example),
        ROUGE: rouge_errors(example),
    }
    if embedded is not None:
        found[BERT_SCORE] = embedded.errors
    return found


def by_salience(
    case: Case,
    decoder: Decoder,
    settings: SalienceSettings,
    bert_score: BertScore | None = None,
    *,
    soft_prompt: SoftPrompt | None = None,
    model: str | None = None,
) -> NpovResult:
    """Baselines, and salience under every aggregation, of an example and of its words.

    The aggregation of `settings` is passed over, as all are taken. With a soft prompt salience is
    that of the response generator it makes of the model; `model` is the digest of the decoder's
    folder.

    Raises:
        InputError: A perspective or the response has no content word, or the soft prompt is not
            for it.
        SalienceError: They do not fit the model, or into memory.
    """
    example = case.annotated.example
    found = argument_map(example, decoder, settings, soft_prompt=soft_prompt, model=model)
    embedded = bert_score(example) if bert_score else None
    detectors = _baselines(example, embedded)
    for aggregation in AGGREGATIONS:
        checked = check(example, found, settings.model_copy(update={"aggregation": aggregation}))
        detectors[salience_detector(aggregation)] = ErrorScores(
            hallucination=checked.hallucination_error, coverage=checked.coverage_error
        )
    given, response = word_scores(case.annotated, found, embedded)
    return case.result(detectors=detectors, given=given, response=response)


def by_classifier(
    case: Case,
    decoder: Decoder,
    prompts: Mapping[ErrorKind, SoftPrompt | None],
    model: str,
    bert_score: BertScore | None = None,
) -> NpovResult:
    """Baselines, and a language model's own verdicts (NPOV, section 3.3).

    Of each error `prompts` has the soft prompt tuned to find it; None asks the model as it is.
    `model` is the digest of the decoder's folder, which soft prompts must be of.

    Raises:
        InputError: The example does not fit the model, or a soft prompt is not for it.
    """
    example = case.annotated.example
    scores = {
        kind: error_score(decoder, example, kind, prompts[kind], model=model) for kind in KINDS
    }
    found = _baselines(example, bert_score(example) if bert_score else None)
    return case.result(detectors={**found, CLASSIFIER: ErrorScores(**scores)})


def salience_detector(aggregation: Aggregation) -> str:
    """What salience under an aggregation is called."""
    return f"salience, {aggregation.replace('_', ' ')}"


def word_scores(
    annotated: AnnotatedExample, found: WordMap, embedded: Embedded | None = None
) -> tuple[Words, Words]:
    """Content words of arguments and response, with what is known and said of them.

    They are those of the example's `argument_map`; an encoder may not know some. A word is wrong if
    one of its characters is (NPOV, section 5.3).

    Raises:
        InputError: An annotation lies outside its text.
    """
    example, base = annotated.example, len(found.encoded.prompt)
    spans = npov_prompt(example).spans
    given = response = None
    if annotated.uncovered is not None:
        wrong = []
        for part in annotated.uncovered:
            if part.argument >= len(spans[part.side]):
                raise InputError(f"'{annotated.id}': there is no {part.side} {part.argument}")
            start = spans[part.side][part.argument][0]
            wrong.append((start + part.span[0], start + part.span[1]))
        other = set(stems(example.response))
        errors: dict[int, float] = {}
        if embedded is not None:
            starts = (start for side in SIDES for start, _ in spans[side])
            texts = (text for side in embedded.given for text in side)
            for begins, text in zip(starts, texts, strict=True):
                alike = text.word_errors(embedded.response.vectors)
                errors |= {begins + start: error for (start, _), error in alike.items()}
        given = _scored(found.given, wrong, other, contributions(found.values), errors)
    if annotated.hallucinated is not None:
        wrong = [(base + start, base + end) for start, end in annotated.hallucinated]
        other = {stem for side in SIDES for each in example.arguments(side) for stem in stems(each)}
        errors = {}
        if embedded is not None:
            arguments = all_vectors([text for side in embedded.given for text in side])
            alike = embedded.response.word_errors(arguments)
            errors = {base + start: error for (start, _), error in alike.items()}
        response = _scored(found.response, wrong, other, attributions(found.values), errors)
    return given, response


def _scored(
    texts: Sequence[Sequence[Word]],
    wrong: Sequence[Span],
    other: Collection[str],
    scores: NDArray[np.floating],
    bert_scores: Mapping[int, float],
) -> tuple[WordScore, ...]:
    words = [word for own in texts for word in own]
    return tuple(
        WordScore(
            wrong=any(start < word.end and word.start < end for start, end in wrong),
            rouge=stem(word.text) not in other,
            salience=1 - float(score),
            bert_score=bert_scores.get(word.start),
        )
        for word, score in zip(words, scores, strict=True)
    )
