"""Detectors: their scores for one example and its words, with or without a language model."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nli.sentences import sentences
from pipelines.errors import InputError
from pipelines.judge.run_judge import model_of, tagger_of
from pipelines.judge.tagger import TaggerFolder
from pipelines.npov.check import Weigh, ablation, argument_map, check
from pipelines.npov.classifier import error_score
from pipelines.npov.decoder import DecoderFolder
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
    SALIENCE,
    SUPPORT,
    UNEQUAL,
    Case,
    ErrorScores,
    NpovResult,
    WordScore,
    salience_detector,
)
from pipelines.npov.similarity import (
    BertScore,
    Embedded,
    SentenceEmbeddings,
    Use,
    groundings,
    once_loaded,
    rouge_errors,
    uses,
    word_errors,
)
from pipelines.npov.soft_prompt import SoftPrompt, Task
from pipelines.retrieval.dense import Embedder
from pipelines.text.words import stem, stems
from salience.maps import attributions, contributions
from salience.variants import Aggregation, Measure
from salience.words import Word, word_pattern
from serving.client import Client

AGGREGATIONS: tuple[Aggregation, ...] = ("max", "sum", "negative_entropy")


class WordErrors(NamedTuple):
    """A detector's errors for words of the arguments, and of the response: (words,) each.

    NaN for words that the detector does not know.
    """

    given: NDArray[np.floating]
    response: NDArray[np.floating]


@dataclass(frozen=True)
class Found:
    """A detector's scores for an example.

    Attributes:
        scores: Scores by variant.
        words: Content words of the example; None if the detector does not score words.
        errors: Errors of these words, by variant.
    """

    scores: Mapping[str, ErrorScores]
    words: Words | None = None
    errors: Mapping[str, WordErrors] | None = None


class Encoders:
    """The detectors that share an encoder: BERTScore, and embeddings of whole sentences."""

    def __init__(self, encoder: Embedder) -> None:
        self.bert_score = BertScore(encoder)
        self.sentences = SentenceEmbeddings(encoder)


def result(case: Case, found: Found, encoders: Encoders | None = None) -> NpovResult:
    """A detector's scores with those of the baselines; without encoders there are fewer baselines.

    Raises:
        InputError: An annotation lies outside its text.
    """
    annotated, example = case.annotated, case.annotated.example
    scores = {
        LENGTH: length_errors(example),
        COUNT: count_errors(example),
        UNEQUAL: side_errors(example),
        ROUGE: rouge_errors(example),
    }
    words = found.words
    errors = {} if words is None else {ROUGE: rouge_of_words(example, words)}
    if encoders is not None:
        embedded, sentence_use = encoders.bert_score(example), encoders.sentences(example)
        scores |= {BERT_SCORE: embedded.errors, EMBEDDINGS: sentence_use.errors("least")}
        if words is not None:
            errors[BERT_SCORE] = bert_score_of_words(example, words, embedded)
            errors[EMBEDDINGS] = use_of_words(words, sentence_use)
    scores |= found.scores
    if words is None:
        return case.result(detectors=scores)
    given, response = word_scores(annotated, words, errors | dict(found.errors or {}))
    return case.result(detectors=scores, given=given, response=response)


def length_errors(example: NpovExample) -> ErrorScores:
    """Longer responses more likely add something, shorter ones more likely omit something.

    Scores are the number of words, of any kind, and its negative.
    """
    words = sum(1 for _ in word_pattern().finditer(example.response))
    return ErrorScores(hallucination=words, coverage=-words)


def count_errors(example: NpovExample) -> ErrorScores:
    """Sentences of the response minus given arguments: above 0 it may add, below 0 leave out.

    A template gives each argument its own sentence; an abbreviation may count as a sentence end.
    """
    surplus = len(sentences(example.response)) - len(example.places)
    return ErrorScores(hallucination=surplus, coverage=-surplus)


def side_errors(example: NpovExample) -> ErrorScores:
    """How many more arguments one side has than the other, as the score of both errors.

    The paper's responses have equally many on both sides (NPOV, footnote 3), so an error put into
    the given arguments makes the sides unequal.
    """
    pro, con = (len(example.arguments(side)) for side in SIDES)
    return ErrorScores(hallucination=abs(pro - con), coverage=abs(pro - con))


def word_scores(
    annotated: AnnotatedExample, words: Words, errors: Mapping[str, WordErrors]
) -> tuple[tuple[WordScore, ...] | None, tuple[WordScore, ...] | None]:
    """Content words of arguments and response, with their labels and scores.

    Their places are in `npov_prompt` plus the response. A word is wrong if one of its characters is
    (NPOV, section 5.3). Either part is None if its words are not annotated.

    Raises:
        InputError: An annotation lies outside its text.
    """
    prompt = npov_prompt(annotated.example)
    spans, base = prompt.spans, len(prompt.text)
    given = response = None
    if annotated.uncovered is not None:
        wrong = []
        for part in annotated.uncovered:
            if part.argument >= len(spans[part.side]):
                raise InputError(
                    f"'{annotated.id}': there is no {part.side} argument {part.argument}"
                )
            start = spans[part.side][part.argument][0]
            wrong.append((start + part.span[0], start + part.span[1]))
        by_name = {name: detected.given for name, detected in errors.items()}
        given = _scored(words.given, wrong, by_name)
    if annotated.hallucinated is not None:
        wrong = [(base + start, base + end) for start, end in annotated.hallucinated]
        by_name = {name: detected.response for name, detected in errors.items()}
        response = _scored(words.response, wrong, by_name)
    return given, response


def _scored(
    texts: Sequence[Sequence[Word]],
    wrong: Sequence[Span],
    errors: Mapping[str, NDArray[np.floating]],
) -> tuple[WordScore, ...]:
    return tuple(
        WordScore(
            wrong=any(start < word.end and word.start < end for start, end in wrong),
            errors={
                name: float(values[place])
                for name, values in errors.items()
                if not np.isnan(values[place])
            },
        )
        for place, word in enumerate(word for words in texts for word in words)
    )


def rouge_of_words(example: NpovExample, words: Words) -> WordErrors:
    """1 for words of arguments whose stem the response lacks, and vice versa; else 0."""
    in_response = set(stems(example.response))
    in_arguments = {
        stem for side in SIDES for argument in example.arguments(side) for stem in stems(argument)
    }

    def lacking(texts: Sequence[Sequence[Word]], other: set[str]) -> NDArray[np.floating]:
        return np.array([stem(word.text) not in other for text in texts for word in text], float)

    return WordErrors(lacking(words.given, in_response), lacking(words.response, in_arguments))


def bert_score_of_words(example: NpovExample, words: Words, embedded: Embedded) -> WordErrors:
    """1 - the cosine with the most similar token of the other part; NaN if the encoder has none."""
    prompt = npov_prompt(example)
    starts = [start for side in SIDES for start, _ in prompt.spans[side]]
    texts = [text for side in embedded.given for text in side]
    known: dict[int, float] = {}
    for start, text in zip(starts, texts, strict=True):
        for word, error in zip(text, word_errors(text, embedded.response), strict=True):
            known[start + word.start] = error
    given = [word for text in texts for word in text]
    for word, error in zip(embedded.response, word_errors(embedded.response, given), strict=True):
        known[len(prompt.text) + word.start] = error

    def errors_of(side: Sequence[Sequence[Word]]) -> NDArray[np.floating]:
        return np.array([known.get(word.start, np.nan) for text in side for word in text], float)

    return WordErrors(errors_of(words.given), errors_of(words.response))


def use_of_words(words: Words, use: Use) -> WordErrors:
    """Gives every word the error of its argument or sentence."""
    return WordErrors(
        _repeated(words.given, 1 - uses(use.says)),
        _repeated(words.response, 1 - groundings(use.rests)),
    )


def _repeated(
    texts: Sequence[Sequence[Word]], errors: NDArray[np.floating]
) -> NDArray[np.floating]:
    return np.repeat(errors, [len(words) for words in texts])


class Run(NamedTuple):
    """A detector as a run. Models are loaded at the first unfinished example.

    Attributes:
        name: Name of the run unless the user gives one.
        config: Everything except the examples that decides results, for `run.json`.
        find: Scores an example.
        side_by_side: Examples at a time; 1 if one takes the whole machine.
    """

    name: str
    config: Mapping[str, Any]
    find: Callable[[NpovExample], Awaitable[Found]]
    side_by_side: int = 1


def baselines(about: Mapping[str, Any]) -> Run:
    """Only the detectors that need no language model; `about` describes the encoder."""

    async def find(_: NpovExample) -> Found:
        return Found({})

    return Run("baselines", {"model": about}, find)


def by_tagger(folder: TaggerFolder) -> Run:
    """Whether the NLI tagger finds that arguments support sentences, and sentences arguments.

    InputError if a text does not fit the tagger.
    """
    loaded = once_loaded(folder)

    async def find(example: NpovExample) -> Found:
        (support, relevance), words = loaded()(example), words_read(example)
        return Found(
            {SUPPORT: support.errors("mean"), RELEVANCE: relevance.errors("least")},
            words,
            {SUPPORT: use_of_words(words, support), RELEVANCE: use_of_words(words, relevance)},
        )

    return Run(folder.name, {"model": tagger_of(folder)}, find)


SIDE_BY_SIDE: Final = 16
"""Examples that a server is asked about at a time."""


def by_ablation(client: Client) -> Run:
    """The response's loss without each argument, measured by a server."""

    async def find(example: NpovExample) -> Found:
        return await ablated(example, client.log_probabilities)

    name = f"{client.model.name}-ablation"
    return Run(name, {"model": model_of(client)}, find, SIDE_BY_SIDE)


