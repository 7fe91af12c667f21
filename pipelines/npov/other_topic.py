"""The arguments of another topic in the place of an example's own.

What a word of the response takes from arguments that have nothing to do with it, it takes from any.
"""

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.changes import given_instead
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.synthesis import arguments_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def with_other_arguments(example: NpovExample, topics: Sequence[Topic], seed: int) -> NpovExample:
    """The same question and response to as many arguments of another of the topics.

    Topic and arguments are drawn; the seed and the example's response decide, so that an example
    and those made from it, which have the same response, stand beside the same topic. A side that
    the other topic has too few arguments for has those that there are.

    Raises:
        InputError: There is no other topic.
    """
    others = [each for each in topics if each.question != example.question]
    if not others:
        raise InputError("--less-other-topic needs two topics; give more with --data or --split")
    draw = Random(f"{seed} {example.response}")  # noqa: S311 - nothing is kept secret
    every = arguments_of(draw.choice(others))
    drawn = {side: draw.sample(every[side], len(every[side])) for side in SIDES}
    return given_instead(
        example, {side: drawn[side][: len(example.arguments(side))] for side in SIDES}
    )


def less_other_topic(
    words: "NDArray[np.floating]", other: "NDArray[np.floating]"
) -> "NDArray[np.floating]":
    """M_words less what each word of the response takes from another topic's arguments.

    Both are maps of `salience.maps.word_salience`, (rows, columns), the other with rows of its own
    and the same columns. From a column is taken the largest that it has there. In [-1, 1].
    """
    less: NDArray[np.floating] = words - other.max(axis=0, initial=0)
    return less
