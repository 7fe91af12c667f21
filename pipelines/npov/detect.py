"""One example through detectors, down to its words: with a language model or without."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.npov.check import Weigh, ablation, argument_map, check
from pipelines.npov.classifier import error_score
from pipelines.npov.decoder import SalienceSettings
from pipelines.npov.example import (
    SIDES,
    AnnotatedExample,
    NpovExample,
    Span,
    Words,
    npov_prompt,
    words_read,
)
from pipelines.npov.result import (
    ABLATION,
    BERT_SCORE,
    CLASSIFIER,
    COUNT,
    EMBEDDINGS,
    KINDS,
    LENGTH,
    RELEVANCE,
    ROUGE,
    SHOWN,
    SUPPORT,
    UNEQUAL,
    Case,
    ErrorKind,
    ErrorScores,
    NpovResult,
    WordScore,
    salience_detector,
)
from pipelines.npov.rouge import count_errors, length_errors, rouge_errors, side_errors, stem, stems
from pipelines.npov.similarity import (
    ArgumentTagger,
    BertScore,
    Embedded,
    SentenceEmbeddings,
    Use,
    all_vectors,
    groundings,
    uses,
)
from pipelines.npov.soft_prompt import SoftPrompt
from salience.decoder import Decoder
from salience.scores import attributions, contributions
from salience.variants import Aggregation
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


AGGREGATIONS: tuple[Aggregation, ...] = ("max", "sum", "negative_entropy")


@dataclass(frozen=True)
class Encoders:
    """What takes an encoder: BERTScore, and embeddings of whole sentences."""

    bert_score: BertScore
    sentences: SentenceEmbeddings


@dataclass(frozen=True)
class Baselines:
    """What takes no language model, of one example."""

    detectors: Mapping[str, ErrorScores]
    embedded: Embedded | None = None
    alike: Use | None = None

    @classmethod
    def of(cls, example: NpovExample, encoders: Encoders | None) -> "Baselines":
        """All of them; without encoders, those that take none."""
        found = {
            LENGTH: length_errors(example),
            COUNT: count_errors(example),
            UNEQUAL: side_errors(example),
            ROUGE: rouge_errors(example),
        }
        if encoders is None:
            return cls(found)
        embedded, alike = encoders.bert_score(example), encoders.sentences(example)
        found |= {BERT_SCORE: embedded.errors, **alike.by_pool(EMBEDDINGS)}
        return cls(found, embedded, alike)

    def of_words(self, words: Words) -> dict[str, WordErrors]:
        """What embeddings of sentences say of each of their words."""
        return {} if self.alike is None else {SHOWN[EMBEDDINGS]: _of_use(words, self.alike)}


def _of_use(words: Words, use: Use) -> WordErrors:
    return WordErrors(
        of_words(words.given, 1 - uses(use.says)),
        of_words(words.response, 1 - groundings(use.rests)),
    )


def by_baselines(case: Case, encoders: Encoders | None = None) -> NpovResult:
    """What takes neither gradients nor a language model."""
    found = Baselines.of(case.annotated.example, encoders)
    return case.result(detectors=found.detectors)


def by_tagger(case: Case, tagger: ArgumentTagger, encoders: Encoders | None = None) -> NpovResult:
    """Baselines, and whether arguments support sentences and sentences arguments.

    Raises:
        InputError: A text does not fit the tagger.
    """
    example = case.annotated.example
    found, tagged, words = Baselines.of(example, encoders), tagger(example), words_read(example)
    uses_by = {SUPPORT: tagged.support, RELEVANCE: tagged.relevance}
    said = {SHOWN[name]: _of_use(words, use) for name, use in uses_by.items()}
    said |= found.of_words(words)
    given, response = word_scores(case.annotated, words, errors=said, embedded=found.embedded)
    return case.result(
        detectors=dict(found.detectors)
        | {way: score for name, use in uses_by.items() for way, score in use.by_pool(name).items()},
        given=given,
        response=response,
    )


async def by_ablation(case: Case, weigh: Weigh, encoders: Encoders | None = None) -> NpovResult:
    """Baselines, and what the response loses where an argument is left out.

    Beside either pool of sentences, words are averaged as the paper averages their salience.

    Raises:
        InputError: The response has no content word.
        RequestError, ServingError: The model cannot be asked.
    """
    example = case.annotated.example
    left_out = await ablation(example, weigh)
    found = Baselines.of(example, encoders)
    words = Words(words_read(example).given, left_out.words)
    said = found.of_words(words) | {
        SHOWN[ABLATION]: WordErrors(
            of_words(words.given, 1 - uses(left_out.by_sentence.says)),
            1 - groundings(left_out.by_word.rests),
        )
    }
    given, response = word_scores(case.annotated, words, errors=said, embedded=found.embedded)
    return case.result(
        detectors={
            **found.detectors,
            **left_out.by_sentence.by_pool(ABLATION),
            f"{ABLATION}, words": left_out.by_word.errors("mean"),
        },
        given=given,
        response=response,
    )


def by_salience(
    case: Case,
    decoder: Decoder,
    settings: SalienceSettings,
    encoders: Encoders | None = None,
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
    baselines = Baselines.of(example, encoders)
    detectors = dict(baselines.detectors)
    for aggregation in AGGREGATIONS:
        checked = check(example, found, settings.model_copy(update={"aggregation": aggregation}))
        detectors[salience_detector(aggregation)] = ErrorScores(
            hallucination=checked.hallucination_error, coverage=checked.coverage_error
        )
    words = Words(found.given, found.response)
    said = baselines.of_words(words)
    given, response = word_scores(
        case.annotated,
        words,
        WordErrors(1 - contributions(found.values), 1 - attributions(found.values)),
        said,
        baselines.embedded,
    )
    return case.result(
        detectors=detectors,
        given=given,
        response=response,
    )


def by_classifier(
    case: Case,
    decoder: Decoder,
    prompts: Mapping[ErrorKind, SoftPrompt | None],
    model: str,
    encoders: Encoders | None = None,
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
    found = Baselines.of(example, encoders)
    return case.result(detectors={**found.detectors, CLASSIFIER: ErrorScores(**scores)})