async def ablated(example: NpovExample, weigh: Weigh) -> Found:
    """Scores by the response's loss without each argument.

    Raises:
        InputError: The response has no content word.
        RequestError, ServingError: The model cannot be asked.
    """
    left_out = await ablation(example, weigh)
    words = Words(words_read(example).given, left_out.words)
    errors = WordErrors(
        _repeated(words.given, 1 - uses(left_out.by_sentence.says)),
        1 - groundings(left_out.by_word.rests),
    )
    return Found({ABLATION: left_out.by_sentence.errors("least")}, words, {ABLATION: errors})


def by_salience(folder: DecoderFolder, measure: Measure, soft: SoftPrompt | None) -> Run:
    """Salience under every aggregation, by gradients of the decoder.

    With a soft prompt, it is the salience of the response generator that was tuned. Errors are
    those of `argument_map`.
    """
    decoder = cache(folder.load)

    async def find(example: NpovExample) -> Found:
        found = argument_map(example, decoder(), measure, soft_prompt=soft)
        scores = {}
        for aggregation in AGGREGATIONS:
            checked = check(example, found, aggregation)
            scores[salience_detector(aggregation)] = ErrorScores(
                hallucination=checked.hallucination_error, coverage=checked.coverage_error
            )
        errors = WordErrors(1 - contributions(found.values), 1 - attributions(found.values))
        return Found(scores, Words(found.given, found.response), {SALIENCE: errors})

    name = f"{folder.model.name}-soft-prompt" if soft else folder.model.name
    return Run(name, {"model": _described(folder), "measure": measure}, find)


def by_classifier(folder: DecoderFolder, prompts: Mapping[Task, SoftPrompt]) -> Run:
    """Verdicts by the decoder, with a soft prompt for each error or without (NPOV, section 3.3)."""
    decoder = cache(folder.load)

    async def find(example: NpovExample) -> Found:
        scores = {kind: error_score(decoder(), example, kind, prompts.get(kind)) for kind in KINDS}
        return Found({CLASSIFIER: ErrorScores(**scores)})

    return Run(f"{folder.model.name}-classifier", {"model": _described(folder)}, find)


def _described(folder: DecoderFolder) -> dict[str, Any]:
    known = folder.model
    return {"name": known.name, "digest": known.digest, "engine": folder.engine}
