"""One example through detectors: shared words and salience, or a classifier."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.npov.annotation import AnnotatedExample
from pipelines.npov.check import argument_map, check
from pipelines.npov.classifier import error_scores
from pipelines.npov.example import SIDES
from pipelines.npov.prompt import Span, npov_prompt
from pipelines.npov.result import (
    CLASSIFIER,
    KINDS,
    ROUGE,
    ErrorKind,
    ErrorScores,
    NpovResult,
    WordScore,
    unscored,
)
from pipelines.npov.rouge import rouge_errors, stems, word_error
from pipelines.npov.sets import Case
from pipelines.npov.settings import SalienceSettings
from pipelines.npov.soft_prompt import SoftPrompt
from salience.decoder import Decoder
from salience.maps import WordMap
from salience.scores import attributions, contributions
from salience.variants import Aggregation
from salience.words import Word

AGGREGATIONS: tuple[Aggregation, ...] = ("max", "sum", "negative_entropy")


def by_salience(case: Case, decoder: Decoder, settings: SalienceSettings) -> NpovResult:
    """ROUGE, and salience under every aggregation, of an example and of its words.

    Args:
        case: The example.
        decoder: Whose gradients are taken.
        settings: How; the aggregation of `settings` is passed over, as all are taken.

    Raises:
        InputError: A perspective or the response has no content word.
        SalienceError: They do not fit the model, or into memory.
    """
    example = case.annotated.example
    found = argument_map(example, decoder, settings)
    detectors = {ROUGE: rouge_scores(case)}
    for aggregation in AGGREGATIONS:
        checked = check(example, found, settings.model_copy(update={"aggregation": aggregation}))
        detectors[salience_detector(aggregation)] = ErrorScores(
            hallucination=checked.hallucination_error, coverage=checked.coverage_error
        )
    given, response = word_scores(case.annotated, found)
    return result(case, detectors, given, response)


def by_classifier(
    case: Case,
    decoder: Decoder,
    prompts: Mapping[ErrorKind, SoftPrompt | None],
    model: str | None = None,
) -> NpovResult:
    """ROUGE, and a language model's own verdicts (NPOV, section 3.3).

    Args:
        case: The example.
        decoder: Who is asked.
        prompts: Error -> the soft prompt tuned to find it; None asks the model as it is.
        model: Digest of the decoder's folder, which soft prompts must be of; None where it is not
            known.

    Raises:
        InputError: The example does not fit the model, or a soft prompt is not for it.
    """
    example = case.annotated.example
    scores = {
        kind: error_scores(decoder, [example], kind, prompts[kind], model=model)[0]
        for kind in KINDS
    }
    return result(case, {ROUGE: rouge_scores(case), CLASSIFIER: ErrorScores(**scores)})


def salience_detector(aggregation: Aggregation) -> str:
    """What salience under an aggregation is called."""
    return f"salience, {aggregation.replace('_', ' ')}"


def rouge_scores(case: Case) -> ErrorScores:
    """What shared words say of an example."""
    found = rouge_errors(case.annotated.example)
    return ErrorScores(hallucination=found.hallucination, coverage=found.coverage)


def result(
    case: Case,
    detectors: dict[str, ErrorScores],
    given: tuple[WordScore, ...] | None = None,
    response: tuple[WordScore, ...] | None = None,
) -> NpovResult:
    """Scores of an example beside what is known of it."""
    return unscored(case).model_copy(
        update={"detectors": detectors, "given": given, "response": response}
    )


def word_scores(
    annotated: AnnotatedExample, found: WordMap
) -> tuple[tuple[WordScore, ...] | None, tuple[WordScore, ...] | None]:
    """Content words of arguments and response, with what is known and said of them.

    A word is wrong if one of its characters is (NPOV, section 5.3).

    Args:
        annotated: The example.
        found: Its `argument_map`.

    Returns:
        Words of the arguments and of the response; None for a side that is not annotated.

    Raises:
        InputError: An annotation lies outside its text.
    """
    example, base = annotated.example, len(found.encoded.prompt)
    spans = npov_prompt(example).spans
    in_response = set(stems(example.response))
    in_arguments = {
        stem for side in SIDES for each in example.arguments(side) for stem in stems(each)
    }
    given = response = None
    if annotated.uncovered is not None:
        for part in annotated.uncovered:
            if part.argument >= len(spans[part.side]):
                raise InputError(f"'{annotated.id}': there is no {part.side} {part.argument}")
        wrong = [
            (spans[part.side][part.argument][0] + part.span[0],
             spans[part.side][part.argument][0] + part.span[1])
            for part in annotated.uncovered
        ]  # fmt: skip
        words = [word for own in found.given for word in own]
        given = _scored(words, wrong, in_response, contributions(found.values))
    if annotated.hallucinated is not None:
        wrong = [(base + start, base + end) for start, end in annotated.hallucinated]
        words = [word for own in found.response for word in own]
        response = _scored(words, wrong, in_arguments, attributions(found.values))
    return given, response


def _scored(
    words: Sequence[Word], wrong: Sequence[Span], other: set[str], scores: NDArray[np.floating]
) -> tuple[WordScore, ...]:
    return tuple(
        WordScore(
            wrong=any(start < word.end and word.start < end for start, end in wrong),
            rouge=word_error(word.text, other),
            salience=1 - float(score),
        )
        for word, score in zip(words, scores, strict=True)
    )
