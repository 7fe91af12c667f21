"""Hallucination and coverage errors of one response, down to words: by salience or ablation."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from nli.sentences import sentences
from pipelines.errors import InputError
from pipelines.npov.example import (
    SIDES,
    NpovExample,
    Side,
    Span,
    argument_spans,
    as_read,
    npov_prompt,
)
from pipelines.npov.similarity import Use, Values, by_part, groundings, uses
from pipelines.npov.soft_prompt import SoftPrompt
from salience.decoder import Decoder, Encoded
from salience.gradients import Progress
from salience.maps import (
    WordMap,
    attributions,
    average,
    contributions,
    coverage_error,
    hallucination_error,
    response_tokens,
    word_map,
    words_of,
)
from salience.variants import Aggregation, Measure
from salience.words import Word, content_words
from serving.calls import Likelihood

Weigh = Callable[[str, str], Awaitable[Likelihood]]
"""(prompt, response) -> how likely the response is after the prompt, token by token."""


@dataclass(frozen=True)
class Ablation:
    """The log-probability that a response's words lose without each argument, and sentence means.

    `words` are the words of each sentence, at their places in `npov_prompt` plus the response.
    """

    words: tuple[tuple[Word, ...], ...]
    by_word: Use
    by_sentence: Use


def without_each(example: NpovExample) -> list[NpovExample]:
    """The example with one argument left out, for each argument in turn, the pro side's first.

    A side whose only argument is left out stays in the prompt, empty.
    """
    examples = []
    for side, place in example.places:
        arguments = example.arguments(side)
        rest = arguments[:place] + arguments[place + 1 :]
        examples.append(example.model_copy(update={side: rest}))
    return examples


def log_probability_drops(
    whole: NDArray[np.floating], without: NDArray[np.floating], words: Sequence[Word]
) -> Values:
    """Log p(word | all arguments) - log p(word | all but one): (arguments, words), in nats.

    `whole` is the log-probability of each token of the response, (n,); `without` is the same with
    one argument left out, (arguments, n). A word's drop is the sum over its tokens. Drops are
    negative where a word becomes likelier without the argument.
    """
    drops = whole[None] - without
    columns = [drops[:, list(word.tokens)].sum(axis=1) for word in words]
    return np.stack(columns, axis=1) if columns else drops[:, :0]


async def ablation(example: NpovExample, weigh: Weigh) -> Ablation:
    """Leave out each argument in turn, and measure its effect on the response.

    Raises:
        InputError: The response has no content word.
    """
    response = as_read(example.response)
    asked = [npov_prompt(variant).text for variant in (example, *without_each(example))]
    readings = await asyncio.gather(*(weigh(prompt, response) for prompt in asked))
    words = tuple(
        tuple(content_words(response, readings[0].offsets, (span.start, span.end)))
        for span in sentences(response)
    )
    if not any(words):
        raise InputError(
            "the response has no content words, so there is nothing to check; add some"
        )
    whole, *without = (np.array(reading.logprobs) for reading in readings)
    flat = [word for sentence in words for word in sentence]
    drops = log_probability_drops(whole, np.stack(without), flat)
    base = len(asked[0])
    return Ablation(
        tuple(
            tuple(replace(word, start=base + word.start, end=base + word.end) for word in sentence)
            for sentence in words
        ),
        Use.of(example, drops),
        Use.of(example, by_part(drops, [len(sentence) for sentence in words])),
    )


class WordError(BaseModel, frozen=True):
    """A content word, its span in its argument or sentence, and how likely it is an error.

    By salience the error is 1 - alpha for a word of an argument, 1 - beta for one of the response.
    By ablation, where an argument is left out whole and counts as one word, it is 1 - nats: see
    `AblationErrors`.
    """

    text: str
    start: int
    end: int
    error: float


class TextErrors(BaseModel, frozen=True):
    """An argument, or if side is None a sentence of the response, as the model read it.

    By salience the error is 1 - the average of its content words' scores, by ablation 1 - nats.
    None without a content word.
    """

    side: Side | None
    text: str
    words: tuple[WordError, ...]
    error: float | None


class ResponseErrors(BaseModel, frozen=True):
    """A checked response.

    Attributes:
        coverage_error: s_cov; higher if an argument was more likely left out.
        hallucination_error: s_hall; higher if something was more likely added.
        arguments: Arguments of the pro side, then those of the con side.
        sentences: Sentences of the response.
    """

    question: str
    coverage_error: float
    hallucination_error: float
    arguments: tuple[TextErrors, ...]
    sentences: tuple[TextErrors, ...]

    @property
    def least_used(self) -> TextErrors:
        """The argument that the response uses least."""
        return _worst(self.arguments)

    @property
    def least_grounded(self) -> TextErrors:
        """The sentence that rests least on any argument."""
        return _worst(self.sentences)


class AblationErrors(ResponseErrors, frozen=True):
    """A response, checked by leaving out each argument in turn.

    An error is 1 - the nats of log-probability that are lost: 1 if none are, and higher if the
    response becomes likelier. The loss of a word or sentence is that without the argument it rests
    on most; the loss of an argument is that of the sentence that rests on it most. A sentence's
    loss is the mean over its content words.

    Attributes:
        drops: `log_probability_drops` of the arguments (rows) and the response's content words.
    """

    drops: tuple[tuple[float, ...], ...]


def _worst(texts: Sequence[TextErrors]) -> TextErrors:
    return max(texts, key=lambda text: -math.inf if text.error is None else text.error)


def argument_map(
    example: NpovExample,
    decoder: Decoder,
    measure: Measure = "input_x_gradient",
    on_progress: Progress = lambda *_: None,
    *,
    soft_prompt: SoftPrompt | None = None,
) -> WordMap:
    """Salience from the words of the arguments to those of the response (NPOV, section 3.2).

    The paper takes the gradients of the model that wrote the response, with its `soft_prompt`.
    Salience on the soft prompt is left out before columns are divided by their sums: the paper's
    map has only rows for tokens of the input and of the response. Gradients are taken only for the
    response's content words, which about halves the time; `on_progress` receives how many of their
    tokens are done.

    Raises:
        InputError: A perspective or the response has no content word, or the soft prompt is for
            another task or width.
        SalienceError: They do not fit the model, or into memory.
    """
    prompt = npov_prompt(example)
    vectors = None
    if soft_prompt is not None:
        soft_prompt.check("response", width=decoder.width)
        vectors = soft_prompt.vectors
    reserved = 0 if vectors is None else len(vectors)
    encoded = decoder.encode(prompt.text, as_read(example.response), reserved=reserved)
    pro, con = (words_of(encoded, prompt.spans[side]) for side in SIDES)
    response = words_of(encoded, sentence_spans(encoded))
    sides = zip(SIDES, (pro, con), strict=True)
    given = [(f"{side} arguments have", words) for side, words in sides if words]
    for texts_have, words in (*given, ("response has", response)):
        if not any(words):
            raise InputError(
                f"the {texts_have} no content words, so there is nothing to check; add some"
            )
    salience = decoder.salience(
        encoded,
        measure=measure,
        columns=response_tokens(encoded, response),
        prefix=vectors,
        on_progress=on_progress,
    )
    return word_map(encoded, salience, pro + con, response)


def check(example: NpovExample, found: WordMap, aggregation: Aggregation = "max") -> ResponseErrors:
    """Scores of words, arguments, sentences and the whole response (NPOV, appendix C).

    `found` is the example's `argument_map`. The paper scores words and responses. Here arguments
    are also scored, like perspectives, and sentences, like responses, to show which of them cause
    the error.
    """
    alpha = contributions(found.values, aggregation)
    beta = attributions(found.values, aggregation)
    sides = [side for side, _ in example.places]
    by_argument = _split(alpha, found.given)
    count = len(example.pro)
    perspectives = [
        np.concatenate(perspective)
        for perspective in (by_argument[:count], by_argument[count:])
        if perspective
    ]
    coverage = coverage_error(perspectives)
    hallucination = hallucination_error(beta)
    # `argument_map` refuses texts without words.
    assert coverage is not None and hallucination is not None  # noqa: S101

    def checked(
        side: Side | None, span: Span, words: Sequence[Word], scores: NDArray[np.floating]
    ) -> TextErrors:
        start, end = span
        return TextErrors(
            side=side,
            text=found.encoded.text[start:end],
            words=_word_errors(words, scores, start),
            error=1 - average(scores) if len(scores) else None,
        )

    arguments = argument_spans(npov_prompt(example))
    spans = sentence_spans(found.encoded)
    by_sentence = _split(beta, found.response)
    return ResponseErrors(
        question=example.question,
        coverage_error=coverage,
        hallucination_error=hallucination,
        arguments=tuple(map(checked, sides, arguments, found.given, by_argument)),
        sentences=tuple(map(checked, [None] * len(spans), spans, found.response, by_sentence)),
    )


def ablation_errors(example: NpovExample, found: Ablation) -> AblationErrors:
    """Scores of arguments, words, sentences and the whole response, from the example's ablation."""
    errors = found.by_sentence.errors("least")
    # `ablation` refuses texts without words, and an example has arguments.
    assert errors.coverage is not None and errors.hallucination is not None  # noqa: S101
    prompt, response = npov_prompt(example), as_read(example.response)
    word_scores = _split(groundings(found.by_word.rests), found.words)
    sentence_scores = map(float, groundings(found.by_sentence.rests))

    def argument(side: Side, span: Span, use: float) -> TextErrors:
        text = prompt.text[slice(*span)]
        whole = WordError(text=text, start=0, end=len(text), error=1 - use)
        return TextErrors(side=side, text=text, words=(whole,), error=whole.error)

    def sentence(span: Span, words: Sequence[Word], scores: NDArray[np.floating]) -> TextErrors:
        return TextErrors(
            side=None,
            text=response[slice(*span)],
            words=_word_errors(words, scores, len(prompt.text) + span[0]),
            error=1 - next(sentence_scores) if words else None,
        )

    used = map(float, uses(found.by_sentence.says))
    spans = [(span.start, span.end) for span in sentences(response)]
    return AblationErrors(
        question=example.question,
        coverage_error=errors.coverage,
        hallucination_error=errors.hallucination,
        arguments=tuple(map(argument, found.by_sentence.sides, argument_spans(prompt), used)),
        sentences=tuple(map(sentence, spans, found.words, word_scores)),
        drops=tuple(map(tuple, found.by_word.rests.tolist())),
    )


def _word_errors(
    words: Sequence[Word], scores: Iterable[float], start: int
) -> tuple[WordError, ...]:
    """Errors of words, from their scores in the same order; their text begins at `start`."""
    return tuple(
        WordError(
            text=word.text, start=word.start - start, end=word.end - start, error=1 - float(score)
        )
        for word, score in zip(words, scores, strict=True)
    )


def sentence_spans(encoded: Encoded) -> list[Span]:
    """Spans of the response's sentences in prompt and response."""
    base = len(encoded.prompt)
    return [(base + span.start, base + span.end) for span in sentences(encoded.response)]


def _split(
    scores: NDArray[np.floating], words: Sequence[Sequence[Word]]
) -> list[NDArray[np.floating]]:
    """Scores of all words, text by text."""
    return np.split(scores, np.cumsum([len(text) for text in words])[:-1])
