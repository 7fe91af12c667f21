"""The page of one response, and its map as a picture."""

from collections.abc import Iterable, Sequence

import numpy as np

from pipelines.npov.check import AblationErrors, ResponseErrors, TextErrors
from pipelines.report import explorer, glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import ExperimentView
from pipelines.report.heatmap import heatmap, picture
from pipelines.report.texts import Block, Heading, Note, Word, Words
from salience.heatmap import png as drawn
from salience.maps import WordMap

NAME = "npov"
CHECKED = "Is the response faithful?"
"""Title of the page of one response."""

THRESHOLD = 0.99
"""Error from which arguments and sentences are marked: in the geometric mean their words have less
than a hundredth of a response word's salience."""

LOSES_NOTHING = 1.0
"""Error by ablation from which they are marked: no sentence loses anything without the argument, or
the sentence loses nothing without any argument."""

NATS = (
    "Nats are the log-probability that words of a sentence lose on average without an argument. A "
    "sentence has those of the argument that it rests on most, an argument those of the sentence "
    "that rests on it most; an error is 1 less the least."
)
"""An explanation of scores by ablation, for readers."""


def response_view(
    checked: ResponseErrors,
    shown: WordMap,
    png: bytes | None,
    *,
    marks: bool = True,
) -> ExperimentView:
    """Arguments and response side by side, words shaded, omissions and additions marked.

    The scores (`checked`) come from the map that is `shown`. The threshold of the `marks` is for
    the paper's aggregation, the maximum. `png` is the map as a picture.
    """
    blocks: tuple[Block, ...] = (
        Heading(checked.question),
        Facts(
            (
                fact("Coverage error", f"{checked.coverage_error:.3f}"),
                fact("Hallucination error", f"{checked.hallucination_error:.3f}"),
            )
        ),
        heatmap(
            _texts(checked.arguments),
            _texts(checked.sentences),
            shown.values,
            left_out="left out?" if marks else "",
            added="added?" if marks else "",
            limit=1 - THRESHOLD,
        ),
        *picture(png),
    )
    return explorer.single(NAME, CHECKED, blocks)


def ablation_view(checked: AblationErrors, models: Sequence[glance.ModelUsed]) -> ExperimentView:
    """Arguments and response side by side, words shaded by the loss without an argument.

    Arguments whose absence costs nothing, and sentences that lose nothing, are marked.
    """
    blocks: tuple[Block, ...] = (
        Heading(checked.question),
        Facts(
            (
                fact(
                    "Coverage error",
                    f"{checked.coverage_error:.3f}",
                    f"least used: “{checked.least_used.text}”",
                ),
                fact(
                    "Hallucination error",
                    f"{checked.hallucination_error:.3f}",
                    f"least grounded: “{checked.least_grounded.text}”",
                ),
            )
        ),
        Note(NATS),
        heatmap(
            _texts(checked.arguments),
            _texts(checked.sentences),
            np.array(checked.drops),
            left_out="left out?",
            added="added?",
            limit=1 - LOSES_NOTHING,
            nats=_nats(checked),
        ),
        *picture(ablation_picture(checked), "the more of the word is lost without the argument"),
    )
    return explorer.single(NAME, CHECKED, blocks, models)


def ablation_picture(checked: AblationErrors) -> bytes:
    """Loss of the response's words (across) without each argument (down), as a PNG."""
    return drawn(
        np.array(checked.drops),
        [f"{each.side}: {each.text}" for each in checked.arguments],
        [word.text for each in checked.sentences for word in each.words],
        checked.question,
        _nats(checked),
    )


def _nats(checked: AblationErrors) -> float:
    """The darkest value: the largest loss, but at least one nat, which is little."""
    return max(1.0, *map(max, checked.drops))


def _texts(checked: Iterable[TextErrors]) -> tuple[Words, ...]:
    """Arguments or sentences with their words, sides and scores, which are 1 less the errors."""
    return tuple(
        Words(
            each.text,
            tuple(Word(word.start, word.end, 1 - word.error) for word in each.words),
            each.side or "",
            None if each.error is None else 1 - each.error,
        )
        for each in checked
    )
