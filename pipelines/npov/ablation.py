"""What a response loses where an argument is left out of its prompt.

A model writes a word the more easily, the more of it an argument says. So the argument that a word
rests on is the one without which its log-probability falls most (leave-one-out; Li, Monroe and
Jurafsky 2016, "Understanding Neural Networks through Representation Erasure", erase words so). It
takes forward passes alone, one more than there are arguments, and so any model that is served.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nli.sentences import sentences
from pipelines.errors import InputError
from pipelines.npov.changes import given_instead
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.prompt import as_read, npov_prompt
from pipelines.npov.use import Use, Values, by_part
from salience.words import Word, content_words
from serving.calls import Likelihood

Weigh = Callable[[str, str], Awaitable[Likelihood]]
"""(prompt, response) -> how likely the response is after the prompt, token by token."""


@dataclass(frozen=True)
class Ablation:
    """What the words of a response lose by each argument, and what its sentences do on average.

    `words` are those of each sentence; their places are those of `npov_prompt` and the response.
    """

    words: tuple[tuple[Word, ...], ...]
    by_word: Use
    by_sentence: Use


def without_each(example: NpovExample) -> list[NpovExample]:
    """The example once for each of its arguments, left out; the pro side's first.

    A side whose only argument is left out stays in the prompt, empty.
    """
    return [
        given_instead(example, {each: example.arguments(each) for each in SIDES} | {side: rest})
        for side in SIDES
        for rest in _all_but_one(example.arguments(side))
    ]


def _all_but_one(arguments: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [arguments[:place] + arguments[place + 1 :] for place in range(len(arguments))]


def log_probability_drops(
    whole: NDArray[np.floating], without: NDArray[np.floating], words: Sequence[Word]
) -> Values:
    """Log p(word | all arguments) - log p(word | all but one): (arguments, words), in nats.

    `whole` is the log-probability of each token of the response, (n,), and `without` where each of
    the arguments is left out, (arguments, n). A word's is the sum over its tokens. Drops are
    negative where a word becomes likelier without the argument.
    """
    drops = whole[None] - without
    columns = [drops[:, list(word.tokens)].sum(axis=1) for word in words]
    return np.stack(columns, axis=1) if columns else drops[:, :0]


async def ablation(example: NpovExample, weigh: Weigh) -> Ablation:
    """Leave out each argument in turn, and see what it costs the response.

    Raises:
        InputError: The response has no content word.
    """
    response = as_read(example.response)
    asked = [npov_prompt(each).text for each in (example, *without_each(example))]
    found = await asyncio.gather(*(weigh(prompt, response) for prompt in asked))
    words = tuple(
        tuple(content_words(response, found[0].offsets, (span.start, span.end)))
        for span in sentences(response)
    )
    if not any(words):
        raise InputError(
            "the response holds no word but function words, so there is nothing to check; give "
            "content"
        )
    whole, *without = (np.array(each.logprobs) for each in found)
    flat = [word for own in words for word in own]
    drops = log_probability_drops(whole, np.stack(without), flat)
    base = len(asked[0])
    return Ablation(
        tuple(
            tuple(replace(word, start=base + word.start, end=base + word.end) for word in own)
            for own in words
        ),
        Use.of(example, drops),
        Use.of(example, by_part(drops, [len(own) for own in words])),
    )
